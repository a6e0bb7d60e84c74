-- A home that moves away is put away first, in good order: whoever holds it still commits, and nobody opens it any more
-- (kenobot.home.is_here). So is_here is asked for by those who open homes and take messages in, not by each commit.

ALTER TABLE kenobot.home ADD COLUMN origin text;  -- while it arrives: the cell and the home there that it comes from

CREATE OR REPLACE FUNCTION kenobot.begin_push(
  of_home bigint, from_version bigint, with_sequences jsonb, job bigint, worker bigint, attempt integer
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE made bigint;
BEGIN
  PERFORM kenobot.lock_lease(job, worker, attempt);
  UPDATE kenobot.home SET version = version + 1, sequences = sequences || with_sequences, changed = clock_timestamp()
    WHERE home = of_home AND version = from_version RETURNING version INTO made;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'home % is not at version %', of_home, from_version USING ERRCODE = 'KB002';
  END IF;
  RETURN made;
END $$;

CREATE OR REPLACE FUNCTION kenobot.settle_push(
  of_home bigint, from_version bigint, job bigint, worker bigint, attempt integer
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE found_version bigint;
BEGIN
  PERFORM kenobot.lock_lease(job, worker, attempt);
  SELECT version INTO found_version FROM kenobot.home WHERE home = of_home FOR NO KEY UPDATE;
  IF found_version = from_version THEN
    UPDATE kenobot.home SET version = version + 2 WHERE home = of_home;
    RETURN from_version + 2;
  ELSIF found_version IN (from_version + 1, from_version + 2) THEN
    RETURN found_version;
  END IF;
  RAISE EXCEPTION 'home % is not at version %', of_home, from_version USING ERRCODE = 'KB002';
END $$;

CREATE INDEX route_of_home ON kenobot.route (home);
CREATE INDEX bot_of_home ON kenobot.bot (home);

-- Homes that were deleted here because they are in another cell, until that one knows: `kenobot host move` again tells it.
CREATE TABLE kenobot.departure (
  name text COLLATE "C" PRIMARY KEY,
  cell text NOT NULL,
  at   timestamptz NOT NULL DEFAULT now()
);
