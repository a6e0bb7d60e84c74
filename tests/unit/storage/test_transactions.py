"""Writing beside the bot: each transaction is shown to the keeper of its database, however it comes about."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from kenobot.ports.errors import StoreError
from kenobot.storage.capture import ChangeCapture, Changes
from kenobot.storage.connection import Connection
from kenobot.storage.erasure import note_unfinished_purge, vacuum_erased
from kenobot.storage.keeper import use_keepers
from kenobot.storage.migrate import migrate, migrations
from kenobot.storage.transactions import hold_writers, keep_whole, write_in_steps, write_once


class _Taking:
    """A keeper that holds what it was shown, and refuses when it is told to."""

    def __init__(self, shown: list[Changes], refuses: list[bool]) -> None:
        self._capture, self._shown, self._refuses = ChangeCapture(), shown, refuses

    def watch(self, connection: Connection) -> None:
        self._capture.watch(connection)

    def keep(self, connection: Connection) -> None:
        if self._refuses:
            raise StoreError("database.closed")
        self._shown.append(self._capture.take(connection))

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a database and no keeper yet."""
    home = Home(tmp_path)
    migrate(home.database, home.backups)
    return home


@pytest.fixture
def shown() -> list[Changes]:
    return []


@pytest.fixture
def refuses() -> list[bool]:
    return []


@pytest.fixture(autouse=True)
def keeper(home: Home, shown: list[Changes], refuses: list[bool]) -> Iterator[None]:
    """A keeper for the home's database, and for no other."""
    with use_keepers(lambda path: _Taking(shown, refuses) if path == home.database else None):
        yield


def _put(connection: Connection, key: str) -> None:
    connection.execute("INSERT INTO key_value VALUES (?, '')", (key,))


def _keys(shown: list[Changes]) -> list[list[object]]:
    return [[change.key[0] for change in changes.rows] for changes in shown]


def test_a_transaction_is_kept_whole_or_undone(home: Home, shown: list[Changes], refuses: list[bool]) -> None:
    """What fails in the block, or is not kept, leaves nothing behind."""
    with write_once(home.database) as connection:
        _put(connection, "a")
    with pytest.raises(ZeroDivisionError), write_once(home.database) as connection:
        _put(connection, "b")
        _ = 1 / 0
    refuses.append(True)
    with pytest.raises(StoreError), write_once(home.database) as connection:
        _put(connection, "c")
    refuses.clear()
    with write_once(home.database) as connection:
        assert connection.execute("SELECT key FROM key_value").fetchall() == [("a",)]
    assert _keys(shown) == [["a"], []]


def test_each_step_is_kept_before_the_next(home: Home, shown: list[Changes]) -> None:
    """An import writes in many transactions; each is shown."""
    with write_in_steps(home.database, longest=0.0) as (connection, end_transaction):
        for key in "abc":
            _put(connection, key)
            end_transaction()
    assert _keys(shown) == [["a"], ["b"], ["c"], []]


def test_a_migration_may_have_changed_anything(
    home: Home, shown: list[Changes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a column that goes, which a trigger that names it would hold; what is not kept is not migrated."""
    newest = migrations()[-1][0]
    steps = [(newest + 1, "CREATE TABLE one (x PRIMARY KEY, y);"), (newest + 2, "ALTER TABLE one DROP COLUMN y;")]
    monkeypatch.setattr("kenobot.storage.migrate.migrations", lambda: steps)
    migrate(home.database, home.backups)
    assert [changes.is_whole for changes in shown] == [True, True]


def test_a_database_in_anothers_place_may_be_anything(home: Home, shown: list[Changes]) -> None:
    """So is one that was restored, or put back."""
    keep_whole(home.database)
    assert [changes.is_whole for changes in shown] == [True]


def test_what_ends_a_purge_is_kept(home: Home, shown: list[Changes]) -> None:
    """The note goes in a transaction of its own, after the words have left the free space."""
    with write_once(home.database) as connection:
        note_unfinished_purge(connection, 7)
    assert vacuum_erased(home.database)
    assert [[change.row is None for change in changes.rows] for changes in shown] == [[False], [True]]


def test_holding_writers_writes_nothing(home: Home, shown: list[Changes]) -> None:
    """A backup keeps others out for a moment, and shows nothing."""
    with hold_writers(home.database), pytest.raises(sqlite3.OperationalError):
        other = sqlite3.connect(home.database, timeout=0)
        try:
            other.execute("BEGIN IMMEDIATE")
        finally:
            other.close()
    assert shown == []
