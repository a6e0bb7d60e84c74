-- Reminders and the morning word. rule: '' for once, an RRULE, or `cron:` and a cron line. start_local, cursor, planned:
-- naive local times; zone: '' for the owner's as it is then. cursor: instances of the rule up to it are settled.
-- planned, planned_due: the rule's next instance, locally and in UTC. next_due: that or an earlier snoozed one, in UTC;
-- '' where nothing is to come. exact: planned_due is an instant that no change of zone moves.
-- name: of its person, where others read along. undo: the schedule before the last change, as JSON.
CREATE TABLE job (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  kind          TEXT NOT NULL DEFAULT 'reminder',
  text          TEXT NOT NULL,
  person        TEXT NOT NULL,
  scope         TEXT NOT NULL,
  channel       TEXT NOT NULL,
  chat          TEXT NOT NULL,
  thread        TEXT NOT NULL DEFAULT '',
  private       INTEGER NOT NULL,
  language      TEXT NOT NULL,
  name          TEXT NOT NULL DEFAULT '',
  rule          TEXT NOT NULL DEFAULT '',
  start_local   TEXT NOT NULL,
  zone          TEXT NOT NULL DEFAULT '',
  exact         INTEGER NOT NULL DEFAULT 0,
  has_time      INTEGER NOT NULL DEFAULT 1,
  cursor        TEXT NOT NULL DEFAULT '',
  planned       TEXT NOT NULL DEFAULT '',
  planned_due   TEXT NOT NULL DEFAULT '',
  next_due      TEXT NOT NULL DEFAULT '',
  state         TEXT NOT NULL,
  missed        TEXT NOT NULL DEFAULT 'late',
  trust         TEXT NOT NULL,
  origin        INTEGER,
  created       TEXT NOT NULL,
  ended         TEXT NOT NULL DEFAULT '',
  source_record INTEGER,
  undo          TEXT NOT NULL DEFAULT ''
);
CREATE INDEX job_next_due ON job (next_due) WHERE state = 'active' AND next_due != '';
CREATE INDEX job_scope ON job (scope, state);
CREATE INDEX job_ended ON job (ended) WHERE ended != '';

-- Each moment at which a job was, or is to be, told. planned: the instance of the rule that it is, as its naive local
-- time; '' for a snoozed one. covers: instances that this one stands for, those missed before it included.
CREATE TABLE occurrence (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  job     INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  due     TEXT NOT NULL,
  planned TEXT NOT NULL DEFAULT '',
  covers  INTEGER NOT NULL DEFAULT 1,
  state   TEXT NOT NULL,
  outbox  INTEGER,
  trace   TEXT NOT NULL DEFAULT '',
  told_at TEXT NOT NULL DEFAULT '',
  UNIQUE (job, due)
);
CREATE UNIQUE INDEX occurrence_planned ON occurrence (job, planned) WHERE planned != '';
CREATE INDEX occurrence_waiting ON occurrence (job, due) WHERE state = 'due';
CREATE INDEX occurrence_due ON occurrence (due);

-- Standing wishes: what to say when certain words come up, within limits.
CREATE TABLE wish (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  text           TEXT NOT NULL,
  cue            TEXT NOT NULL,
  scope          TEXT NOT NULL,
  person         TEXT NOT NULL,
  channel        TEXT NOT NULL,
  chat           TEXT NOT NULL,
  language       TEXT NOT NULL,
  cooldown_hours INTEGER NOT NULL DEFAULT 24,
  times_left     INTEGER NOT NULL DEFAULT 3,
  ends           TEXT NOT NULL,
  last_fired     TEXT NOT NULL DEFAULT '',
  state          TEXT NOT NULL DEFAULT 'active',
  created        TEXT NOT NULL
);
CREATE INDEX wish_scope ON wish (scope, state);
