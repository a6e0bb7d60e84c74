"""Have PostgreSQL itself note who lost a home and who committed to it, by triggers that only the play has.

Each process names itself in its connections, and a worker of Procrastinate is registered by the process that it is of.
So a commit by a process that was not the holder of the home is seen, however it came to pass.
"""

from dataclasses import dataclass, replace
from typing import Any

import psycopg

_SCRIPT = """
CREATE SCHEMA chaos;
CREATE TABLE chaos.worker (worker bigint PRIMARY KEY, process text);
CREATE TABLE chaos.lease (
  at timestamptz DEFAULT clock_timestamp(), home bigint, what text, worker bigint, process text
);
CREATE TABLE chaos.push (
  at timestamptz DEFAULT clock_timestamp(), home bigint, old bigint, new bigint, worker bigint, process text
);
CREATE FUNCTION chaos.note_worker() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO chaos.worker VALUES (NEW.id, current_setting('chaos.process', true)) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT ON procrastinate_workers FOR EACH ROW EXECUTE FUNCTION chaos.note_worker();
CREATE FUNCTION chaos.note_lease() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  job procrastinate_jobs := CASE WHEN TG_OP = 'UPDATE' AND NEW.status = 'doing' THEN NEW ELSE OLD END;
  holder text := (SELECT process FROM chaos.worker WHERE worker = job.worker_id);
  what text := 'ended';
BEGIN
  IF TG_OP = 'UPDATE' THEN
    what := CASE NEW.status WHEN 'doing' THEN 'held' ELSE 'lost' END;
  ELSIF current_setting('chaos.process', true) IS DISTINCT FROM holder THEN
    what := 'lost';
  END IF;
  INSERT INTO chaos.lease (home, what, worker, process)
    VALUES ((job.args->>'home')::bigint, what, job.worker_id, holder);
  RETURN NULL;
END $$;
CREATE TRIGGER passed AFTER UPDATE OF status ON procrastinate_jobs FOR EACH ROW
  WHEN (NEW.task_name = 'activate' AND NEW.status IN ('doing', 'todo') AND OLD.status IS DISTINCT FROM NEW.status)
  EXECUTE FUNCTION chaos.note_lease();
CREATE TRIGGER ended AFTER DELETE ON procrastinate_jobs FOR EACH ROW
  WHEN (OLD.task_name = 'activate' AND OLD.status = 'doing') EXECUTE FUNCTION chaos.note_lease();
CREATE FUNCTION chaos.note_push() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO chaos.push (home, old, new, worker, process)
    SELECT NEW.home, OLD.version, NEW.version,
           (SELECT worker_id FROM procrastinate_jobs WHERE lock = 'home:' || NEW.home AND status = 'doing'),
           current_setting('chaos.process', true);
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER UPDATE OF version ON kenobot.home FOR EACH ROW EXECUTE FUNCTION chaos.note_push();
"""
# A push by a process of which the worker that held the home then is not.
_FOREIGN = """
SELECT push.home, push.new, push.process, push.worker, worker.process FROM chaos.push AS push
LEFT JOIN chaos.worker AS worker USING (worker) WHERE worker.process IS DISTINCT FROM push.process ORDER BY push.at
"""
_SKIPPED = """
SELECT home, old, before FROM (
  SELECT home, old, lag(new) OVER (PARTITION BY home ORDER BY new) AS before FROM chaos.push
) AS pushed WHERE before IS NOT NULL AND before <> old
"""
_LEASES = """
SELECT extract(epoch FROM at)::float8, home, what, coalesce(process, '') FROM chaos.lease
UNION ALL SELECT extract(epoch FROM at)::float8, home, 'version ' || new, coalesce(process, '') FROM chaos.push
ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class LeaseEvent:
    """A home was `held` by a process from then on, `lost` by it, or the process `ended` that in good order.

    at: in seconds. `version N` was committed.
    """

    at: float
    home: int
    what: str
    process: str


def name_process(name: str) -> dict[str, str]:
    """Return the variable by which a process says who it is on each of its connections."""
    return {"PGOPTIONS": f"-c chaos.process={name}"}


def begin_audit(connection: "psycopg.Connection[Any]") -> None:
    """Have everything noted from here on."""
    connection.execute(_SCRIPT)


def find_foreign_pushes(connection: "psycopg.Connection[Any]") -> list[str]:
    """Find commits by others than the holder of a home, and versions that do not follow upon each other."""
    foreign = connection.execute(_FOREIGN).fetchall()
    skipped = connection.execute(_SKIPPED).fetchall()
    return [
        *(
            f"version {new} of home {home} was committed by {process}, while worker {worker} of {holder} held it"
            for home, new, process, worker, holder in foreign
        ),
        *(
            f"home {home}: version {old} was committed upon, {before} had been the last"
            for home, old, before in skipped
        ),
    ]


def count_pushes(connection: "psycopg.Connection[Any]") -> int:
    """Count the commits that were looked at."""
    (count,) = connection.execute("SELECT count(*) FROM chaos.push").fetchone() or (0,)
    return int(count)


def list_leases(connection: "psycopg.Connection[Any]") -> dict[int, list[LeaseEvent]]:
    """List what happened to the leases of each home.

    A worker that was silent for long may be taken off the list before its homes are: these are its last ones.
    """
    found: dict[int, list[LeaseEvent]] = {}
    for row in connection.execute(_LEASES).fetchall():
        event = LeaseEvent(*row)
        events = found.setdefault(event.home, [])
        if event.what == "lost" and not event.process:
            held = (each.process for each in reversed(events) if each.what == "held")
            event = replace(event, process=next(held, ""))
        events.append(event)
    return found
