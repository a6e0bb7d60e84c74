-- What a vector was made of, so that the same words are not placed twice. A record that says something else has none
-- until it is placed anew; what is erased takes its vectors along.
ALTER TABLE vector ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
CREATE INDEX vector_content ON vector (hash, model) WHERE hash != x'';
CREATE TRIGGER vector_outdated AFTER UPDATE OF text ON record WHEN new.text IS NOT old.text
BEGIN
  DELETE FROM vector WHERE record_id = new.id;
END;

-- Words of more scripts are known by their stems and pairs now: what admit compares with is filed anew, little by little.
INSERT INTO state (key, value) SELECT 'terms:next', max(id) FROM record HAVING max(id) IS NOT NULL
ON CONFLICT (key) DO UPDATE SET value = excluded.value;
