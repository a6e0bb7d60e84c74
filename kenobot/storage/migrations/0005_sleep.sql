-- A night. at: its moment, which every change of it bears, also those made after a crash. report: what it came to.
-- tokens: what a model has used in it so far.
CREATE TABLE sleep_run (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  at       TEXT NOT NULL,
  cause    TEXT NOT NULL,
  phases   TEXT NOT NULL,
  state    TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished', 'undone')),
  finished TEXT,
  report   TEXT NOT NULL DEFAULT '{}',
  tokens   INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX sleep_run_open ON sleep_run (state) WHERE state = 'running';

-- The passes of a night that are finished, and the figures of each. A night that was cut short goes on behind them.
CREATE TABLE sleep_pass (
  run_id  INTEGER NOT NULL REFERENCES sleep_run (id) ON DELETE CASCADE,
  name    TEXT NOT NULL,
  phase   TEXT NOT NULL,
  live    INTEGER NOT NULL,
  touched INTEGER NOT NULL,
  done    INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  trouble TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (run_id, name)
);

-- What a model said in a night that is not finished, so that a crash pays nothing twice and changes no verdict.
CREATE TABLE sleep_answer (
  run_id INTEGER NOT NULL REFERENCES sleep_run (id) ON DELETE CASCADE,
  key    TEXT NOT NULL,
  text   TEXT NOT NULL,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;

-- What a pass has planned and not yet carried out, in its order, so that after a crash the night goes on with the same
-- plan. Number 0 is written last, when all of the plan is there, and counts how far it is carried out.
CREATE TABLE sleep_plan (
  run_id INTEGER NOT NULL REFERENCES sleep_run (id) ON DELETE CASCADE,
  name   TEXT NOT NULL,
  number INTEGER NOT NULL,
  plan   TEXT NOT NULL,
  PRIMARY KEY (run_id, name, number)
) WITHOUT ROWID;

-- The changes of a night are found by its number.
CREATE INDEX event_night ON event (json_extract(data, '$.night')) WHERE json_extract(data, '$.night') IS NOT NULL;

-- What sleep lays before the owner. undo: what approving overwrote, so that it can be put back.
CREATE TABLE proposal (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  key      TEXT NOT NULL UNIQUE,
  run_id   INTEGER,
  at       TEXT NOT NULL,
  kind     TEXT NOT NULL,
  title    TEXT NOT NULL,
  text     TEXT NOT NULL,
  payload  TEXT NOT NULL DEFAULT '{}',
  evidence TEXT NOT NULL DEFAULT '{}',
  state    TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected', 'undone')),
  decided  TEXT,
  by       TEXT NOT NULL DEFAULT '',
  undo     TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX proposal_open ON proposal (id) WHERE state = 'pending';

-- Patterns are few among many records, and every message is held against them.
CREATE INDEX record_practice ON record (id) WHERE form = 'procedure' AND status = 'active';

-- What was imported stands in the log of its day from now on: every memory file is looked at once more.
DELETE FROM state WHERE key = 'mirror:event';
