"""Run Procrastinate so that a job is a lease: a worker that lost one can neither finish it nor have it retried.

`Activation` names the job row that a home is held by. Procrastinate's own `finish_job` and `retry_job` look at a job's
number alone, so a worker that was stopped beyond its heartbeat would end the job of the worker that holds the home now.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from procrastinate import App, JobContext, PsycopgConnector
from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.worker import Worker
from psycopg_pool import PoolTimeout

from kenobot_host import activation_rows as rows

_log = logging.getLogger(__name__)

HOMES: Final = "homes"
BOTS: Final = "bots"
"""The queues of jobs: homes and their timers, and the polls of bots. See `activation_rows.queue_of` for a third."""

HEARTBEAT_SECONDS: Final = 2.0
STALLED_SECONDS: Final = 8.0
FETCH_SECONDS: Final = 1.0  # between looks for jobs whose time has come: no notification tells of these
_RESCUE_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 0.25
_FINISH_SECONDS: Final = 30.0
_END_SECONDS: Final = 12.0  # that the jobs of a worker that ends have

UNREACHABLE: Final = (ConnectorException, psycopg.OperationalError, PoolTimeout)
"""The errors of a database that cannot be reached just now."""


@dataclass(frozen=True, slots=True)
class Activation:
    """A home that a worker holds, by the four columns of the job's row that together say so."""

    home: int
    job: int
    worker: int
    attempts: int

    @classmethod
    def of(cls, home: int, job: Job) -> "Activation":
        """Return the activation of a home by a job that was fetched."""
        assert job.id is not None
        assert job.worker_id is not None
        return cls(home, job.id, job.worker_id, job.attempts)


class LeasedJobs(JobManager):
    """Manage jobs so that only their holder ends them, and a database that is away for a moment ends no worker.

    Procrastinate ends a worker that cannot fetch, and with it all its jobs; that it cannot beat or listen any more, it
    does not notice where there are no periodic tasks. So all three are tried again here, for as long as it takes.

    own: the worker of this process, while it has one. list_running: the jobs that it has begun and not ended.
    tell_failure: called when it was taken for dead, so that it can hold no job any more.
    """

    own: int | None = None
    list_running: Callable[[], Sequence[int]] = staticmethod(lambda: ())
    tell_failure: Callable[[], object] = staticmethod(lambda: None)
    _may_hold_more = False

    async def register_worker(self) -> int:
        """Register a worker of this process."""
        self.own = await super().register_worker()
        return self.own

    async def unregister_worker(self, worker_id: int) -> None:
        """Unregister a worker of this process."""
        self.own = None
        await super().unregister_worker(worker_id)

    async def send_heartbeat_first(self) -> None:
        """Tell that the worker of this process lives: one that was kept from it for long looks at others no sooner."""
        if self.own is not None:
            await super().update_heartbeat(self.own)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Fetch a job; None while the database is away.

        A job whose fetching was not answered may be this worker's without its knowledge: it is queued anew.
        """
        try:
            if self._may_hold_more:
                await self._queue_unknown(worker_id)
                self._may_hold_more = False
            return await super().fetch_job(queues, worker_id)
        except (TimeoutError, *UNREACHABLE) as error:
            if not _is_away(error):  # its worker is gone, for it was silent for long: another one begins
                self.tell_failure()
                raise
        self._may_hold_more = True
        return None

    async def _queue_unknown(self, worker_id: int) -> None:
        """Queue the jobs anew that the worker of this process holds and has not begun."""
        running = {*self.list_running()}
        for row in await self.connector.execute_query_all_async(rows.HELD, worker=worker_id):
            if row["id"] not in running:
                await self.finish_job(Job.from_row(row), Status.ABORTED, delete_job=True)

    async def listen_for_jobs(self, **options: Any) -> None:
        """Listen for jobs, until cancelled."""
        await retry_while_away(lambda: super(LeasedJobs, self).listen_for_jobs(**options), math.inf)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """Finish a job that is still its worker's, or queue one anew that was broken off.

        What became of a broken commit is found out by asking again.
        """
        leased = {"job": job.id, "worker": job.worker_id, "attempts": job.attempts}

        async def finish() -> None:
            if status is Status.ABORTED:
                with contextlib.suppress(UniqueViolation):  # another one waits, and does the work
                    await self.retry_job(job)
            # one that is queued anew is not its worker's any more, and stays
            await self.connector.execute_query_all_async(
                rows.FINISH, **leased, status=status.value, delete_job=delete_job
            )

        await retry_while_away(finish)

    async def retry_job(self, job: Job, *_: object, **__: object) -> None:
        """Queue a job anew that is still its worker's: at once, and as it was."""
        await self.connector.execute_query_all_async(
            rows.RETRY, job=job.id, worker=job.worker_id, attempts=job.attempts
        )

    async def rescue_job(self, job: Job) -> bool:
        """Take a job from its worker, unless that is silent no more; return whether it was taken.

        Where another job with the same queueing lock waits, that one does the work, and this one is deleted.
        """
        leased = {"job": job.id, "worker": job.worker_id, "attempts": job.attempts, "silent": STALLED_SECONDS}
        try:
            return bool(await self.connector.execute_query_all_async(rows.RETRY_SILENT, **leased))
        except UniqueViolation:
            ended = {"status": Status.FAILED.value, "delete_job": True}
            return bool(await self.connector.execute_query_all_async(rows.FINISH_SILENT, **leased, **ended))

    async def update_heartbeat(self, worker_id: int) -> None:
        """Update the heartbeat of a worker, again until the database takes it."""
        await retry_while_away(lambda: super(LeasedJobs, self).update_heartbeat(worker_id), math.inf)


async def retry_while_away(work: Callable[[], Awaitable[None]], seconds: float = _FINISH_SECONDS) -> None:
    """Do work, again where the database cannot be reached, for some seconds. Raises what ended the last try."""
    ends = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            return await work()
        except (TimeoutError, *UNREACHABLE) as error:
            if not _is_away(error) or asyncio.get_running_loop().time() > ends:
                raise
        await asyncio.sleep(_RETRY_SECONDS)


def _is_away(error: BaseException) -> bool:
    """Return whether the database could not be reached, or did not answer: it refused nothing."""
    cause = error.__cause__ if isinstance(error, ConnectorException) else error
    return isinstance(cause, (TimeoutError, psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout))


class HostWorker(Worker):
    """Procrastinate's worker, which tells its jobs to end when it is to end itself. released: set then."""

    def __init__(self, engine: App, queues: Sequence[str], concurrency: int, name: str) -> None:
        self.released = asyncio.Event()
        super().__init__(
            engine,
            queues=queues,
            name=name,
            concurrency=concurrency,
            fetch_job_polling_interval=FETCH_SECONDS,
            abort_job_polling_interval=60.0,
            shutdown_graceful_timeout=_END_SECONDS,
            delete_jobs="always",
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            additional_context={"released": self.released},
        )
        assert isinstance(engine.job_manager, LeasedJobs)
        engine.job_manager.list_running, engine.job_manager.tell_failure = self._list_running, self.stop

    def _list_running(self) -> list[int]:
        return [context.job.id for context in self._running_jobs.values() if context.job.id is not None]

    def stop(self) -> None:
        """Fetch no more jobs, and tell those under way to end."""
        self.released.set()
        super().stop()  # type: ignore[no-untyped-call]


def open_engine(url: str, connections: int) -> App:
    """Return Procrastinate's app on a database, its pool not opened yet."""
    connector = PsycopgConnector(
        conninfo=url, min_size=1, max_size=connections, timeout=5.0, kwargs={"connect_timeout": 5}
    )
    engine = App(connector=connector)
    engine.job_manager = LeasedJobs(connector)
    return engine


def find_release(context: JobContext) -> asyncio.Event:
    """Return the event that tells a job to end."""
    released: asyncio.Event = context.additional_context["released"]
    return released


async def work(engine: App, queues: Sequence[str], concurrency: int, name: str, stop: asyncio.Event) -> None:
    """Run workers, one after another, until `stop` is set: a database that was away ends one, never the process."""
    while not stop.is_set():
        worker = HostWorker(engine, queues, concurrency, name)
        running = asyncio.create_task(worker.run(), name=f"worker {name}")  # type: ignore[no-untyped-call]
        asked = asyncio.create_task(stop.wait())
        await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED)
        worker.stop()
        asked.cancel()
        try:
            await running
        except Exception as error:
            _log.warning("the worker %s lost its database and begins anew: %s", name, error)
            await asyncio.sleep(_RETRY_SECONDS)


async def rescue_on(engine: App) -> None:
    """Queue anew, until cancelled, what workers hold that are silent. It runs beside the worker, not as a job of it."""
    while True:
        try:
            await rescue(engine)
        except UNREACHABLE as error:
            _log.debug("nothing is rescued while the database is away: %s", error)
        await asyncio.sleep(_RESCUE_SECONDS)


async def rescue(engine: App) -> int:
    """Queue the jobs of silent workers anew, of any queue; return how many. Raises what is in UNREACHABLE."""
    manager = engine.job_manager
    assert isinstance(manager, LeasedJobs)
    await manager.send_heartbeat_first()
    stalled = list(await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS))
    taken = [job for job in stalled if await manager.rescue_job(job)]
    for job in taken:
        _log.info("job %s of a silent worker is queued anew", job.call_string)
    return len(taken)
