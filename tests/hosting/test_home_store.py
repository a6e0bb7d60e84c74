"""Homes in PostgreSQL: taken in, copied out, and committed to by whoever holds them."""

import sqlite3
from pathlib import Path

import psycopg
import pytest

from kenobot.ports.errors import ConfigError, StoreError
from kenobot.storage.connection import connect
from kenobot.storage.migrate import migrate
from kenobot_host import home_rows
from kenobot_host.home_store import HomeLost, read_version
from kenobot_host.keeper import PostgresKeeper
from kenobot_host.tables import Row, Table, build_schema, describe_tables, newest_schema
from tests.hosting.cell import Cell, opened, read_truth

pytestmark = pytest.mark.no_replay("keepers of its own take the changes of its connections")

_ADD = "INSERT INTO event (at, type, actor) VALUES ('2026-11-30T00:00:00Z', ?, ?)"


def _make_home(folder: Path) -> Path:
    path = folder / "kenobot.db"
    migrate(path, folder / "backups")
    with opened(path) as connection:
        connection.executemany(_ADD, [("told", "owner"), ("gone", "ñandú 🦤 \u0001")])
        connection.execute("DELETE FROM event WHERE type = 'gone'")
        connection.execute("INSERT INTO vector VALUES (1, 'm', x'00ff27', x'')")
        connection.execute(
            "INSERT INTO link (src, dst, type, weight, first_at, last_at) VALUES (1, 2, 'time', 0.1, '', '')"
        )
        connection.execute("INSERT INTO key_value VALUES ('a', 'b')")
        connection.commit()
    return path


def _open_copy(cell: Cell, home: int, path: Path) -> tuple[sqlite3.Connection, PostgresKeeper]:
    cell.store.load(home, path)
    connection = connect(path)
    keeper = PostgresKeeper(cell.store, cell.take(home))
    keeper.watch(connection)
    return connection, keeper


def _commit(
    connection: sqlite3.Connection, keeper: PostgresKeeper, *statements: tuple[str, tuple[object, ...]]
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for sql, values in statements:
            connection.execute(sql, values)
        keeper.keep(connection)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def test_a_home_comes_out_as_it_went_in(cell: Cell, tmp_path: Path) -> None:
    """Every table, every type of value, and the ids that must not come back."""
    path = _make_home(tmp_path)
    home = cell.store.add("ana", path)
    cell.store.load(home, tmp_path / "copy.db")
    assert read_truth(tmp_path / "copy.db") == read_truth(path)
    assert read_truth(path)[1]["event"] == 2
    with opened(tmp_path / "copy.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert read_version(connection) == 1


def test_a_worker_that_commits_is_not_taken_for_silent(cell: Cell, tmp_path: Path) -> None:
    """Its commit is as good as a heartbeat, which a busy machine may keep back."""
    connection, keeper = _open_copy(cell, cell.store.add("ana", _make_home(tmp_path)), tmp_path / "copy.db")
    cell.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")
    _commit(connection, keeper, (_ADD, ("told", "owner")))
    assert cell.execute("SELECT last_heartbeat > now() - interval '5 s' FROM procrastinate_workers") == [(True,)]
    connection.close()


def test_homes_do_not_see_each_other(cell: Cell, tmp_path: Path) -> None:
    """Rows with the same ids lie side by side; one home is removed and the other stays."""
    path = _make_home(tmp_path)
    ana, eva = cell.store.add("ana", path), cell.store.add("eva", path)
    with pytest.raises(ConfigError, match="ana"):
        cell.store.add("ana", path)
    connection, keeper = _open_copy(cell, ana, tmp_path / "ana.db")
    _commit(connection, keeper, ("UPDATE key_value SET value = 'hers'", ()))
    connection.close()
    cell.store.load(eva, tmp_path / "eva.db")
    assert read_truth(tmp_path / "eva.db") == read_truth(path)
    cell.store.remove(eva)
    with pytest.raises(ConfigError):
        cell.store.load(eva, tmp_path / "eva.db")
    cell.store.load(ana, tmp_path / "again.db")
    assert read_truth(tmp_path / "again.db") == read_truth(tmp_path / "ana.db")


def test_no_table_mixes_the_rows_of_two_homes(cell: Cell) -> None:
    """Rows of the same keys in each table, changed, deleted and removed for one home: the other's stay as they were."""
    tables = describe_tables(newest_schema())

    def row(table: Table, word: str) -> Row:
        values = {"bigint": 7, "text": word, "double precision": 0.5, "bytea": word.encode()}
        same = {"bigint": 7, "text": "same", "double precision": 0.5, "bytea": b"same"}
        return tuple((same if column.name in table.key else values)[column.type] for column in table.columns)  # type: ignore[misc]

    with psycopg.connect(cell.url, autocommit=True) as connection:
        ana, eva = (home_rows.insert_home(connection, name, newest_schema(), {}) for name in ("ana", "eva"))
        assert ana is not None
        assert eva is not None
        for table in tables:
            home_rows.copy_in(connection, ana, table, [row(table, "secret")])
            home_rows.copy_in(connection, eva, table, [row(table, "hers")])
            home_rows.upsert(connection, ana, table, [row(table, "canary")])
            assert list(home_rows.copy_out(connection, ana, table)) == [row(table, "canary")]
            assert list(home_rows.copy_out(connection, eva, table)) == [row(table, "hers")]
            by_name = dict(zip(table.names, row(table, ""), strict=True))
            home_rows.delete(connection, ana, table, [tuple(by_name[name] for name in table.key)])
            assert list(home_rows.copy_out(connection, ana, table)) == []
            home_rows.upsert(connection, ana, table, [row(table, "canary")])
        home_rows.delete_home(connection, ana)
        for table in tables:
            assert list(home_rows.copy_out(connection, ana, table)) == []
            assert list(home_rows.copy_out(connection, eva, table)) == [row(table, "hers")]


def test_what_a_copy_commits_is_in_postgres(cell: Cell, tmp_path: Path) -> None:
    """Rows added, changed, given another key, replaced and deleted; what was rolled back is not."""
    home = cell.store.add("ana", _make_home(tmp_path))
    connection, keeper = _open_copy(cell, home, tmp_path / "copy.db")
    _commit(connection, keeper, (_ADD, ("told", "a")), (_ADD, ("told", "b")))
    _commit(
        connection,
        keeper,
        ("UPDATE event SET actor = 'ñandú 🦤 \u0001' WHERE id = 3", ()),
        ("DELETE FROM event WHERE id = 4", ()),
    )
    _commit(connection, keeper, ("UPDATE key_value SET key = 'z' WHERE key = 'a'", ()))
    _commit(connection, keeper, ("INSERT OR REPLACE INTO key_value VALUES ('z', 'new')", ()))
    _commit(connection, keeper, ("INSERT INTO author VALUES (1, 'x')", ()), ("DELETE FROM link", ()))
    connection.execute("BEGIN")
    connection.execute("DELETE FROM vector")
    connection.execute("ROLLBACK")
    _commit(connection, keeper, ("INSERT INTO signal (at, name, source, trace, payload) VALUES ('','','','','')", ()))
    assert read_version(connection) == 6
    connection.close()
    cell.store.load(home, tmp_path / "again.db")
    assert read_truth(tmp_path / "again.db") == read_truth(tmp_path / "copy.db")


def test_a_worker_that_lost_the_home_commits_nothing(cell: Cell, tmp_path: Path) -> None:
    """It finds out at its next commit, and goes on failing; the new holder is not disturbed."""
    home = cell.store.add("ana", _make_home(tmp_path))
    connection, keeper = _open_copy(cell, home, tmp_path / "copy.db")
    held = keeper._held
    other = cell.hand_on(held)  # type: ignore[arg-type]
    cell.store.load(home, tmp_path / "other.db")
    for _ in range(2):
        with pytest.raises(HomeLost):
            _commit(connection, keeper, ("DELETE FROM event", ()))
    newer = connect(tmp_path / "other.db")
    next_keeper = PostgresKeeper(cell.store, other)
    next_keeper.watch(newer)
    _commit(newer, next_keeper, (_ADD, ("told", "by the other")))
    newer.close()
    cell.store.load(home, tmp_path / "again.db")
    assert read_truth(tmp_path / "again.db") == read_truth(tmp_path / "other.db")


@pytest.mark.parametrize("column", ["status = 'todo'", "worker_id = NULL", "attempts = attempts + 1"])
def test_each_part_of_the_lease_is_looked_at(cell: Cell, tmp_path: Path, column: str) -> None:
    """A job that is queued again, whose worker is gone, or that was begun anew, holds nothing."""
    home = cell.store.add("ana", _make_home(tmp_path))
    connection, keeper = _open_copy(cell, home, tmp_path / "copy.db")
    cell.execute(f"UPDATE procrastinate_jobs SET {column}")
    with pytest.raises(HomeLost):
        _commit(connection, keeper, ("DELETE FROM event", ()))


def test_an_old_copy_that_was_put_back_commits_nothing(cell: Cell, tmp_path: Path) -> None:
    """Nor one whose own commit failed after that of PostgreSQL."""
    home = cell.store.add("ana", _make_home(tmp_path))
    connection, keeper = _open_copy(cell, home, tmp_path / "copy.db")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO author VALUES (7, 'x')")
    keeper.keep(connection)
    connection.execute("ROLLBACK")  # as when the disk is full
    with pytest.raises(HomeLost, match="loaded again"):
        _commit(connection, keeper, ("INSERT INTO author VALUES (8, 'x')", ()))
    cell.store.load(home, tmp_path / "again.db")
    assert read_truth(tmp_path / "again.db")[0]["author"] == [(7, "x")]


def test_a_home_that_was_removed_takes_no_commit(cell: Cell, tmp_path: Path) -> None:
    """Also of the worker that holds it still."""
    home = cell.store.add("ana", _make_home(tmp_path))
    connection, keeper = _open_copy(cell, home, tmp_path / "copy.db")
    cell.store.remove(home)
    with pytest.raises(HomeLost):
        _commit(connection, keeper, (_ADD, ("told", "x")))
    assert cell.execute("SELECT count(*) FROM kenobot_home.event") == [(0,)]


def test_a_value_of_another_type_is_refused(cell: Cell, tmp_path: Path) -> None:
    """SQLite has types for values, not for columns: nothing is changed on its way without a word."""
    home = cell.store.add("ana", _make_home(tmp_path))
    connection, keeper = _open_copy(cell, home, tmp_path / "copy.db")
    with pytest.raises(StoreError, match=r"event\.record_id"):
        _commit(connection, keeper, ("UPDATE event SET record_id = 1.5", ()))
    _commit(connection, keeper, ("UPDATE event SET record_id = 2", ()))
    assert cell.execute("SELECT record_id FROM kenobot_home.event") == [(2,)]


def test_rows_of_an_older_schema_are_loaded_by_it(cell: Cell, tmp_path: Path) -> None:
    """Then the copy is migrated, and all its rows take the place of the former ones."""
    path = tmp_path / "old.db"
    with opened(path) as connection:
        build_schema(connection, 22)
        connection.execute("INSERT INTO author VALUES (1, 'x')")
        connection.commit()
    home = cell.store.add("ana", path)
    cell.store.load(home, tmp_path / "copy.db")
    assert read_truth(tmp_path / "copy.db") == read_truth(path)
    migrate(tmp_path / "copy.db", tmp_path / "backups")
    copy = connect(tmp_path / "copy.db")
    keeper = PostgresKeeper(cell.store, cell.take(home))
    copy.execute("BEGIN")
    keeper.keep(copy)  # never watched: anything may have changed
    copy.execute("COMMIT")
    copy.close()
    cell.store.load(home, tmp_path / "again.db")
    assert read_truth(tmp_path / "again.db") == read_truth(tmp_path / "copy.db")
    assert cell.execute("SELECT schema, version FROM kenobot.home") == [(newest_schema(), 2)]
