-- What a vector was made of, so that the same words are not placed twice. A record that says something else has none
-- until it is placed anew; what is erased takes its vectors along.
ALTER TABLE vector ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
CREATE INDEX vector_content ON vector (hash, model) WHERE hash != x'';
CREATE TRIGGER vector_outdated AFTER UPDATE OF text ON record WHEN new.text IS NOT old.text
BEGIN
  DELETE FROM vector WHERE record_id = new.id;
END;
