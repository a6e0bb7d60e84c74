"""SQL of activations: requests for them, their fence, and timers."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg import AsyncConnection
from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

_LEASED: Final = """
WITH mine AS MATERIALIZED (
  SELECT id FROM procrastinate_jobs
  WHERE id = %(job)s AND status = 'doing' AND attempts = %(attempts)s
    AND worker_id IS NOT DISTINCT FROM %(worker)s::bigint
"""
_SILENT: Final = """
    AND NOT EXISTS (SELECT 1 FROM procrastinate_workers AS holder WHERE holder.id = procrastinate_jobs.worker_id
                    AND holder.last_heartbeat > now() - %(silent)s::float8 * interval '1 s')
"""
_FINISH: Final = """
  FOR NO KEY UPDATE
)
SELECT procrastinate_finish_job_v1(id, %(status)s::procrastinate_job_status, %(delete_job)s) FROM mine
"""
_RETRY: Final = """
)
SELECT procrastinate_retry_job_v2(id, now(), NULL, NULL, NULL) FROM mine
"""
FINISH, RETRY = _LEASED + _FINISH, _LEASED + "  FOR NO KEY UPDATE" + _RETRY
"""End a job that is still its worker's, or queue it anew."""

HELD: Final = """
SELECT id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name, attempts, worker_id
FROM procrastinate_jobs WHERE worker_id = %(worker)s AND status = 'doing'
"""
"""List the jobs that a worker holds."""

# One that its silent worker is just committing for comes up at the next look.
FINISH_SILENT = _LEASED + _SILENT + _FINISH
RETRY_SILENT = _LEASED + _SILENT + "  FOR NO KEY UPDATE SKIP LOCKED" + _RETRY
"""The same of a worker that is still silent: it may have beaten since the job was found, on a machine that is busy."""

DEFER: Final = """
SELECT procrastinate_defer_jobs_v1(ARRAY[
  ROW(%s::varchar, %s::varchar, 0, %s::text, %s::text, %s::jsonb, %s::timestamptz)::procrastinate_job_to_defer_v1
])
"""
# An activation that is being fetched is waited for; one that waits is held until this transaction ends, so that the
# job sees what the transaction wrote.
WAITING: Final = "SELECT id FROM procrastinate_jobs WHERE queueing_lock = %s AND status = 'todo' FOR KEY SHARE"

ACTIVATE: Final = "activate"
WAKE: Final = "wake"
POLL: Final = "poll"


def lock_of(home: int) -> str:
    """Return the lock of a home's activations, which is their queueing lock as well."""
    return f"home:{home}"


def timer_of(home: int) -> str:
    """Return the queueing lock of a home's timer."""
    return f"timer:{home}"


async def request_job(connection: AsyncConnection, queue: str, task: str, lock: str, args: dict[str, object]) -> None:
    """Queue a job that begins after this transaction's end; none is added where one waits already."""
    while True:
        waiting = await connection.execute(WAITING, (lock,))
        if await waiting.fetchone():
            return
        try:
            async with connection.transaction():
                await connection.execute(DEFER, (queue, task, lock, lock, Jsonb(args), None))
        except UniqueViolation:  # by another transaction, just now
            continue
        return


async def request_activation(connection: AsyncConnection, home: int) -> None:
    """Queue the activation of a home: it is opened, or looked after once more when it is closed."""
    await request_job(connection, "homes", ACTIVATE, lock_of(home), {"home": home})


async def request_newer(connection: AsyncConnection, home: int, schema: int) -> None:
    """Queue the activation of a home for workers that know this schema of its database."""
    await request_job(connection, queue_of(schema), ACTIVATE, lock_of(home), {"home": home})


async def list_queues(connection: AsyncConnection, newest: int) -> list[str]:
    """List the queues of homes for a worker. newest: the schema of homes that it knows.

    Beside the one that all workers fetch from, there is one for each schema that the cell has had: a worker that meets
    a home of a newer one than its own passes the activation on to those who know it.
    """
    found = await connection.execute("SELECT name FROM kenobot.migration WHERE source = 'homes' ORDER BY name")
    return ["homes", *(queue_of(int(name)) for (name,) in await found.fetchall() if int(name) <= newest)]


def queue_of(schema: int) -> str:
    """Return the queue of activations that a worker of an older version passed on."""
    return f"homes {schema}"


@dataclass(frozen=True, slots=True)
class HomeState:
    """State of a home, by which it may be opened. schema: of its rows. is_here: it is not on its way between cells."""

    schema: int
    is_here: bool


async def find_state(connection: AsyncConnection, home: int) -> HomeState | None:
    """Find whether a home may be opened; None where there is none."""
    found = await connection.execute("SELECT schema, is_here FROM kenobot.home WHERE home = %s", (home,))
    row = await found.fetchone()
    return HomeState(*row) if row else None


async def load_versions(connection: AsyncConnection, homes: Collection[int]) -> dict[int, int]:
    """Return the versions of those homes that are there."""
    found = await connection.execute("SELECT home, version FROM kenobot.home WHERE home = ANY(%s)", (list(homes),))
    return dict(await found.fetchall())


async def set_timer(connection: AsyncConnection, home: int, due: datetime | None) -> None:
    """Set the time at which a home is activated, in place of the one set before; None for never.

    The timer carries no lock: a job scheduled for later that did would keep all others of its lock waiting.
    """
    name = timer_of(home)
    await connection.execute(
        "SELECT procrastinate_cancel_job_v1(id, false, true) FROM procrastinate_jobs "
        "WHERE queueing_lock = %s AND status = 'todo'",
        (name,),
    )
    if due is not None:
        async with connection.transaction():
            await connection.execute(DEFER, ("homes", WAKE, None, name, Jsonb({"home": home}), due))


async def note_opened(connection: AsyncConnection, home: int) -> bool:
    """Note that a home is being opened, where it has anything to do; False where it has not."""
    found = await connection.execute(
        "INSERT INTO kenobot.activity (home, is_unfinished) SELECT %(home)s, true WHERE "
        "EXISTS (SELECT 1 FROM kenobot.mail WHERE home = %(home)s) "
        "OR EXISTS (SELECT 1 FROM kenobot.activity "
        "WHERE home = %(home)s AND (is_unfinished OR due <= clock_timestamp())) "
        "ON CONFLICT (home) DO UPDATE SET is_unfinished = true RETURNING home",
        {"home": home},
    )
    return await found.fetchone() is not None


async def note_put_away(connection: AsyncConnection, home: int, due: datetime | None, *, is_unfinished: bool) -> None:
    """Note how a home was put away, set its timer, and have it opened again where anything is left."""
    await connection.execute(
        "UPDATE kenobot.activity SET is_unfinished = %s, due = %s WHERE home = %s", (is_unfinished, due, home)
    )
    await set_timer(connection, home, due)
    left = await connection.execute("SELECT 1 FROM kenobot.mail WHERE home = %s LIMIT 1", (home,))
    if is_unfinished or await left.fetchone():
        await request_activation(connection, home)


async def holds(connection: AsyncConnection, job: int, worker: int, attempts: int) -> bool:
    """Return whether a job's row still names its worker."""
    found = await connection.execute(
        "SELECT 1 FROM procrastinate_jobs WHERE id = %s AND status = 'doing' AND worker_id = %s AND attempts = %s",
        (job, worker, attempts),
    )
    return await found.fetchone() is not None


async def renew_lease(connection: AsyncConnection, job: int, worker: int, attempts: int) -> bool:
    """Return whether a job's row still names its worker, who is believed to live from now on for as long as ever.

    So what it does next is not done by another as well, unless it is stopped in the middle.
    """
    await connection.execute("SET LOCAL synchronous_commit = off")
    await connection.execute(
        "UPDATE procrastinate_workers SET last_heartbeat = now() "
        "WHERE id = %s AND last_heartbeat < now() - interval '1 s'",
        (worker,),
    )
    return await holds(connection, job, worker, attempts)


async def find_held(connection: AsyncConnection, jobs: Collection[int]) -> set[tuple[int, int, int]]:
    """Return the job, worker and attempts of those jobs that are being done, of homes that are not to be put away."""
    found = await connection.execute(
        "SELECT id, worker_id, attempts FROM procrastinate_jobs AS job WHERE id = ANY(%s) AND status = 'doing' "
        "AND EXISTS (SELECT 1 FROM kenobot.home WHERE home = (job.args->>'home')::bigint AND is_here)",
        (list(jobs),),
    )
    return {(job, worker, attempts) for job, worker, attempts in await found.fetchall()}
