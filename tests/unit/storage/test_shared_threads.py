"""Databases whose work a few threads do that all of them share."""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from kenobot.core.pacing import Rank, run_at_rank
from kenobot.ports.errors import StoreError
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.shared_threads import SharedThreads, ThreadCounts
from kenobot.storage.state import read_state, write_state
from tests.waiting import until

_FEW = ThreadCounts(writing=2, reading=2, behind=1, most_open=6)

Open = Callable[[str], Database]


@pytest_asyncio.fixture
async def threads() -> AsyncIterator[SharedThreads]:
    made = SharedThreads(_FEW)
    yield made
    await asyncio.to_thread(made.close)


@pytest_asyncio.fixture
async def open_database(threads: SharedThreads, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens databases that share the threads; they are closed at the end."""
    opened: list[Database] = []

    def make(name: str) -> Database:
        opened.append(Database.open(tmp_path / f"{name}.db", tmp_path / "backups", threads))
        return opened[-1]

    yield make
    for database in opened:
        await database.close()


def _count_threads() -> int:
    return sum(thread.name.startswith("kenobot-") for thread in threading.enumerate())


def _put(value: str) -> Callable[[Connection], None]:
    return lambda connection: write_state(connection, "key", value)


def _get(connection: Connection) -> str | None:
    return read_state(connection, "key")


async def test_many_databases_share_few_threads(open_database: Open) -> None:
    """Twenty of them write, read and read behind the turns in five threads, each what is its own."""
    before = _count_threads()
    databases = [open_database(str(number)) for number in range(20)]
    await asyncio.gather(*(each.write(_put(f"of {number}")) for number, each in enumerate(databases)))
    wanted = [f"of {number}" for number in range(20)]
    assert await asyncio.gather(*(each.read(_get) for each in databases)) == wanted
    with run_at_rank(Rank.SOON):
        assert await asyncio.gather(*(each.read(_get) for each in databases)) == wanted
    assert _count_threads() - before <= 5


async def test_writes_of_a_database_keep_their_order(open_database: Open) -> None:
    """However many threads take them, and a failing one takes down nobody else."""
    database, done = open_database("a"), list[int]()

    def note(number: int) -> Callable[[Connection], None]:
        def work(connection: Connection) -> None:
            done.append(number)
            write_state(connection, "key", str(number))
            if number == 77:
                raise ValueError(number)

        return work

    results = [database.submit(note(number)) for number in range(200)]
    told = await asyncio.gather(*results, return_exceptions=True)
    assert done == list(range(200))
    assert [number for number, each in enumerate(told) if isinstance(each, ValueError)] == [77]
    assert await database.read(_get) == "199"


async def test_no_more_is_held_open_than_allowed(open_database: Open, threads: SharedThreads) -> None:
    """The connections that were not used for longest are closed, and opened again when they are needed."""
    databases = [open_database(str(number)) for number in range(20)]
    for turn in ("first", "second"):
        for each in databases:
            await each.write(_put(turn))
            assert await each.read(_get) == turn
    assert threads.open_lines <= _FEW.most_open
    await until(lambda: sum(each._connection is not None for each in databases) <= _FEW.most_open)


async def test_what_is_not_used_is_closed(open_database: Open, threads: SharedThreads, tmp_path: Path) -> None:
    """A database at rest holds no file open, and answers as before."""
    database, rested = open_database("a"), threading.Event()
    database.close_beside = rested.set

    def held() -> int:
        links = []
        for each in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # of the listing itself
                links.append(str(each.readlink()))
        return sum(str(tmp_path) in link for link in links)

    await database.write(_put("one"))
    assert await database.read(_get) == "one"
    assert held() > 0
    threads.close_unused(1000.0)
    assert threads.open_lines == 2
    threads.close_unused(0.0)
    await until(lambda: held() == 0 and rested.is_set())
    await database.write(_put("two"))
    assert await database.read(_get) == "two"


async def test_a_closed_one_finishes_what_was_submitted(open_database: Open, tmp_path: Path) -> None:
    """And takes no more; its threads go on for the others."""
    first, second = open_database("a"), open_database("b")
    waiting = [first.submit(_put(str(number))) for number in range(50)]
    await first.close()
    await asyncio.gather(*waiting)
    with pytest.raises(StoreError):
        await first.write(_put("late"))
    with sqlite3.connect(tmp_path / "a.db") as connection:
        assert _get(connection) == "49"
    await second.write(_put("on"))
    assert await second.read(_get) == "on"


async def test_one_that_cannot_be_opened_again_says_so(
    open_database: Open, threads: SharedThreads, tmp_path: Path
) -> None:
    """Its writes and reads fail; the threads go on."""
    database, other = open_database("a"), open_database("b")
    threads.close_unused(0.0)
    await database.write(_put("one"))
    threads.close_unused(0.0)
    await until(lambda: database._connection is None)
    for end in ("", "-wal", "-shm"):
        (tmp_path / f"a.db{end}").unlink(missing_ok=True)
    (tmp_path / "a.db").mkdir()
    with pytest.raises(Exception, match=r"a\.db"):
        await database.write(_put("two"))
    with pytest.raises(StoreError):
        await database.read(_get)
    await other.write(_put("on"))
    assert await other.read(_get) == "on"
