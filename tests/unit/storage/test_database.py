"""The database: group commit, snapshots, errors."""

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from kenobot.core.pacing import Rank, run_at_rank
from kenobot.ports.errors import StoreError, StoreFull
from kenobot.storage.connection import LOG_BYTES_AT_REST, Connection, connect, savepoint
from kenobot.storage.database import Database
from tests.waiting import until


def _keep(key: str, value: str = "1") -> Callable[[Connection], object]:
    return lambda connection: connection.execute("INSERT INTO key_value (key, value) VALUES (?, ?)", (key, value))


def _keys(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT key FROM key_value ORDER BY key")]


async def _held(database: Database) -> threading.Event:
    """Keep the writer busy until the returned event is set, so that what follows shares one commit."""
    begun, release = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        begun.set()
        release.wait(10)

    database.write_nowait(work)
    await asyncio.to_thread(begun.wait, 10)
    return release


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_failing_write_takes_down_nobody_else(database: Database) -> None:
    """Writes that share a commit fail alone, each with its own error, and leave nothing behind."""

    def broken(connection: Connection) -> None:
        _keep("half")(connection)
        raise ValueError("mine alone")

    release = await _held(database)
    jobs = [database.submit(work) for work in (_keep("a"), broken, _keep("a"), _keep("b"))]
    release.set()
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(results[1], ValueError)
    assert isinstance(results[2], StoreError)
    assert not any(isinstance(results[index], BaseException) for index in (0, 3))
    assert await database.read(_keys) == ["a", "b"]


@pytest.mark.parametrize("beside", [False, True])
async def test_what_rescues_a_failed_write_is_written_in_its_place(database: Database, *, beside: bool) -> None:
    """It is written when the work raises, with none of the work, and not when the work succeeds."""

    def broken(connection: Connection) -> None:
        _keep("half")(connection)
        raise ValueError("mine alone")

    release = await _held(database)
    jobs: list[Awaitable[object]] = [
        database.submit(broken, _keep("rescued")),
        database.submit(_keep("whole"), _keep("not needed")),
    ]
    if beside:
        jobs.append(database.submit(broken, broken))
    release.set()
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [isinstance(result, ValueError) for result in results] == [True, False, True][: len(results)]
    assert await database.read(_keys) == ["rescued", "whole"]


async def test_the_order_of_submission_is_kept(database: Database) -> None:
    """However writes are grouped, they run in the order in which they were submitted."""
    order: list[int] = []

    def note(number: int) -> Callable[[Connection], None]:
        return lambda connection: order.append(number)

    await asyncio.gather(*(database.submit(note(number)) for number in range(2000)))
    assert order == list(range(2000))


async def test_writes_that_wait_share_one_commit(database: Database) -> None:
    """A hundred writes behind a slow one cost one transaction."""
    release = await _held(database)
    statements: list[str] = []
    database.write_nowait(lambda connection: connection.set_trace_callback(statements.append))
    jobs = [database.submit(_keep(str(number))) for number in range(100)]
    release.set()
    await asyncio.gather(*jobs)
    await database.write(lambda connection: connection.set_trace_callback(None))
    assert statements.count("COMMIT") == 1


async def test_a_patient_write_is_on_disk_when_it_returns(database: Database) -> None:
    """Alone or in company; it keeps its place among the others and fails alone."""

    def broken(connection: Connection) -> None:
        raise ValueError("mine alone")

    await database.write_soon(_keep("alone"))
    order: list[str] = []
    results = await asyncio.gather(
        database.write_soon(lambda connection: order.append("first")),
        database.write_soon(broken),
        database.write(lambda connection: order.append("second")),
        database.write_soon(lambda connection: order.append("third")),
        return_exceptions=True,
    )
    assert order == ["first", "second", "third"]
    assert [type(result) for result in results] == [type(None), ValueError, type(None), type(None)]
    assert await database.read(_keys) == ["alone"]


async def test_a_patient_write_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """Closing finishes it at once."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    late = asyncio.create_task(database.write_soon(_keep("late")))
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await database.close()
    await late
    with pytest.raises(StoreError):
        await database.write_soon(_keep("too late"))


async def test_what_write_returned_from_is_on_disk(database: Database, tmp_path: Path) -> None:
    """Another process sees it at once."""
    await database.write(_keep("seen"))
    program = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1])\n"
        "print(connection.execute('SELECT key FROM key_value').fetchall())\n"
        "print(connection.execute('PRAGMA quick_check').fetchone())\n"
        "connection.close()"
    )
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", program, str(tmp_path / "kenobot.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[('seen',)]\n('ok',)"


async def test_commits_are_synced(database: Database) -> None:
    """The writer works in WAL mode with full synchronisation, and keeps foreign keys."""
    found = await database.write(
        lambda connection: [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    )
    assert found == ["wal", 2, 1]


async def test_a_large_log_is_emptied_at_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once nothing has been written for a while the write-ahead log is in the database, and what follows is written."""
    monkeypatch.setattr("kenobot.storage.database._QUIET_SECONDS", 0.001)
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    log = tmp_path / "kenobot.db-wal"
    await database.write(_keep("large", "x" * 2 * LOG_BYTES_AT_REST))
    await until(lambda: not log.stat().st_size)
    await database.write(_keep("later"))
    assert await database.read(_keys) == ["large", "later"]
    await database.close()


async def test_a_cancelled_waiter_does_not_break_the_writer(database: Database) -> None:
    """Whoever stops waiting for a write stops nobody else's, and its own still happens."""
    release = await _held(database)
    waiter = asyncio.create_task(database.write(_keep("mine")))
    other = asyncio.create_task(database.write(_keep("other")))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    release.set()
    await other
    await database.write(_keep("later"))
    assert await database.read(_keys) == ["later", "mine", "other"]


async def test_a_posted_write_that_fails_is_logged(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for it, so the log has to tell."""

    def broken(connection: Connection) -> None:
        raise ValueError("nobody listens")

    with caplog.at_level(logging.WARNING):
        database.write_nowait(broken)
        await database.write(_keep("after"))
    assert "nobody listens" in caplog.text


async def test_close_finishes_what_was_submitted(tmp_path: Path) -> None:
    """Nothing that was handed in before is lost, and nothing more is taken in."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    jobs = [database.submit(_keep(f"{number:04}")) for number in range(1000)]
    database.write_nowait(_keep("posted"))
    await database.close()
    await asyncio.gather(*jobs)
    with pytest.raises(StoreError):
        await database.write(_keep("late"))
    with pytest.raises(StoreError):
        await database.read(_keys)
    database.write_nowait(_keep("late"))
    await database.close()
    connection = connect(tmp_path / "kenobot.db")
    assert len(_keys(connection)) == 1001
    connection.close()


async def test_a_savepoint_undoes_its_block(database: Database) -> None:
    """What a block wrote before it raised is gone; what stood around it stays."""

    def work(connection: Connection) -> None:
        _keep("around")(connection)
        with pytest.raises(ValueError, match="inside"), savepoint(connection):
            _keep("within")(connection)
            raise ValueError("inside")

    await database.write(work)
    assert await database.read(_keys) == ["around"]


# ── long work ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _keep_many(count: int) -> Callable[[Connection], Generator[None, None, str]]:
    def work(connection: Connection) -> Generator[None, None, str]:
        for number in range(count):
            _keep(f"step {number:03}")(connection)
            yield
        return "all"

    return work


async def test_long_work_is_done_in_bounded_transactions_and_others_write_in_between(database: Database) -> None:
    """No transaction holds more steps than it may, and what is submitted meanwhile does not wait for the end."""
    kept: list[int] = []

    async def look() -> None:
        while not long.done():
            kept.append(len(await database.write(_keys)))

    long = asyncio.create_task(database.write_in_steps(_keep_many(40), 8))
    await look()
    assert await long == "all"
    assert {8, 16, 24, 32} <= set(kept)
    assert all(count % 8 == 0 for count in kept)


async def test_long_work_that_nobody_waits_for_any_more_ends(database: Database) -> None:
    """What it wrote stays."""
    begun = threading.Event()

    def work(connection: Connection) -> Generator[None, None, None]:
        for number in range(1_000_000):
            _keep(f"{number}")(connection)
            begun.set()
            yield

    long = asyncio.create_task(database.write_in_steps(work, 2))
    await asyncio.to_thread(begun.wait, 10)
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long
    await database.write(_keep("after"))
    kept = await database.read(_keys)
    assert 2 <= len(kept) - 1 < 100_000  # some more, until the cancellation has come to the thread
    await database.write(_keep("later"))
    assert len(await database.read(_keys)) == len(kept) + 1


@pytest.mark.no_replay("a statement with triggers is undone alone")
async def test_steps_that_a_full_disk_undid_are_not_passed_over(database: Database) -> None:
    """The work fails, so that it is done again as a whole."""
    await _fill(database)
    release = await _held(database)
    long = asyncio.create_task(database.write_in_steps(_keep_many(8), 4))
    await asyncio.sleep(0)
    big = database.submit(_keep("big", "x" * 100_000))
    release.set()
    with pytest.raises(StoreFull):
        await big
    with pytest.raises(StoreFull):
        await long
    assert await database.read(_keys) == []


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_read_sees_one_snapshot(database: Database) -> None:
    """What is committed while a read is under way does not change what it sees."""
    started, go_on = threading.Event(), threading.Event()

    def work(connection: Connection) -> tuple[list[str], list[str]]:
        before = _keys(connection)
        started.set()
        go_on.wait(10)
        return before, _keys(connection)

    reading = asyncio.create_task(database.read(work))
    await asyncio.to_thread(started.wait, 10)
    await database.write(_keep("new"))
    go_on.set()
    assert await reading == ([], [])
    assert await database.read(_keys) == ["new"]


async def test_a_reader_cannot_write(database: Database) -> None:
    """A write that strays into a read is refused as a StoreError."""
    with pytest.raises(StoreError):
        await database.read(_keep("stray"))
    assert await database.read(_keys) == []


async def test_a_reader_that_cannot_open_the_file_says_so_in_our_words(database: Database, tmp_path: Path) -> None:
    """Whatever SQLite raises in a read comes out as a StoreError, opening included."""
    await database.write(_keep("there"))
    (tmp_path / "kenobot.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(StoreError):
        await database.read(_keys)
    (tmp_path / "elsewhere.db").rename(tmp_path / "kenobot.db")
    assert await database.read(_keys) == ["there"]


async def test_a_read_that_fails_leaves_the_reader_fit(database: Database) -> None:
    """The next read on the same connection starts clean."""
    for _ in range(5):
        with pytest.raises(StoreError):
            await database.read(lambda connection: connection.execute("SELECT * FROM nowhere"))
        with pytest.raises(ZeroDivisionError):
            await database.read(lambda connection: 1 / 0)
    assert await database.read(_keys) == []


# ── a disk that fails ────────────────────────────────────────────────────────────────────────────────────────────


async def _fill(database: Database) -> None:
    """Leave no room for more than a few pages."""
    await database.write(
        lambda connection: connection.execute(
            f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0] + 4}"
        ).fetchall()
    )


async def test_a_full_disk_is_a_store_full_and_passes(database: Database) -> None:
    """It is told from other errors, nothing half-written stays, and with room again all is well."""
    await _fill(database)
    with pytest.raises(StoreFull):
        await database.write(_keep("big", "x" * 100_000))
    assert await database.read(_keys) == []
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchall())
    await database.write(_keep("big", "x" * 100_000))
    assert await database.read(_keys) == ["big"]


async def test_one_write_too_big_for_the_disk_takes_down_nobody_else(database: Database) -> None:
    """SQLite undoes the whole transaction when the disk is full; those that fit are saved nevertheless."""
    await _fill(database)
    release = await _held(database)
    jobs = [database.submit(work) for work in (_keep("a"), _keep("big", "x" * 100_000), _keep("b"))]
    release.set()
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(results[1], StoreFull)
    assert not any(isinstance(results[index], BaseException) for index in (0, 2))
    assert await database.read(_keys) == ["a", "b"]


async def test_a_read_only_disk_is_a_store_full(database: Database) -> None:
    """A file system that became read-only is met with the same patience as a full one."""
    await database.write(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())
    with pytest.raises(StoreFull):
        await database.write(_keep("no"))


async def test_our_own_mistakes_are_not_disk_errors(database: Database) -> None:
    """A wrong statement is a StoreError, neither full nor corrupt."""
    with pytest.raises(StoreError) as caught:
        await database.write(lambda connection: connection.execute("INSERT INTO nowhere VALUES (1)"))
    assert type(caught.value) is StoreError


# ── an end in time ───────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock to write, as another program may."""
    with closing(connect(path)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        yield
        foreign.execute("ROLLBACK")


async def test_a_lock_of_another_program_is_waited_for(database: Database) -> None:
    """What was to be written meanwhile is written afterwards."""
    with _locked(database._path):
        late = asyncio.create_task(database.write(_keep("late")))
        await asyncio.wait({late}, timeout=0.3)
        assert not late.done()
    await late
    assert await database.read(_keys) == ["late"]


async def test_a_lock_of_another_program_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """Closing within a grace waits for no lock: what could not be written says so, and the file is whole."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    with _locked(tmp_path / "kenobot.db"):
        late = [asyncio.create_task(database.write(_keep(f"{number}"))) for number in range(3)]
        await asyncio.sleep(0)
        async with asyncio.timeout(8):  # it would be waited for ten seconds
            await database.close(1)
            results = await asyncio.gather(*late, return_exceptions=True)
    assert all(isinstance(result, StoreError) for result in results)
    with closing(connect(tmp_path / "kenobot.db")) as connection:
        assert _keys(connection) == []


async def test_what_is_at_work_beyond_the_grace_is_broken_off_and_undone(tmp_path: Path) -> None:
    """A statement that does not end, or a transaction of many: the end does not wait for them."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    begun = threading.Event()

    def work(connection: Connection) -> None:
        _keep("half")(connection)
        begun.set()
        connection.execute("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")

    endless = asyncio.create_task(database.write(work))
    await asyncio.to_thread(begun.wait, 10)
    await database.close(0.1)
    with pytest.raises(StoreError):
        await endless
    assert not database._writer.is_alive()
    with closing(connect(tmp_path / "kenobot.db")) as connection:
        assert _keys(connection) == []


# ── beside other processes ───────────────────────────────────────────────────────────────────────────────────────


async def test_what_another_process_writes_is_noticed_once(database: Database) -> None:
    """Our own writes do not count; looking itself writes nothing."""
    await database.has_changed_elsewhere()
    assert not await database.has_changed_elsewhere()
    await database.write(lambda connection: connection.execute("INSERT INTO key_value VALUES ('ours', '1')"))
    assert not await database.has_changed_elsewhere()
    foreign = connect(database._path)
    foreign.execute("INSERT INTO key_value VALUES ('theirs', '1')")
    foreign.close()
    assert await database.has_changed_elsewhere()
    assert not await database.has_changed_elsewhere()


async def test_the_first_look_assumes_a_change(database: Database) -> None:
    """Whoever looks for the first time cannot know what happened before."""
    assert await database.has_changed_elsewhere()


# ── behind the turns ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_turn_reads_at_once_whatever_background_work_reads(database: Database) -> None:
    """However much of it waits, and however long one of them takes, the readers of the turns are free."""
    held = threading.Event()
    with run_at_rank(Rank.SOON):
        behind = [asyncio.create_task(database.read(lambda connection: held.wait(20))) for _ in range(50)]
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        assert await asyncio.gather(*(database.read(lambda connection: 1) for _ in range(50))) == [1] * 50
    assert not any(task.done() for task in behind)
    held.set()
    await asyncio.gather(*behind)


async def test_background_work_is_done_by_rank_and_then_in_order(database: Database) -> None:
    """What the next turn may build on comes before what may take until tomorrow."""
    held, done = threading.Event(), list[str]()

    def begin(rank: Rank, name: str) -> asyncio.Task[None]:
        with run_at_rank(rank):
            return asyncio.create_task(database.read(lambda connection: done.append(name)))

    with run_at_rank(Rank.SOON):
        first = asyncio.create_task(database.read(lambda connection: held.wait(20)))
    tasks = [begin(Rank.LATER, "a"), begin(Rank.SOON, "b"), begin(Rank.LATER, "c"), begin(Rank.SOON, "d")]
    await asyncio.sleep(0)
    held.set()
    await asyncio.gather(first, *tasks)
    assert done == ["b", "d", "a", "c"]


async def test_background_work_goes_on_beside_a_turn_that_never_ends(database: Database) -> None:
    """It reads and writes with its share of the time."""
    with database.pacer.turn(), run_at_rank(Rank.LATER):
        async with asyncio.timeout(60):
            await database.write(lambda connection: connection.execute("PRAGMA user_version").fetchone())
            assert await database.read(lambda connection: connection.execute("SELECT 1").fetchone()) == (1,)
            assert await database.read_long(lambda connection: connection.execute("SELECT 2").fetchone()) == (2,)


async def test_a_long_reading_of_a_turn_takes_no_rest(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only background work is held back for the turns."""
    taken: list[float | None] = []
    with database.pacer.turn():
        monkeypatch.setattr(database.pacer._free, "wait", taken.append)
        await database.read_long(lambda connection: connection.execute("SELECT 1").fetchone())
        assert not taken
        with run_at_rank(Rank.LATER):
            await database.read_long(lambda connection: connection.execute("SELECT 1").fetchone())
    assert taken
