"""Many homes in the process of one worker: what they share, and what is left of those that were put away."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import psycopg
import pytest
from procrastinate.jobs import Job
from procrastinate.manager import JobManager

from kenobot.storage.shared_threads import ThreadCounts
from kenobot_host import warm_home
from kenobot_host.activation import Activation
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.warm_home import HostServices, WarmHomes
from kenobot_host.worker import WorkerOptions, run_worker
from kenobot_host.working_copies import WorkingCopies
from tests.crash.world import Model
from tests.hosting.many import ManyHomes
from tests.hosting.server import PostgresServer
from tests.integration.stand_in import KEY, Telegram

_HOMES = 12


@dataclass
class House:
    """A worker in this process, and a bot with a chat for each of its homes."""

    homes: ManyHomes
    telegram: Telegram
    folder: Path

    async def talk(self, homes: range) -> None:
        """Say something in some homes, and wait for the answers."""
        wanted = len(self.telegram.sent) + len(homes)
        await self.homes.say(homes, "hello")
        await _wait(lambda: len(self.telegram.sent) >= wanted)

    def count_jobs(self, *states: str) -> int:
        """Count the jobs that are in one of some states."""
        with psycopg.connect(self.homes.url, autocommit=True) as connection:
            row = connection.execute(
                "SELECT count(*) FROM procrastinate_jobs WHERE status::text = ANY(%s)", (list(states),)
            ).fetchone()
        assert row is not None
        return int(row[0])

    def list_holders(self) -> list[tuple[int, int, int]]:
        """List the jobs of open homes with their worker and how often they were begun."""
        with psycopg.connect(self.homes.url, autocommit=True) as connection:
            return connection.execute(
                "SELECT id, worker_id, attempts FROM procrastinate_jobs WHERE status = 'doing' ORDER BY id"
            ).fetchall()

    def count_files(self) -> int:
        """Count the files of working copies that are held open."""
        links = (each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink())
        return sum(link.is_relative_to(self.folder) for link in links if link.suffix != ".lock")


@asynccontextmanager
async def _run_house(url: str, folder: Path, idle_seconds: float) -> AsyncIterator[House]:
    connections, stop = Connections(url, 8).open(), asyncio.Event()
    async with Telegram() as telegram, Model() as model:
        build = partial(ManyHomes.build, url, _HOMES, folder, telegram.base_url, model.url)
        homes = await asyncio.to_thread(build)
        copies = WorkingCopies(HomeStore(connections), None)
        options = WorkerOptions(url, folder / "copies", _HOMES, idle_seconds, "worker")
        working = asyncio.create_task(run_worker(options, copies, BotTokens(None), stop))
        try:
            yield House(homes, telegram, folder / "copies")
        finally:
            stop.set()
            await working
            connections.close()


async def _wait(happy: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not happy():
            await asyncio.sleep(0.05)


def _count_timers() -> int:
    handles: list[asyncio.TimerHandle] = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    return sum(not handle.cancelled() for handle in handles)


def _count_threads() -> int:
    """Count the threads that work for databases."""
    names = ("kenobot-writer", "kenobot-reader", "kenobot-background", "kenobot-pulse")
    return sum(thread.name.startswith(names) for thread in threading.enumerate())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the model, which all homes of a worker share."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


async def test_open_homes_share_their_threads(database_url: str, tmp_path: Path) -> None:
    """Twelve have as many as one would; there are no memory files, and each answers what it was asked."""
    counts = ThreadCounts()
    before = _count_threads()
    async with _run_house(database_url, tmp_path, 300.0) as house:
        await house.talk(range(_HOMES))
        await house.talk(range(_HOMES))
        assert house.count_jobs("doing") == _HOMES
        assert _count_threads() - before <= counts.writing + counts.reading + counts.behind
        assert {sent.chat for sent in house.telegram.sent} == {house.homes.chat_of(home) for home in range(_HOMES)}
        assert {path.name for path in house.folder.glob("*/memory/*")} == {"identity"}
    assert _count_threads() == before


async def test_a_home_that_was_put_away_costs_nothing(database_url: str, tmp_path: Path) -> None:
    """Twelve leave no task, no timer, no thread and no open file more than one does, and no job that waits."""
    async with _run_house(database_url, tmp_path, 0.5) as house:
        for homes in (range(1), range(_HOMES)):
            await house.talk(homes)
            await _wait(lambda: house.count_jobs("doing", "todo") == 0)
            await _wait(lambda: house.count_files() == 0)
            if len(homes) == 1:
                tasks, threads = len(asyncio.all_tasks()), _count_threads()
        await _wait(lambda: len(asyncio.all_tasks()) <= tasks and _count_threads() <= threads)
        await _wait(lambda: _count_timers() <= 12)  # the worker's own, and deadlines that are over
        await house.talk(range(_HOMES))


async def test_activations_of_a_home_take_their_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes in the moment in which another ends waits behind one that waited before it."""
    at_work, served = 0, list[int]()

    async def serve(homes: WarmHomes, activation: Activation, released: asyncio.Event) -> None:
        nonlocal at_work
        at_work += 1
        assert at_work == 1, "two have the home open"
        await asyncio.sleep(0)
        served.append(activation.job)
        at_work -= 1
        if activation.job == 1:
            tasks.append(asyncio.create_task(begin(3)))

    async def begin(job: int) -> None:
        await homes.serve(Activation(7, job, job, 0), asyncio.Event())

    monkeypatch.setattr(WarmHomes, "_serve", serve)
    homes = WarmHomes(cast("HostServices", None))
    tasks = [asyncio.create_task(begin(job)) for job in (1, 2)]
    await _wait(lambda: len(served) == 3)
    await asyncio.gather(*tasks)
    assert served == [1, 2, 3]


async def test_what_was_sent_is_recorded_also_by_a_worker_that_has_to_end() -> None:
    """It is cancelled when that is done, and not before."""
    done, going = list[str](), asyncio.Event()

    async def record() -> None:
        await going.wait()
        done.append("recorded")

    task = asyncio.create_task(warm_home.finish_also_when_cancelled(record()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    going.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["recorded"]


async def test_homes_stay_open_while_postgres_is_killed_and_started_again(
    own_postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their worker goes on although it could fetch nothing, and all that was said is answered once."""
    fetch, failures = JobManager.fetch_job, list[Exception]()

    async def note_failure(manager: JobManager, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        try:
            return await fetch(manager, queues, worker_id)
        except Exception as error:
            failures.append(error)
            raise

    monkeypatch.setattr(JobManager, "fetch_job", note_failure)
    homes = range(_HOMES // 2)  # a worker that is full fetches nothing
    async with _run_house(own_postgres.url, tmp_path, 300.0) as house:
        await house.talk(homes)
        held = house.list_holders()
        own_postgres.kill()
        await _wait(lambda: bool(failures))
        own_postgres.start()
        await house.talk(homes)
        await house.talk(range(len(homes), _HOMES))  # which have to be fetched
        assert house.list_holders()[: len(homes)] == held
        assert len(house.telegram.sent) == len(homes) + _HOMES
