"""The database: group commit, snapshots, errors, migrations."""

import asyncio
import logging
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kenobot import db
from kenobot.db import Connection, Database, connect, savepoint
from kenobot.errors import ConfigError, StoreCorrupt, StoreError, StoreFull
from tests.samples import scalar

_SHIPPED = db.migrations()
_NEWEST = _SHIPPED[-1][0]


def _keep(key: str, value: str = "1") -> Callable[[Connection], object]:
    return lambda connection: connection.execute("INSERT INTO state (key, value) VALUES (?, ?)", (key, value))


def _keys(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT key FROM state ORDER BY key")]


async def _held(database: Database) -> threading.Event:
    """Keep the writer busy until the returned event is set, so that what follows shares one commit."""
    begun, release = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        begun.set()
        release.wait(10)

    database.post(work)
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
    database.post(lambda connection: connection.set_trace_callback(statements.append))
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
    async with asyncio.timeout(5):
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
        "print(connection.execute('SELECT key FROM state').fetchall())\n"
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
        database.post(broken)
        await database.write(_keep("after"))
    assert "nobody listens" in caplog.text


async def test_close_finishes_what_was_submitted(tmp_path: Path) -> None:
    """Nothing that was handed in before is lost, and nothing more is taken in."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    jobs = [database.submit(_keep(f"{number:04}")) for number in range(1000)]
    database.post(_keep("posted"))
    await database.close()
    await asyncio.gather(*jobs)
    with pytest.raises(StoreError):
        await database.write(_keep("late"))
    with pytest.raises(StoreError):
        await database.read(_keys)
    database.post(_keep("late"))
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


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def _open(folder: Path) -> None:
    await Database.open(folder / "kenobot.db", folder / "backups").close()


async def test_the_file_is_for_its_owner_only(tmp_path: Path, database: Database) -> None:
    """The database and its companions are readable by nobody else."""
    await database.write(_keep("private"))
    files = sorted(tmp_path.glob("kenobot.db*"))
    assert [file.name for file in files] == ["kenobot.db", "kenobot.db-shm", "kenobot.db-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize(
    "content", [b"# not a database\n", b"x" * 5000, b"\0" * 4096, b"SQLite format 3\0" + b"\0" * 900]
)
async def test_what_is_not_a_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """A damaged file is reported and stays exactly as it was."""
    (tmp_path / "kenobot.db").write_bytes(content)
    (tmp_path / "kenobot.db").chmod(0o600)
    with pytest.raises(StoreCorrupt):
        await _open(tmp_path)
    assert _listing(tmp_path) == {"kenobot.db": content}


async def test_a_folder_in_its_place_is_for_a_person_to_mend(tmp_path: Path) -> None:
    """What cannot be opened at all is a ConfigError that names the file."""
    (tmp_path / "kenobot.db").mkdir()
    with pytest.raises(ConfigError, match=r"kenobot\.db"):
        await _open(tmp_path)


async def test_a_missing_folder_is_for_a_person_to_mend(tmp_path: Path) -> None:
    """The folder is the home's affair, the database does not make it."""
    with pytest.raises(ConfigError):
        await _open(tmp_path / "nowhere")


async def test_a_newer_database_is_refused_untouched(tmp_path: Path) -> None:
    """A file from a newer KenoBot keeps every byte, and nothing appears beside it."""
    await _open(tmp_path)
    connection = sqlite3.connect(tmp_path / "kenobot.db")
    connection.execute(f"PRAGMA user_version = {_NEWEST + 1}")
    connection.close()
    before = _listing(tmp_path)
    with pytest.raises(ConfigError, match="newer KenoBot"):
        await _open(tmp_path)
    assert _listing(tmp_path) == before


@pytest.mark.parametrize("files", [("", "-wal"), ("", "-wal", "-shm")])
async def test_a_newer_version_that_stands_only_in_the_log_is_refused_untouched(
    tmp_path: Path, files: tuple[str, ...]
) -> None:
    """After a kill the newer version may not have reached the main file yet; it counts all the same."""
    await _open(tmp_path)
    killed = tmp_path / "killed"
    killed.mkdir()
    connection = sqlite3.connect(tmp_path / "kenobot.db")
    connection.execute("CREATE TABLE filler (x)")
    connection.execute(f"PRAGMA user_version = {_NEWEST + 1}")
    connection.execute("INSERT INTO filler VALUES (1)")
    connection.commit()
    for file in files:
        shutil.copy(tmp_path / f"kenobot.db{file}", killed / f"kenobot.db{file}")
    connection.close()
    before = _listing(killed)
    assert int.from_bytes(before["kenobot.db"][60:64], "big") == _NEWEST
    with pytest.raises(ConfigError, match="newer KenoBot"):
        await _open(killed)
    assert _listing(killed) == before


async def test_a_newer_version_that_was_never_committed_does_not_count(tmp_path: Path) -> None:
    """What SQLite itself would discard from the log is no reason to refuse."""
    await _open(tmp_path)
    killed = tmp_path / "killed"
    killed.mkdir()
    connection = sqlite3.connect(tmp_path / "kenobot.db", isolation_level=None)
    connection.execute("CREATE TABLE filler (x)")
    committed = (tmp_path / "kenobot.db-wal").stat().st_size
    connection.execute("BEGIN")
    connection.execute(f"PRAGMA user_version = {_NEWEST + 1}")
    connection.execute("CREATE TABLE more (x)")
    connection.execute("COMMIT")
    shutil.copy(tmp_path / "kenobot.db", killed)
    log = (tmp_path / "kenobot.db-wal").read_bytes()
    assert len(log) > committed + 2000
    (killed / "kenobot.db-wal").write_bytes(log[:-2000])
    connection.close()
    await _open(killed)


async def test_a_database_that_was_killed_opens_with_all_it_had(tmp_path: Path, database: Database) -> None:
    """What stands only in the log is there after a kill."""
    await database.write(_keep("precious"))
    killed = tmp_path / "killed"
    killed.mkdir()
    for file in ("kenobot.db", "kenobot.db-wal"):
        shutil.copy(tmp_path / file, killed)
    again = Database.open(killed / "kenobot.db", killed / "backups")
    assert await again.read(_keys) == ["precious"]
    await again.close()


# ── migrations ───────────────────────────────────────────────────────────────────────────────────────────────────


def _ship(monkeypatch: pytest.MonkeyPatch, *scripts: str) -> None:
    extra = [(_NEWEST + number, script) for number, script in enumerate(scripts, 1)]
    monkeypatch.setattr(db, "migrations", lambda: [*_SHIPPED, *extra])


async def test_the_migrations_are_numbered_without_gaps() -> None:
    """1, 2, 3 … so that a number says what a database has been through."""
    assert [number for number, _ in _SHIPPED] == list(range(1, len(_SHIPPED) + 1))


async def test_a_new_database_needs_no_backup(tmp_path: Path) -> None:
    """There is nothing yet to keep."""
    await _open(tmp_path)
    assert not (tmp_path / "backups").exists()


async def test_each_migration_is_preceded_by_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy holds everything as it was, at the version it was, for the owner's eyes only."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    await database.write(_keep("old"))
    await database.close()
    _ship(monkeypatch, "CREATE TABLE one (x);", "CREATE TABLE two (x); INSERT INTO state VALUES ('new', '1');")
    await _open(tmp_path)
    names = [f"kenobot-before-{_NEWEST + number:04d}.db" for number in (1, 2)]
    assert sorted(path.name for path in (tmp_path / "backups").iterdir()) == names
    for number, name in enumerate(names):
        assert stat.S_IMODE((tmp_path / "backups" / name).stat().st_mode) == 0o600
        copy = connect(tmp_path / "backups" / name, readonly=True)
        assert _keys(copy) == ["old"]
        assert copy.execute("PRAGMA user_version").fetchone() == (_NEWEST + number,)
        copy.close()
    await _open(tmp_path)
    assert len(list((tmp_path / "backups").iterdir())) == 2


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database stays at the version before it, and the backup is there."""
    await _open(tmp_path)
    _ship(monkeypatch, "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(ConfigError):
        await _open(tmp_path)
    connection = connect(tmp_path / "kenobot.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (_NEWEST,)
    assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall() == []
    connection.close()
    assert len(list((tmp_path / "backups").iterdir())) == 1


async def test_a_backup_that_cannot_be_made_stops_the_migration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a copy nothing is changed, and a person is told."""
    await _open(tmp_path)
    (tmp_path / "backups").write_text("in the way")
    _ship(monkeypatch, "CREATE TABLE one (x);")
    with pytest.raises(ConfigError):
        await _open(tmp_path)
    connection = connect(tmp_path / "kenobot.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (_NEWEST,)
    connection.close()


async def test_only_the_newest_backups_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five of them, so that a disk does not fill with copies."""
    await _open(tmp_path)
    _ship(monkeypatch, *(f"CREATE TABLE t{number} (x);" for number in range(8)))
    await _open(tmp_path)
    kept = sorted(path.name for path in (tmp_path / "backups").iterdir())
    assert kept == [f"kenobot-before-{_NEWEST + number:04d}.db" for number in range(4, 9)]


@pytest.mark.parametrize("table", ["inbox", "outbox", "message", "record", "event"])
async def test_a_number_is_never_given_twice(database: Database, table: str) -> None:
    """Rows elsewhere refer to these numbers, so the newest row's must not come back after it was pruned."""
    sql = await scalar(database, "SELECT sql FROM sqlite_master WHERE name = ?", table)
    assert "PRIMARY KEY AUTOINCREMENT" in str(sql)


async def test_what_another_process_writes_is_noticed_once(database: Database) -> None:
    """Our own writes do not count; looking itself writes nothing."""
    await database.changed_elsewhere()
    assert not await database.changed_elsewhere()
    await database.write(lambda connection: connection.execute("INSERT INTO state VALUES ('ours', '1')"))
    assert not await database.changed_elsewhere()
    foreign = connect(database._path)
    foreign.execute("INSERT INTO state VALUES ('theirs', '1')")
    foreign.close()
    assert await database.changed_elsewhere()
    assert not await database.changed_elsewhere()


async def test_the_first_look_assumes_a_change(database: Database) -> None:
    """Whoever looks for the first time cannot know what happened before."""
    assert await database.changed_elsewhere()
