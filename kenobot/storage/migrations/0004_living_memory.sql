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

-- Where memory may write what was said in that turn: the scope its speaker wrote to. '' for what is older than this
-- column and cannot be told any more; then only the chat itself may know it.
ALTER TABLE message ADD COLUMN scope TEXT NOT NULL DEFAULT '';
UPDATE message SET scope = 'owner' WHERE trust = 'owner' AND inbox_id IN (SELECT id FROM inbox WHERE private);

-- People call a record by the beginning of its key.
CREATE INDEX record_words ON record (key);
-- The parts of a decision are found by it, and so is what undid it.
CREATE INDEX event_parts ON event (json_extract(data, '$.part_of')) WHERE json_extract(data, '$.part_of') IS NOT NULL;
CREATE INDEX event_undoes ON event (json_extract(data, '$.undoes')) WHERE type = 'undone';

-- What was shown in a chat, so that any reply can be explained later.
CREATE INDEX event_recalled ON event (session, id) WHERE type = 'recalled';
-- How many memories a frame had no room for: then each message is searched for in the rest.
ALTER TABLE frame ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;

-- The talk under way in a scope: the memory it began with, the box it lies in once there is a second one, and what is
-- needed to tell whether the next one goes on with it. topics, latest: those that were named, in all and last, as JSON.
CREATE TABLE stretch (
  scope    TEXT PRIMARY KEY,
  first_id INTEGER NOT NULL,
  box_id   INTEGER,
  topics   TEXT NOT NULL,
  latest   TEXT NOT NULL,
  count    INTEGER NOT NULL,
  last_at  TEXT NOT NULL,
  session  TEXT NOT NULL
) WITHOUT ROWID;

-- Files of the Markdown mirror that show one record each: what was last written to, or read from, which. record_id is
-- NULL for a person's own file. digest: the checksum of what stands there; rest: lines that a person added to its
-- front matter; ends: its line ends; the last three tell that it is still the file that was seen.
CREATE TABLE card (
  folder    TEXT NOT NULL,
  name      TEXT NOT NULL,
  kind      TEXT NOT NULL DEFAULT 'card' CHECK (kind IN ('card', 'artifact')),
  record_id INTEGER,
  digest    TEXT NOT NULL,
  rest      TEXT NOT NULL DEFAULT '',
  ends      TEXT NOT NULL DEFAULT (char(10)),
  mtime     INTEGER NOT NULL,
  size      INTEGER NOT NULL,
  inode     INTEGER NOT NULL,
  PRIMARY KEY (folder, name)
) WITHOUT ROWID;
CREATE UNIQUE INDEX card_record ON card (record_id, kind) WHERE record_id IS NOT NULL;

-- What admit compares a new text with is found by its words: hashes of scope, subject and word, for live notes and
-- episodes. Records that are older than this table are filed little by little.
CREATE TABLE record_term (
  term      INTEGER NOT NULL,
  record_id INTEGER NOT NULL REFERENCES record (id) ON DELETE CASCADE,
  PRIMARY KEY (term, record_id)
) WITHOUT ROWID;
CREATE INDEX record_term_of ON record_term (record_id);
INSERT INTO state (key, value) SELECT 'terms:next', max(id) FROM record HAVING max(id) IS NOT NULL;
