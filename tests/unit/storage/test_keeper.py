"""The keeper of a database: called in each transaction before its commit, and believed when it refuses."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from kenobot.ports.errors import StoreError
from kenobot.storage.connection import Connection, WritingConnection, connect
from kenobot.storage.database import Database
from kenobot.storage.keeper import use_keepers

_KEYS = "SELECT key FROM key_value ORDER BY key"


class _Noting:
    """A keeper that notes which keys it was shown, and refuses when it is told to."""

    def __init__(self) -> None:
        self.shown: list[list[str]] = []
        self.refuses = False
        self.ended = 0

    def watch(self, connection: Connection) -> None:
        assert not connection.in_transaction

    def keep(self, connection: Connection) -> None:
        assert connection.in_transaction
        if self.refuses:
            raise StoreError("database.closed")
        self.shown.append([row[0] for row in connection.execute(_KEYS)])

    def close(self) -> None:
        self.ended += 1


@pytest.fixture
def keeper() -> Iterator[_Noting]:
    """The keeper of every database that the test opens."""
    noting = _Noting()
    with use_keepers(lambda _: noting):
        yield noting


@pytest.fixture
async def kept(keeper: _Noting, database: Database) -> Database:
    """A database that has a keeper."""
    keeper.shown.clear()
    return database


def _insert(key: str) -> Callable[[Connection], object]:
    return lambda connection: connection.execute("INSERT INTO key_value (key, value) VALUES (?, '')", (key,))


def _undo(connection: Connection) -> None:
    """Fail as a full disk does: SQLite has undone the whole transaction."""
    _insert("half")(connection)
    connection.rollback()
    raise sqlite3.OperationalError("database or disk is full")


def _raise(connection: Connection) -> None:
    _insert("half")(connection)
    raise ValueError("mine alone")


async def _submit(database: Database, *works: Callable[[Connection], object], **named: object) -> list[object]:
    """Submit work that shares one group; the results, or the errors."""
    begun, release = threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        begun.set()
        release.wait(10)

    database.write_nowait(hold)
    await asyncio.to_thread(begun.wait, 10)
    jobs = [database.submit(work, _insert("rescued") if work is _raise else None) for work in works]
    release.set()
    return list(await asyncio.gather(*jobs, return_exceptions=True))


async def _keys(database: Database) -> list[str]:
    return await database.read(lambda connection: [row[0] for row in connection.execute(_KEYS)])


async def test_a_group_is_kept_once_and_whole(kept: Database, keeper: _Noting) -> None:
    """Its keeper sees what the jobs of the group wrote, and what rescues one that failed, before any is told."""
    results = await _submit(kept, _insert("a"), _raise, _insert("b"))
    assert [type(result) for result in results] == [sqlite3.Cursor, ValueError, sqlite3.Cursor]
    assert keeper.shown[-1] == ["a", "b", "rescued"] == await _keys(kept)
    assert len(keeper.shown) <= 2  # with the one that held the writer


async def test_what_is_not_kept_is_not_written(kept: Database, keeper: _Noting) -> None:
    """Every job of the group fails with the keeper's error, the one whose rescue was to be written included."""
    keeper.refuses = True
    results = await _submit(kept, _insert("a"), _raise, _insert("b"))
    assert all(isinstance(result, StoreError) and result.key == "database.closed" for result in results)
    assert await _keys(kept) == []
    keeper.refuses = False
    await kept.write(_insert("c"))
    assert await _keys(kept) == ["c"]


async def test_each_job_of_an_undone_group_is_kept_alone(kept: Database, keeper: _Noting) -> None:
    """When SQLite undoes the whole transaction, those that run again each pass the keeper by themselves."""
    results = await _submit(kept, _insert("a"), _undo, _insert("b"))
    assert [type(result) for result in results] == [sqlite3.Cursor, StoreError, sqlite3.Cursor]
    assert keeper.shown[-2:] == [["a"], ["a", "b"]]


async def test_the_keeper_ends_with_its_connection(kept: Database, keeper: _Noting) -> None:
    """Once, in the writer's thread, while the connection is still open."""
    ended = keeper.ended
    await kept.close()
    assert keeper.ended == ended + 1


def test_a_database_that_is_behind_takes_no_more(tmp_path: Path, keeper: _Noting) -> None:
    """What was kept and then could not be committed is known elsewhere only: the copy must be loaded anew."""
    with closing(connect(tmp_path / "kept.db")) as connection:
        connection.execute("CREATE TABLE key_value (key TEXT, value TEXT)")
        with pytest.raises(sqlite3.OperationalError), _no_commit(connection):
            _write(connection, "lost")
        connection.rollback()
        with pytest.raises(StoreError) as refused:
            _write(connection, "later")
        assert refused.value.key == "database.behind"
        assert keeper.shown == [["lost"]]


@contextmanager
def _no_commit(connection: Connection) -> Iterator[None]:
    """Let SQLite refuse to end a transaction, as a disk does that fills at that moment."""

    def refuse(action: int, operation: str | None, *_: object) -> int:
        is_commit = action == sqlite3.SQLITE_TRANSACTION and operation == "COMMIT"
        return sqlite3.SQLITE_DENY if is_commit else sqlite3.SQLITE_OK

    connection.set_authorizer(refuse)
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise sqlite3.OperationalError(str(error)) from error
    finally:
        connection.set_authorizer(None)


def _write(connection: Connection, key: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    _insert(key)(connection)
    connection.commit()


@pytest.mark.no_replay("its database has no keeper")
def test_a_database_without_a_keeper_has_none(tmp_path: Path) -> None:
    """Nothing is called for it, and what reads never has one."""
    with closing(connect(tmp_path / "alone.db")) as connection:
        assert isinstance(connection, WritingConnection) and connection.keeper is None
        connection.execute("CREATE TABLE key_value (key TEXT, value TEXT)")
        _write(connection, "a")
    with use_keepers(lambda _: _Noting()), closing(connect(tmp_path / "alone.db", readonly=True)) as reader:
        assert not isinstance(reader, WritingConnection)
        assert reader.execute(_KEYS).fetchall() == [("a",)]
