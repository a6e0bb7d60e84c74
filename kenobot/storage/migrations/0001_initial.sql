-- Times are ISO-8601 text in UTC with microseconds, so that they sort as they are.
-- AUTOINCREMENT: rows of other tables refer to the number, so it must not come back when the newest row was pruned.

CREATE TABLE inbox (
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
              CHECK (state IN ('pending', 'claimed', 'answered', 'failed', 'dead', 'dropped')),
  attempts    INTEGER NOT NULL DEFAULT 0,
  reason      TEXT NOT NULL DEFAULT '',
  done_at     TEXT,
  UNIQUE (channel, external_id)
);
CREATE INDEX inbox_open ON inbox (session, id) WHERE state IN ('pending', 'claimed');
CREATE INDEX inbox_done ON inbox (done_at) WHERE done_at IS NOT NULL;

-- A turn is the model's answer to one inbox row. The row appears when the reply is paid for and complete.
CREATE TABLE turn (
  id                 INTEGER PRIMARY KEY,
  inbox_id           INTEGER NOT NULL UNIQUE,
  session            TEXT NOT NULL,
  trace              TEXT NOT NULL,
  state              TEXT NOT NULL CHECK (state IN ('replied', 'committed')),
  reply              TEXT NOT NULL,
  stop_reason        TEXT NOT NULL,
  model              TEXT NOT NULL,
  input_tokens       INTEGER NOT NULL DEFAULT 0,
  output_tokens      INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  grade              TEXT NOT NULL DEFAULT '',
  replied_at         TEXT NOT NULL,
  committed_at       TEXT
);

-- The conversation as people saw it. `context` is what the prompt carried beside a person's message, so that the
-- same bytes can be sent again.
CREATE TABLE message (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  session  TEXT NOT NULL,
  role     TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  text     TEXT NOT NULL,
  context  TEXT NOT NULL DEFAULT '',
  at       TEXT NOT NULL,
  inbox_id INTEGER,
  UNIQUE (inbox_id, role)
);
CREATE INDEX message_session ON message (session, id);

-- The frozen beginning of a session's prompt. `text` is memory as it stood when the frame was made; what came since
-- stands in the contexts of the messages after `made_after`. Events up to `seen` and records up to `known` have been
-- shown; history begins at message `first`.
CREATE TABLE frame (
  session    TEXT PRIMARY KEY,
  scopes     TEXT NOT NULL,
  text       TEXT NOT NULL,
  day        TEXT NOT NULL,
  seen       INTEGER NOT NULL,
  known      INTEGER NOT NULL,
  first      INTEGER NOT NULL,
  made_after INTEGER NOT NULL
);

CREATE TABLE outbox (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  inbox_id    INTEGER NOT NULL,
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
CREATE INDEX outbox_open ON outbox (channel, chat, id) WHERE state = 'pending';
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;

CREATE TABLE signal (
  id      INTEGER PRIMARY KEY,
  at      TEXT NOT NULL,
  name    TEXT NOT NULL,
  source  TEXT NOT NULL,
  trace   TEXT NOT NULL,
  payload TEXT NOT NULL
);
CREATE INDEX signal_trace ON signal (trace);
CREATE INDEX signal_name ON signal (name, id);

-- Memory. Six nouns: event, record, link, and scope, policy, value as columns of a record.
CREATE TABLE event (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  at        TEXT NOT NULL,
  session   TEXT NOT NULL DEFAULT '',
  actor     TEXT NOT NULL,
  type      TEXT NOT NULL,
  record_id INTEGER,
  data      TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX event_record ON event (record_id, id);

CREATE TABLE record (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  form         TEXT NOT NULL,
  category     TEXT NOT NULL DEFAULT 'fact',
  scope        TEXT NOT NULL,
  subject      TEXT NOT NULL DEFAULT 'owner',
  text         TEXT NOT NULL,
  attrs        TEXT NOT NULL DEFAULT '{}',
  tags         TEXT NOT NULL DEFAULT '[]',
  lang         TEXT NOT NULL DEFAULT '',
  source       TEXT NOT NULL,
  trust        TEXT NOT NULL,
  confidence   REAL NOT NULL,
  importance   REAL NOT NULL,
  stability    REAL NOT NULL,
  seen         INTEGER NOT NULL DEFAULT 1,
  uses         INTEGER NOT NULL DEFAULT 0,
  status       TEXT NOT NULL DEFAULT 'active'
               CHECK (status IN ('active', 'superseded', 'expired', 'archived', 'forgotten', 'invalidated')),
  lifecycle    TEXT NOT NULL DEFAULT 'candidate',
  verification TEXT NOT NULL DEFAULT 'unverified',
  policy_class TEXT NOT NULL DEFAULT 'durable',
  tier         TEXT NOT NULL DEFAULT 'daily',
  valid_from   TEXT NOT NULL,
  valid_to     TEXT,
  created      TEXT NOT NULL,
  updated      TEXT NOT NULL,
  last_seen    TEXT NOT NULL,
  last_used    TEXT,
  expires      TEXT,
  day          TEXT NOT NULL,           -- the owner's calendar day of `created`: which daily log it stands in
  key          TEXT NOT NULL,
  evidence     TEXT NOT NULL DEFAULT '[]',
  changed      INTEGER NOT NULL         -- the last event that changed what a prompt shows of it
);
CREATE UNIQUE INDEX record_key ON record (scope, form, key) WHERE status = 'active';
CREATE INDEX record_changed ON record (scope, changed);
CREATE INDEX record_live ON record (scope, form, tier, id) WHERE status = 'active';
CREATE INDEX record_day ON record (scope, day, id) WHERE status = 'active';

CREATE TABLE link (
  src        INTEGER NOT NULL REFERENCES record (id),
  dst        INTEGER NOT NULL REFERENCES record (id),
  type       TEXT NOT NULL CHECK (type IN ('supports', 'contradicts', 'supersedes', 'derived', 'member', 'related',
                                           'entity', 'time', 'causal', 'trace')),
  weight     REAL NOT NULL DEFAULT 1,
  confidence REAL NOT NULL DEFAULT 1,
  seen       INTEGER NOT NULL DEFAULT 1,
  first_at   TEXT NOT NULL,
  last_at    TEXT NOT NULL,
  why        TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (src, dst, type)
) WITHOUT ROWID;
CREATE INDEX link_dst ON link (dst);

CREATE TABLE vector (
  record_id INTEGER NOT NULL REFERENCES record (id),
  model     TEXT NOT NULL,
  embedding BLOB NOT NULL,
  PRIMARY KEY (record_id, model)
) WITHOUT ROWID;

CREATE TABLE state (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- What was last written to, or read from, a file of the Markdown mirror. `blocks` is a JSON list: a string is
-- literal text that a person wrote, a number is the record that stands there.
CREATE TABLE mirror (
  path   TEXT PRIMARY KEY,
  text   TEXT NOT NULL,
  blocks TEXT NOT NULL
) WITHOUT ROWID;
