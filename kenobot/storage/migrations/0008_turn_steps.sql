-- What a turn under way has paid for or changed outside, step by step, so that a restart repeats none of it. The steps
-- go when the turn ends: the conversation has the reply then, and `turn` what it cost.
CREATE TABLE turn_step (
  inbox_id INTEGER NOT NULL,
  number   INTEGER NOT NULL,
  kind     TEXT NOT NULL CHECK (kind IN ('reply', 'call', 'result')),
  payload  TEXT NOT NULL,
  at       TEXT NOT NULL,
  PRIMARY KEY (inbox_id, number)
) WITHOUT ROWID;

INSERT INTO turn_step
SELECT inbox_id, 0, 'reply', json_object('text', reply, 'stop_reason', stop_reason, 'model', model, 'usage',
  json_object('input_tokens', input_tokens, 'output_tokens', output_tokens, 'cache_read_tokens', cache_read_tokens,
              'cache_write_tokens', cache_write_tokens), 'calls', json('[]')), replied_at
FROM turn WHERE state = 'replied';
DELETE FROM turn WHERE state = 'replied';
ALTER TABLE turn DROP COLUMN state;
ALTER TABLE turn DROP COLUMN reply;

-- A question that a person has to answer before something is done. At most one is open in a session.
CREATE TABLE approval (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  account TEXT NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL,
  expires TEXT NOT NULL,
  state   TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'approved', 'denied', 'replaced'))
);
CREATE UNIQUE INDEX approval_open ON approval (session) WHERE state = 'open';
CREATE INDEX approval_expires ON approval (expires);
INSERT INTO approval (session, account, kind, payload, expires)
SELECT substr(key, 10), json_extract(value, '$.user'), 'forget',
  json_object('records', json_extract(value, '$.records'), 'after', json_extract(value, '$.after'),
              'language', json_extract(value, '$.language'), 'about', json_extract(value, '$.about')),
  json_extract(value, '$.until')
FROM key_value WHERE key LIKE 'question:%' AND json_valid(value) AND json_extract(value, '$.user') IS NOT NULL;
DELETE FROM key_value WHERE key LIKE 'question:%';

-- The platform's own id of what came in, which later answers, edits and reactions name.
ALTER TABLE inbox ADD COLUMN platform_id TEXT NOT NULL DEFAULT '';
