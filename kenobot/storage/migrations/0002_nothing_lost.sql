-- Mail gets one more end (expired) and remembers whether the person was told to be patient; notices of the bot's own
-- leave by the outbox too; people can be let in at run time. A column's constraint can only be changed by a copy.

CREATE TABLE inbox_new (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  channel     TEXT NOT NULL,
  external_id TEXT NOT NULL,
  chat        TEXT NOT NULL,
  session     TEXT NOT NULL,
  sender      TEXT NOT NULL,
  sender_name TEXT NOT NULL DEFAULT '',
  private     INTEGER NOT NULL DEFAULT 1,
  forwarded   INTEGER NOT NULL DEFAULT 0,
  text        TEXT NOT NULL,
  sent_at     TEXT NOT NULL,
  received_at TEXT NOT NULL,
  trace       TEXT NOT NULL,
  state       TEXT NOT NULL DEFAULT 'pending'
              CHECK (state IN ('pending', 'claimed', 'answered', 'failed', 'expired', 'dead', 'dropped')),
  attempts    INTEGER NOT NULL DEFAULT 0,
  apologised  INTEGER NOT NULL DEFAULT 0,
  reason      TEXT NOT NULL DEFAULT '',
  done_at     TEXT,
  UNIQUE (channel, external_id)
);
INSERT INTO inbox_new (id, channel, external_id, chat, session, sender, sender_name, private, forwarded, text, sent_at,
                       received_at, trace, state, attempts, reason, done_at)
SELECT id, channel, external_id, chat, session, sender, sender_name, private, forwarded, text, sent_at,
       received_at, trace, state, attempts, reason, done_at FROM inbox;
DELETE FROM sqlite_sequence WHERE name = 'inbox_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'inbox_new', seq FROM sqlite_sequence WHERE name = 'inbox';
DROP TABLE inbox;
ALTER TABLE inbox_new RENAME TO inbox;
CREATE INDEX inbox_open ON inbox (session, id) WHERE state IN ('pending', 'claimed');
CREATE INDEX inbox_done ON inbox (done_at) WHERE done_at IS NOT NULL;

-- part: 0, 1, 2 … of the answer to that inbox row; -1 asks for patience. inbox_id is NULL for what answers nobody.
CREATE TABLE outbox_new (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  inbox_id    INTEGER,
  part        INTEGER NOT NULL,
  channel     TEXT NOT NULL,
  chat        TEXT NOT NULL,
  text        TEXT NOT NULL,
  spans       TEXT NOT NULL DEFAULT '[]',
  trace       TEXT NOT NULL,
  state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'dead')),
  attempts    INTEGER NOT NULL DEFAULT 0,
  platform_id TEXT NOT NULL DEFAULT '',
  reason      TEXT NOT NULL DEFAULT '',
  created_at  TEXT NOT NULL,
  done_at     TEXT,
  UNIQUE (inbox_id, part)
);
INSERT INTO outbox_new SELECT * FROM outbox;
DELETE FROM sqlite_sequence WHERE name = 'outbox_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'outbox_new', seq FROM sqlite_sequence WHERE name = 'outbox';
DROP TABLE outbox;
ALTER TABLE outbox_new RENAME TO outbox;
CREATE INDEX outbox_open ON outbox (channel, chat, id) WHERE state = 'pending';
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;

-- Whose words a message of the conversation is made of: the trust of its sender, or 'model'.
ALTER TABLE message ADD COLUMN trust TEXT NOT NULL DEFAULT 'owner';
UPDATE message SET trust = 'model' WHERE role = 'assistant';

-- Guests whom the owner let in, beside those in the configuration.
CREATE TABLE person (
  channel TEXT NOT NULL,
  user    TEXT NOT NULL,
  name    TEXT NOT NULL DEFAULT '',
  since   TEXT NOT NULL,
  PRIMARY KEY (channel, user)
) WITHOUT ROWID;

-- Strangers who were given a code, until the owner approves it or it expires. The code itself is not kept.
CREATE TABLE pairing (
  channel  TEXT NOT NULL,
  user     TEXT NOT NULL,
  chat     TEXT NOT NULL,
  name     TEXT NOT NULL DEFAULT '',
  language TEXT NOT NULL,
  salt     BLOB NOT NULL,
  digest   BLOB NOT NULL,
  created  TEXT NOT NULL,
  expires  TEXT NOT NULL,
  PRIMARY KEY (channel, user)
) WITHOUT ROWID;
