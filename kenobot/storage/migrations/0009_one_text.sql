-- A reply stands once, in the conversation: a part that was sent keeps its text in the outbox no longer.
UPDATE outbox SET text = '', spans = '[]', payload = '{}' WHERE state = 'sent';

-- A vector is a long row, and long rows lie badly in the tree of a table without rowids: two to a page, or one.
DROP TRIGGER vector_outdated;
CREATE TABLE vector_new (
  record_id INTEGER NOT NULL REFERENCES record (id),
  model     TEXT NOT NULL,
  embedding BLOB NOT NULL,
  hash      BLOB NOT NULL DEFAULT x'',
  PRIMARY KEY (record_id, model)
);
INSERT INTO vector_new (record_id, model, embedding, hash) SELECT record_id, model, embedding, hash FROM vector;
DROP TABLE vector;
ALTER TABLE vector_new RENAME TO vector;
CREATE INDEX vector_content ON vector (hash, model) WHERE hash != x'';
CREATE TRIGGER vector_outdated AFTER UPDATE OF text ON record WHEN new.text IS NOT old.text
BEGIN
  DELETE FROM vector WHERE record_id = new.id;
END;
