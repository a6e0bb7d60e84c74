-- When the person whom a record is about last said that it is so.
ALTER TABLE record ADD COLUMN confirmed TEXT;

CREATE INDEX record_change ON record (changed);
CREATE INDEX record_subject ON record (scope, subject, id) WHERE status = 'active';
CREATE INDEX record_expires ON record (expires) WHERE status = 'active' AND expires IS NOT NULL;
CREATE INDEX event_type ON event (type, id);

-- What a change overwrote stands in the event under `was`, by column, so that it can be put back.
UPDATE event SET data = json_set(data, '$.was', json_object('text', json_extract(data, '$.before')))
WHERE json_extract(data, '$.before') IS NOT NULL;

-- A turn that told us what the owner wants forgotten is not recalled while there is a row for it.
CREATE TABLE veil (
  inbox_id  INTEGER NOT NULL,
  record_id INTEGER NOT NULL,
  PRIMARY KEY (inbox_id, record_id)
) WITHOUT ROWID;

-- What was erased for good leaves only the key of its words, so that it is not learned again from what is old.
CREATE TABLE tombstone (
  scope TEXT NOT NULL,
  key   TEXT NOT NULL,
  at    TEXT NOT NULL,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;

-- Tokens that work besides the conversation has used, by the owner's calendar day.
CREATE TABLE spend (
  day    TEXT NOT NULL,
  job    TEXT NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (day, job)
) WITHOUT ROWID;
