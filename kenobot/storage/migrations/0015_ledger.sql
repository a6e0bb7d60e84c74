-- Calls of models: a row a call, and sums of each day of the owner's. cost: picodollars, NULL where the price is not known.
-- settled: 0 as long as the figures are what was reserved. unpriced_tokens: those of calls without a known price.
CREATE TABLE model_call (
  id                 INTEGER PRIMARY KEY,
  at                 TEXT NOT NULL,
  day                TEXT NOT NULL,
  purpose            TEXT NOT NULL,
  provider           TEXT NOT NULL,
  model              TEXT NOT NULL,
  session            TEXT NOT NULL,
  inbox_id           INTEGER NOT NULL,
  settled            INTEGER NOT NULL,
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost               INTEGER
);

CREATE TABLE model_day (
  day                TEXT NOT NULL,
  purpose            TEXT NOT NULL,
  provider           TEXT NOT NULL,
  model              TEXT NOT NULL,
  session            TEXT NOT NULL,
  calls              INTEGER NOT NULL,
  unsettled          INTEGER NOT NULL,
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost               INTEGER NOT NULL,
  unpriced_tokens    INTEGER NOT NULL,
  PRIMARY KEY (day, purpose, provider, model, session)
) WITHOUT ROWID;

INSERT INTO model_day
  SELECT day, job, '', '', '', 0, 0, tokens, 0, 0, 0, 0, tokens FROM token_usage;
DROP TABLE token_usage;
