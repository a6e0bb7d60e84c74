-- What has a limit is found by it.

CREATE INDEX inbox_aside ON inbox (state, id) WHERE state IN ('dead', 'dropped');
CREATE INDEX turn_replied ON turn (replied_at);

-- When the owner had a message tried once more: from then on its age counts anew.
ALTER TABLE inbox ADD COLUMN retried_at TEXT;
