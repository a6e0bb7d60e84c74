"""SQL by which the doctor finds what nobody works on: mail, jobs, timers, moves, bots and keys."""

from collections.abc import Iterator
from datetime import datetime

from psycopg import Connection

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something of a home that has waited for too long: how many, since when."""

    name: str
    home: int
    count: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Sealed:
    """Something that is sealed. whose: the home or bot; path: the file of a home, "" for a bot's token."""

    whose: str
    path: str
    content: bytes


def count_workers(connection: Connection, seconds: float) -> int:
    """Count the workers and ingresses that have beaten within some seconds."""
    row = connection.execute(
        "SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - %s * interval '1 s'", (seconds,)
    ).fetchone()
    assert row is not None
    return int(row[0])


def count_abandoned(connection: Connection, seconds: float) -> int:
    """Count the jobs whose workers have been silent for some seconds, or are gone."""
    row = connection.execute(
        "SELECT count(*) FROM procrastinate_jobs AS job LEFT JOIN procrastinate_workers AS worker "
        "ON worker.id = job.worker_id AND last_heartbeat > now() - %s * interval '1 s' "
        "WHERE status = 'doing' AND worker.id IS NULL",
        (seconds,),
    ).fetchone()
    assert row is not None
    return int(row[0])


def list_late_mail(connection: Connection, minutes: int) -> list[Waiting]:
    """List homes whose mail has waited for longer than some minutes."""
    rows = connection.execute(
        "SELECT name, home, count(*), min(came) FROM kenobot.mail JOIN kenobot.home USING (home) "
        "WHERE came < now() - %s * interval '1 min' GROUP BY name, home ORDER BY 4",
        (minutes,),
    ).fetchall()
    return [Waiting(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class Queued:
    """Jobs of a queue that no worker fetches."""

    queue: str
    count: int
    since: datetime


def list_late_jobs(connection: Connection, minutes: int) -> list[Queued]:
    """List queues with jobs that could have begun some minutes ago, not those behind a home that is open."""
    rows = connection.execute(
        "SELECT queue_name, count(*), min(coalesce(job.scheduled_at, event.at)) FROM procrastinate_jobs AS job "
        "JOIN LATERAL (SELECT max(at) AS at FROM procrastinate_events WHERE job_id = job.id) AS event ON true "
        "WHERE status = 'todo' AND coalesce(job.scheduled_at, event.at) < now() - %s * interval '1 min' AND NOT EXISTS "
        "(SELECT 1 FROM procrastinate_jobs AS held WHERE held.lock = job.lock AND held.status = 'doing') "
        "GROUP BY queue_name ORDER BY 3",
        (minutes,),
    ).fetchall()
    return [Queued(*row) for row in rows]


def list_forgotten(connection: Connection) -> list[Waiting]:
    """List homes that have work, and no job that would open them: neither now nor when it is due."""
    rows = connection.execute(
        "SELECT name, home, 1, coalesce(due, changed) FROM kenobot.activity JOIN kenobot.home USING (home) "
        "WHERE is_here AND (is_unfinished OR due IS NOT NULL OR EXISTS "
        "(SELECT 1 FROM kenobot.mail WHERE mail.home = activity.home)) "
        "AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE lock = 'home:' || activity.home "
        "AND status IN ('todo', 'doing')) "
        "AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = 'timer:' || activity.home "
        "AND status = 'todo' AND (NOT is_unfinished OR scheduled_at < now() + interval '1 min')) "
        "AND EXISTS (SELECT 1 FROM kenobot.bot WHERE bot.home = activity.home "
        "UNION ALL SELECT 1 FROM kenobot.route WHERE route.home = activity.home) ORDER BY name"
    ).fetchall()
    return [Waiting(*row) for row in rows]


def list_moving(connection: Connection) -> list[tuple[str, str]]:
    """List homes on their way: their names, with "leaving", "arriving" or "left"."""
    rows = connection.execute(
        "SELECT name, CASE WHEN origin IS NULL THEN 'leaving' ELSE 'arriving' END FROM kenobot.home WHERE NOT is_here "
        "UNION ALL SELECT name, 'left' FROM kenobot.departure ORDER BY 1"
    ).fetchall()
    return [(name, state) for name, state in rows]


def list_mute(connection: Connection) -> list[str]:
    """List homes with mail or a reminder for which no bot speaks."""
    rows = connection.execute(
        "SELECT name FROM kenobot.home LEFT JOIN kenobot.activity USING (home) WHERE is_here "
        "AND (due IS NOT NULL OR EXISTS (SELECT 1 FROM kenobot.mail WHERE mail.home = home.home)) "
        "AND NOT EXISTS (SELECT 1 FROM kenobot.bot WHERE bot.home = home.home) "
        "AND NOT EXISTS (SELECT 1 FROM kenobot.route WHERE route.home = home.home) ORDER BY name"
    ).fetchall()
    return [name for (name,) in rows]


def list_idle_bots(connection: Connection) -> list[str]:
    """List bots that speak for no home: what people write to them is dropped."""
    rows = connection.execute(
        "SELECT bot FROM kenobot.bot WHERE home IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM kenobot.route WHERE route.bot = bot.bot) ORDER BY bot"
    ).fetchall()
    return [bot for (bot,) in rows]


def count_schemas(connection: Connection) -> dict[int, int]:
    """Count the homes by the schema of their rows."""
    return dict(connection.execute("SELECT schema, count(*) FROM kenobot.home GROUP BY schema").fetchall())


def load_sealed(connection: Connection) -> Iterator[Sealed]:
    """Load a sealed file of each home, the smallest one."""
    with connection.transaction(), connection.cursor(name="sealed") as cursor:
        cursor.execute(
            "SELECT DISTINCT ON (home) name, path, content FROM kenobot.file JOIN kenobot.home USING (home) "
            "WHERE sealed AND content IS NOT NULL ORDER BY home, length(content), path"
        )
        for row in cursor:
            yield Sealed(*row)
