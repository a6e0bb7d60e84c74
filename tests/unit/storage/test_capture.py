"""Changes of a connection, captured: whatever a transaction does, a copy that follows it is equal."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.ports.errors import StoreError
from kenobot.storage.capture import LOCAL_TABLES, ChangeCapture, RowChange, read_tables
from kenobot.storage.connection import Connection, connect, savepoint
from kenobot.storage.keeper import use_keepers
from kenobot.storage.migrate import migrate
from tests.replay import Replay
from tests.scratch import scratch

_SCHEMA = """
CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, size REAL, key BLOB);
CREATE TABLE paired (a TEXT NOT NULL, b INTEGER NOT NULL, value TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE told_apart (value TEXT, a INTEGER NOT NULL, b INTEGER NOT NULL, UNIQUE (a, b));
CREATE TABLE "order" ("by" TEXT PRIMARY KEY, "from" INTEGER REFERENCES numbered (id) ON DELETE CASCADE);
CREATE TABLE signal (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);
CREATE TRIGGER forgets AFTER UPDATE OF name ON numbered BEGIN DELETE FROM paired WHERE b = new.id; END;
"""
_STATEMENTS = (
    "INSERT {} INTO numbered (name, size) VALUES (:x, :n)",
    "INSERT {} INTO numbered (id, name, key) VALUES (:m, :x, x'00ff')",
    "INSERT INTO numbered (name, size) VALUES (:x, :n) ON CONFLICT (name) DO UPDATE SET size = size + 1",
    "UPDATE {} numbered SET id = :n WHERE id = :m",
    "UPDATE {} numbered SET name = :x, size = :m WHERE id >= :n",
    "DELETE FROM numbered WHERE id = :m",
    "DELETE FROM numbered",
    "INSERT {} INTO paired VALUES (:x, :m, :y)",
    "INSERT INTO paired VALUES (:x, :m, :y) ON CONFLICT DO UPDATE SET value = value || :n",
    "UPDATE {} paired SET a = :y, b = :n WHERE a = :x",
    "UPDATE paired SET value = value",
    "DELETE FROM paired WHERE b < :m",
    "INSERT {} INTO told_apart VALUES (:x, :m, :n)",
    "UPDATE {} told_apart SET a = b, b = a",
    "UPDATE {} told_apart SET b = :n WHERE a = :m",
    "DELETE FROM told_apart WHERE a = :m",
    'INSERT {} INTO "order" VALUES (:x, :m)',
    'UPDATE {} "order" SET "by" = :y WHERE "from" = :m',
    "INSERT INTO signal (text) VALUES (:x)",
    "UPDATE sqlite_sequence SET seq = seq + :n WHERE name = 'numbered'",
)
_OR = ("", "", "", "OR REPLACE", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT", "OR ROLLBACK")
_statement = st.tuples(
    st.builds(lambda sql, how: sql.format(how), st.sampled_from(_STATEMENTS), st.sampled_from(_OR)),
    st.fixed_dictionaries(
        {"m": st.integers(1, 3), "n": st.integers(1, 3), "x": st.sampled_from("añ"), "y": st.sampled_from("añ")}
    ),
)
_undone = st.tuples(st.booleans(), st.lists(_statement, max_size=3))
_step = st.one_of(
    _statement, _statement, st.tuples(st.booleans(), st.lists(st.one_of(_statement, _undone), max_size=3))
)
_transaction = st.tuples(
    st.sampled_from(("commit", "commit", "commit", "rollback", "refuse")), st.lists(_step, min_size=2, max_size=12)
)


def _make(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_SCHEMA)


class _Refusing(Replay):
    """A replay that refuses a group, once, after it was read."""

    refuses = False

    def keep(self, connection: Connection) -> None:
        if self.refuses:
            self.refuses = False
            ChangeCapture.take(self._capture, connection)
            raise StoreError("database.closed")
        super().keep(connection)


def _run(connection: Connection, step: tuple[object, object]) -> None:
    """Run a statement, or several in a savepoint that is undone or not."""
    match step:
        case (str(sql), dict(values)):
            try:
                connection.execute(sql, values)
            except sqlite3.IntegrityError:
                if not connection.in_transaction:  # OR ROLLBACK ends it
                    raise
        case (bool(is_undone), list(inner)):
            with suppress(ZeroDivisionError), savepoint(connection, "inner"):
                for each in inner:
                    _run(connection, each)
                if is_undone:
                    raise ZeroDivisionError


@given(st.lists(_transaction, min_size=3, max_size=6))
def test_a_copy_that_follows_is_equal(transactions: list[tuple[str, list[tuple[object, object]]]]) -> None:
    """Conflicts, changed keys, cascades, triggers, savepoints, rollbacks, refused groups and sequences included."""
    differences: list[str] = []
    with scratch() as folder:
        home = Path(folder) / "home.db"
        _make(home)
        replay = _Refusing(home.with_name("copy.db"), differences)
        with use_keepers(lambda _: replay), closing(connect(home)) as connection:
            for end, steps in transactions:
                connection.execute("BEGIN IMMEDIATE")
                with suppress(sqlite3.IntegrityError):
                    for step in steps:
                        _run(connection, step)
                if not connection.in_transaction:
                    continue
                replay.refuses = end == "refuse"
                if end == "commit":
                    connection.commit()
                    continue
                with suppress(StoreError):
                    if end == "refuse":
                        connection.commit()
                connection.rollback()
        assert differences == []


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Connection, ChangeCapture]]:
    """A connection with its capture, in a transaction, with a row of each kind."""
    _make(tmp_path / "home.db")
    with closing(connect(tmp_path / "home.db")) as connection:
        capture = ChangeCapture()
        capture.watch(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO numbered (name) VALUES ('one')")
        connection.execute("""INSERT INTO "order" VALUES ('told', 1)""")
        capture.take(connection)
        yield connection, capture


def test_only_rows_that_differ_are_changes(watched: tuple[Connection, ChangeCapture]) -> None:
    """Each once, as it is at the end; none of a local table, none that was set to what it was."""
    connection, capture = watched
    connection.execute("INSERT INTO signal (text) VALUES ('seen')")
    connection.execute("UPDATE numbered SET name = 'one'")
    assert not capture.take(connection)
    for name in ("two", "three"):
        connection.execute("UPDATE numbered SET name = ?", (name,))
    changes = capture.take(connection)
    assert changes.rows == (RowChange("numbered", (1,), (1, "three", None, None)),)
    assert not changes.sequences and not capture.take(connection)


def test_what_goes_with_another_row_is_a_change(watched: tuple[Connection, ChangeCapture]) -> None:
    """A row that a foreign key deletes, and one that OR REPLACE takes away."""
    connection, capture = watched
    connection.execute("DELETE FROM numbered")
    assert capture.take(connection).rows == (RowChange("numbered", (1,), None), RowChange("order", ("told",), None))
    connection.execute("INSERT INTO numbered (name) VALUES ('same')")
    capture.take(connection)
    connection.execute("INSERT OR REPLACE INTO numbered (id, name) VALUES (7, 'same')")
    changes = capture.take(connection)
    assert {(change.key, change.row is None) for change in changes.rows} == {((2,), True), ((7,), False)}
    assert changes.sequences == {"numbered": 7}


def test_the_ids_that_the_caller_sees_are_its_own(watched: tuple[Connection, ChangeCapture]) -> None:
    """The notes of a trigger are counted neither as the last row nor among the rows that a statement changed."""
    connection, _ = watched
    assert connection.execute("INSERT INTO numbered (name) VALUES ('two')").lastrowid == 2
    assert connection.execute("UPDATE numbered SET size = 3").rowcount == 2
    assert connection.execute("DELETE FROM numbered WHERE id = 1").rowcount == 1


@given(st.text(st.one_of(st.characters(), st.just("\0"))), st.sampled_from(("insert", "update", "upsert")))
def test_no_text_with_a_nul_is_kept(text: str, how: str) -> None:
    """A statement that would write one fails by itself, and the rest of its transaction stays."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(_SCHEMA)
        capture = ChangeCapture()
        capture.watch(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO paired VALUES ('a', 1, 'before')")
        sql = {
            "insert": "INSERT OR REPLACE INTO paired VALUES ('a', 1, ?)",
            "update": "UPDATE OR IGNORE paired SET value = ?",
            "upsert": "INSERT INTO paired VALUES ('a', 1, 'x') ON CONFLICT DO UPDATE SET value = ?",
        }[how]
        try:
            connection.execute(sql, (text,))
        except sqlite3.IntegrityError:
            assert "\0" in text
            text = "before"
        except UnicodeEncodeError:  # of a lone surrogate, before SQLite is asked
            text = "before"
        assert capture.take(connection).rows == (RowChange("paired", ("a", 1), ("a", 1, text)),)
        assert "\0" not in text


def test_a_connection_that_was_not_watched_may_have_changed_anything(tmp_path: Path) -> None:
    """So may one whose schema was brought up to date meanwhile."""
    migrate(tmp_path / "home.db", tmp_path)
    with closing(connect(tmp_path / "home.db")) as connection:
        assert ChangeCapture().take(connection).is_whole
        capture = ChangeCapture()
        capture.watch(connection)
        assert not capture.take(connection)
        connection.execute("PRAGMA user_version = 1000")
        assert capture.take(connection).is_whole


def test_every_table_is_kept_or_can_be_made_anew(tmp_path: Path) -> None:
    """A new table is kept, and its rows can be told apart; the local ones are named, and there."""
    migrate(tmp_path / "home.db", tmp_path)
    with closing(connect(tmp_path / "home.db", readonly=True)) as connection:
        kept = {table.name for table in read_tables(connection)}
        names = {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith("sqlite_")
        }
        assert kept | LOCAL_TABLES == names and not kept & LOCAL_TABLES
        assert {table.name: table.key for table in read_tables(connection)}["attachment"] == ("inbox_id", "number")
        for table in read_tables(connection):
            counted = ", ".join(f'"{name}"' for name in table.key)
            assert connection.execute(f'SELECT {counted} FROM "{table.name}"').fetchall() == []
