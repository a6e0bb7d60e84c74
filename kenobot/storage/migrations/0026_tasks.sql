-- Tasks in the background. inbox_id: the row of kind 'task' whose turn does the work, and whose state is the task's.
-- origin: the message that it was begun by. shown: the outbox row of the message that tells how far it is, 0 without one.
-- last: the outbox row that changed it last. button: the value of the button that cancels it.
-- asked: the open question that it waits for, 0 for none. consent: the call that the owner said yes to, as JSON.
CREATE TABLE task (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  inbox_id  INTEGER NOT NULL UNIQUE,
  origin    INTEGER NOT NULL,
  title     TEXT NOT NULL,
  language  TEXT NOT NULL,
  shown     INTEGER NOT NULL DEFAULT 0,
  last      INTEGER NOT NULL DEFAULT 0,
  button    TEXT NOT NULL DEFAULT '',
  asked     INTEGER NOT NULL DEFAULT 0,
  consent   TEXT NOT NULL DEFAULT ''
);
