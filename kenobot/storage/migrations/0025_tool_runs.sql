-- The tool calls of turns, by the step of the result. call: name and arguments. outcome: done, failed or refused.
-- told: the beginning of what the model was told.
CREATE TABLE tool_run (
  inbox_id  INTEGER NOT NULL,
  number    INTEGER NOT NULL,
  session   TEXT NOT NULL,
  tool      TEXT NOT NULL,
  call      TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  told      TEXT NOT NULL,
  seconds   REAL NOT NULL,
  at        TEXT NOT NULL,
  PRIMARY KEY (inbox_id, number)
);
CREATE INDEX tool_run_at ON tool_run (at);
