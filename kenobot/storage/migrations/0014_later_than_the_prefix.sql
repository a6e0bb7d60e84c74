-- A prompt whose log begins anew keeps its beginning. later: what became known since that was made, and the summary of the
-- messages that are not shown any more. made_event, made_record: last_event and last_record as they were when it was made.
ALTER TABLE prompt_prefix ADD COLUMN later TEXT NOT NULL DEFAULT '';
ALTER TABLE prompt_prefix ADD COLUMN made_event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE prompt_prefix ADD COLUMN made_record INTEGER NOT NULL DEFAULT 0;
