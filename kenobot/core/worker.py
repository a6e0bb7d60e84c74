"""Background work: one task at a time, a queue with a worker per key, and jobs at intervals by APScheduler."""

import asyncio
import importlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, Generic, TypeVar

from kenobot.core.pacing import Rank, run_at_rank
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_log = logging.getLogger(__name__)

_LONG_TEXT = 2_000  # characters, which keep the event loop for about five milliseconds


class BackgroundTask:
    """name: of its task. What is broken off is the next start's: whoever derives from this keeps it on disk."""

    rank = Rank.SOON

    def __init__(self, name: str) -> None:
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def idle(self) -> bool:
        """Return whether nothing is under way."""
        return self._task is None

    async def wait_idle(self) -> None:
        """Return once what is due has been done, or has to wait."""
        while self._task is not None:
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Break off what is under way, and begin nothing more."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None  # one that was broken off before its first step has not said so itself

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin it in the background, unless something is under way already, or no more is to be begun."""
        if self._task is None and not self._stopping:
            self._task = asyncio.create_task(self._do(work), name=self._name)

    async def _do(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            with run_at_rank(self.rank):
                await work()
        finally:
            self._task = None


class TextWork:
    """Run work over texts: a short one at once, long ones in a thread, one at a time, so that no other chat waits."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()

    async def run(self, length: int, work: Callable[[], T]) -> T:
        """Return what `work` returns. length: characters of the text that it goes through."""
        if length < _LONG_TEXT:
            return work()
        async with self._one:
            return await asyncio.to_thread(work)


class TaskSet:
    """Tasks under way at the same time. name: of each."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[None]] = set()  # bounded: 220 notices an hour, changes under way; turn

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin it in the background."""
        task = asyncio.create_task(work, name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def idle(self) -> bool:
        """Return whether no task is under way."""
        return not self._tasks

    async def wait_idle(self) -> None:
        """Return once no task is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """Break off the tasks under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def run_until_first(*work: Coroutine[Any, Any, object]) -> None:
    """Run work side by side until the first of it ends, then break the rest off. Raises what the first raised."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def finish_or_cancel(tasks: Collection[asyncio.Future[Any]], grace: float | None) -> None:
    """Give tasks or futures `grace` seconds (None: as long as they take), then break off those that are still at it."""
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def was_cancelled(error: BaseException) -> bool:
    """Return whether `error` cancels this very task, not just something that the task awaited."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


# ── a worker per key ─────────────────────────────────────────────────────────────────────────────────────────────


_STORE_PAUSE = 5.0


@dataclass(slots=True)
class _Line(Generic[T]):
    """The items of a key at work.

    done: the id of the newest item worked off. newest: of the newest item ever queued.
    more: the store may hold items that are not in `ready`.
    reading: `ready` is being filled from the store; an item queued meanwhile would overtake, so it waits there too.
    """

    # bounded: 32 items: parts of a chat, 16 messages; test_a_chat_that_takes_nothing_holds_few_parts
    ready: deque[T] = field(default_factory=deque)
    done: int = 0
    newest: int = 0
    more: bool = False
    reading: bool = False
    task: asyncio.Task[None] | None = None


class KeyedQueue(Generic[K, T]):
    """Run one worker per key over its items, in the order of their ids.

    store: the name of the store, for the log. fetch: reads up to `limit` items of a key with ids above `after`, given
    as (key, after, limit). work: deals with one item; False ends the key's run and leaves the item to the store.
    ahead: items of a key held in memory.

    A StoreError out of `fetch` or `work` delays the key, which goes on with the first item that is not done.
    """

    def __init__(
        self,
        store: str,
        clock: Clock,
        fetch: Callable[[K, int, int], Awaitable[Sequence[T]]],
        work: Callable[[K, T], Awaitable[bool | None]],
        id_of: Callable[[T], int],
        *,
        ahead: int,
    ) -> None:
        self._store = store
        self._clock = clock
        self._fetch = fetch
        self._work = work
        self._id_of = id_of
        self._ahead = ahead
        self._lines: dict[K, _Line[T]] = {}  # bounded: chats with messages: at most IntakePolicy.backlog; turn
        self._stopping = False

    def put(self, key: K, item: T | None = None) -> None:
        """Queue an item that is in the store; None: the store holds items of `key` that nothing works on."""
        if self._stopping:
            return
        line = self._lines.setdefault(key, _Line())
        if item is None or line.more or line.reading or len(line.ready) >= self._ahead:
            line.more = True
        elif self._id_of(item) > line.newest:
            line.newest = self._id_of(item)
            line.ready.append(item)
        if line.task is None:
            line.task = asyncio.create_task(self._run(key, line), name=f"{self._store} {key}")

    def skip(self, key: K, through: int) -> None:
        """Take the items of a key up to an id for worked off; for the work that did them with an earlier one."""
        if (line := self._lines.get(key)) is not None:
            line.ready = deque(item for item in line.ready if self._id_of(item) > through)
            line.done, line.newest = max(line.done, through), max(line.newest, through)

    def is_free(self, key: K) -> bool:
        """Return whether no item of `key` is at work."""
        return key not in self._lines

    @property
    def idle(self) -> bool:
        """Return whether no key has a worker."""
        return not self._lines

    async def wait_idle(self) -> None:
        """Return once no key has a worker."""
        while tasks := self._tasks():
            await asyncio.wait(tasks)

    async def wait_free(self, key: K) -> None:
        """Return once no item of `key` is at work."""
        while (line := self._lines.get(key)) is not None and line.task is not None:
            await asyncio.wait({line.task})

    async def stop(self, grace: float) -> None:
        """Begin no more items; give those at work `grace` seconds and leave the rest to the store."""
        self._stopping = True
        await finish_or_cancel(self._tasks(), grace)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [line.task for line in self._lines.values() if line.task is not None]

    async def _run(self, key: K, line: _Line[T]) -> None:
        try:
            with run_at_rank(Rank.TURN):  # background work may have queued the first item
                await self._work_off(key, line)
        finally:
            del self._lines[key]

    async def _work_off(self, key: K, line: _Line[T]) -> None:
        while not self._stopping:
            try:
                if not await self._step(key, line):
                    return
            except StoreError as error:
                _log.error("the %s cannot be used: %s", self._store, error)
                line.ready.clear()
                line.newest, line.more = line.done, True
                await self._clock.sleep(_STORE_PAUSE)

    async def _step(self, key: K, line: _Line[T]) -> bool:
        """Work off one item, or fill `ready`; returns whether the key's run goes on."""
        if line.ready:
            item = line.ready.popleft()
            going_on = await self._work(key, item) is not False
            line.done = max(line.done, self._id_of(item))
            return going_on
        if not line.more:
            return False
        line.more, line.reading = False, True
        try:
            line.ready.extend(await self._fetch(key, line.done, self._ahead))
        finally:
            line.reading = False
        if line.ready:
            line.newest = max(line.newest, self._id_of(line.ready[-1]))
        line.more = line.more or len(line.ready) == self._ahead
        return True


# ── jobs at intervals ────────────────────────────────────────────────────────────────────────────────────────────

Job = Callable[[], Awaitable[None]]

SCHEDULER_MODULES = (
    "apscheduler.schedulers.asyncio",
    "apscheduler.triggers.interval",
    "apscheduler.jobstores.memory",
    "apscheduler.executors.asyncio",
)
"""The modules that a `Scheduler` loads when it starts."""


class Scheduler:
    """Run jobs while started: a late one once, however late; a failing one is logged and runs again.

    A full disk is logged once a job until the job succeeds again: the log may lie on the same disk.
    least: seconds between two runs of a job, however often it is to run.
    """

    def __init__(self, least: float = 0.0) -> None:
        self._least = least
        self._jobs: list[tuple[str, float, Job]] = []  # bounded: the jobs there are; start
        self._running: set[asyncio.Task[Any]] = set()  # bounded: the jobs there are; turn
        # bounded: the jobs there are; test_a_full_disk_is_logged_once_until_it_works_again
        self._hindered: set[str] = set()
        self._stopping = False
        self._scheduler: Any = None

    def run_every(self, seconds: float, name: str, job: Job) -> None:
        """Run `job` every `seconds` after `start`."""
        self._jobs.append((name, max(seconds, self._least), job))

    async def start(self) -> None:
        """Begin. The imports come only now, and in another thread, so that start-up is short."""
        modules = [await asyncio.to_thread(importlib.import_module, name) for name in SCHEDULER_MODULES]
        schedulers, triggers, stores, executors = modules
        # By name they would be looked up among the installed packages, which takes file descriptors.
        scheduler = schedulers.AsyncIOScheduler(
            timezone=UTC,
            jobstores={"default": stores.MemoryJobStore()},
            executors={"default": executors.AsyncIOExecutor()},
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        for name, seconds, job in self._jobs:
            every = triggers.IntervalTrigger(seconds=seconds, timezone=UTC)
            scheduler.add_job(self._run, every, args=(name, job), id=name)
        scheduler.start()  # may fail, such as without a file descriptor: then there is nothing to stop
        self._scheduler = scheduler

    async def run_all_now(self) -> None:
        """Run every job now, one after the other: for a clock that is moved by hand."""
        for name, _, job in self._jobs:
            await self._run(name, job)

    async def stop(self, grace: float | None = None) -> None:
        """Start no more jobs and await those at work: the scheduler itself would cancel them.

        grace: seconds after which they are cancelled.
        """
        if self._scheduler is None:
            return
        self._stopping = True
        self._scheduler.pause()
        await finish_or_cancel(self._running, grace)
        self._scheduler.shutdown(wait=False)
        self._scheduler = None
        await asyncio.sleep(0)  # it shuts down in the loop's next round

    async def _run(self, name: str, job: Job) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            with run_at_rank(Rank.LATER):
                await job()
            self._hindered.discard(name)
        except StoreError as error:
            if name not in self._hindered:
                self._hindered.add(name)
                _log.warning("scheduled job %s has to wait: %s", name, error)
        except Exception:
            _log.exception("scheduled job %s failed", name)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            _log.info("scheduled job %s was broken off", name)
        finally:
            self._running.discard(task)
