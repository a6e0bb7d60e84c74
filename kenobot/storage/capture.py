"""Note which rows a writing connection changes, and read them before the commit: what a keeper has to make durable.

TEMP triggers, made from the schema, note table and key of each row in a TEMP table, which savepoints and rollbacks undo
as they undo the rows themselves. `recursive_triggers` lets them see the rows that OR REPLACE removes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from sqlite3 import Cursor

from kenobot.storage.connection import Connection

SqlValue = int | float | str | bytes | None

LOCAL_TABLES = frozenset({"signal", "term_index", "list_file", "record_file"})
"""Tables whose rows can be made anew: the log of signals, words of records, and what was last read of the files."""

_NOTES = "kept_change"
_SEQUENCES = "kept_sequence"
_TABLES = (
    "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
_UNIQUE = (
    'SELECT list.name FROM pragma_index_list(?) AS list WHERE list."unique" AND NOT list.partial AND NOT EXISTS '
    "(SELECT 1 FROM pragma_index_info(list.name) AS part JOIN pragma_table_info(?) AS held ON held.cid = part.cid "
    'WHERE NOT held."notnull") ORDER BY list.seq DESC'
)
_OLD = "SELECT type, name FROM sqlite_temp_master WHERE name IN (?, ?) OR type = 'trigger' AND name LIKE 'kept_%'"


class NoKey(Exception):
    """Raised for a table whose rows nothing tells apart, such as a unique index of columns that are never NULL."""


@dataclass(frozen=True, slots=True)
class TruthTable:
    """A table whose rows are kept. types: as declared. key: columns that tell its rows apart."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: tuple[str, ...]

    def key_of(self, row: tuple[SqlValue, ...]) -> tuple[SqlValue, ...]:
        return tuple(row[self.columns.index(name)] for name in self.key)


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row as it is now, all columns in the order of its table; None when it is gone."""

    table: str
    key: tuple[SqlValue, ...]
    row: tuple[SqlValue, ...] | None


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows and sequences that a transaction changed.

    sequences: the last id given, of each table in which that changed. is_whole: anything may have changed, schema
    included; every row is to be read, with `read_tables` and `read_rows`.
    """

    rows: tuple[RowChange, ...] = ()
    sequences: dict[str, int] = field(default_factory=dict)  # bounded: the tables there are; turn
    is_whole: bool = False

    def __bool__(self) -> bool:
        return bool(self.is_whole or self.rows or self.sequences)


class ChangeCapture:
    """Capture the changes of one connection.

    One that was never watched, or whose schema has changed since, may have changed anything.
    """

    def __init__(self) -> None:
        self._tables: tuple[TruthTable, ...] = ()
        self._version = -1

    def watch(self, connection: Connection) -> None:
        """Make the triggers for the schema that the database has now."""
        connection.execute("PRAGMA recursive_triggers = ON")
        for kind, name in connection.execute(_OLD, (_NOTES, _SEQUENCES)).fetchall():
            connection.execute(f"DROP {kind} temp.{name}")
        self._tables, self._version = read_tables(connection), _schema_version(connection)
        width = max((len(table.key) for table in self._tables), default=1)
        connection.execute(f"CREATE TEMP TABLE {_NOTES} (place, {', '.join(f'k{at}' for at in range(width))})")
        connection.execute(f"CREATE TEMP TABLE {_SEQUENCES} (name PRIMARY KEY, seq)")
        for sql in _triggers(self._tables, width):
            connection.execute(sql)
        _read_sequences(_cursor(connection))

    def take(self, connection: Connection) -> Changes:
        """Read what the open transaction changed so far, and begin anew; a rollback takes that back."""
        if self._version != _schema_version(connection):
            return Changes(is_whole=True)
        cursor = _cursor(connection)
        rows = tuple(self._read_changed(cursor))
        if rows:
            cursor.execute(f"DELETE FROM temp.{_NOTES}")
        return Changes(rows, _read_sequences(cursor))

    def _read_changed(self, cursor: Cursor) -> Iterator[RowChange]:
        for place, *noted in cursor.execute(f"SELECT DISTINCT * FROM temp.{_NOTES} ORDER BY place").fetchall():
            table = self._tables[place]
            key = tuple(noted[: len(table.key)])
            row = cursor.execute(f"{_select(table)} WHERE {_compare(table.key)}", key).fetchone()
            yield RowChange(table.name, key, row)


def read_tables(connection: Connection) -> tuple[TruthTable, ...]:
    """Read from the schema which tables are kept, by name."""
    cursor = _cursor(connection)
    names = [name for (name,) in cursor.execute(_TABLES).fetchall() if name not in LOCAL_TABLES]
    return tuple(_read_table(cursor, name) for name in names)


def read_rows(connection: Connection, table: TruthTable) -> Iterator[tuple[SqlValue, ...]]:
    """Iterate over all rows of a table, in the order of its key."""
    yield from _cursor(connection).execute(f"{_select(table)} ORDER BY {_list(table.key)}")


def read_sequences(connection: Connection) -> dict[str, int]:
    """Read the last id that was given in each table that never gives one again."""
    cursor = _cursor(connection).execute(f"SELECT name, seq FROM main.sqlite_sequence WHERE {_is_kept('name')}")
    return dict(cursor.fetchall())


def _read_table(cursor: Cursor, name: str) -> TruthTable:
    columns = cursor.execute("SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid", (name,)).fetchall()
    key = tuple(column for column, _, at in sorted(columns, key=lambda each: each[2]) if at)
    if not key:
        index = cursor.execute(_UNIQUE, (name, name)).fetchone()
        if index is None:
            raise NoKey(name)
        found = cursor.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", index).fetchall()
        key = tuple(column for (column,) in found)
    return TruthTable(name, tuple(each[0] for each in columns), tuple(each[1] for each in columns), key)


def _triggers(tables: tuple[TruthTable, ...], width: int) -> Iterator[str]:
    """Write the triggers of the tables, whose numbers are their places."""
    for place, table in enumerate(tables):
        new, old = (_note(place, table, row, width) for row in ("new", "old"))
        is_changed = f"({_list(table.columns, 'old.')}) IS NOT ({_list(table.columns, 'new.')})"
        on, refuse = f'ON main."{table.name}"', _refuse_nul(table)
        yield f"CREATE TEMP TRIGGER kept_{place}_insert AFTER INSERT {on} BEGIN {refuse} {new} END"
        yield f"CREATE TEMP TRIGGER kept_{place}_delete AFTER DELETE {on} BEGIN {old} END"
        yield (f"CREATE TEMP TRIGGER kept_{place}_update AFTER UPDATE {on} WHEN {is_changed} BEGIN {refuse} {new} END")
        yield f"CREATE TEMP TRIGGER kept_{place}_move AFTER UPDATE OF {_list(table.key)} {on} BEGIN {old} END"


def _note(place: int, table: TruthTable, row: str, width: int) -> str:
    """Write the statement that notes a row. It inserts without a conflict, for the outer statement would settle it."""
    filling = ", NULL" * (width - len(table.key))
    return f"INSERT INTO {_NOTES} VALUES ({place}, {_list(table.key, f'{row}.')}{filling});"


def _refuse_nul(table: TruthTable) -> str:
    """Write the statement that refuses a text with a NUL, which a keeper's database may not take."""
    texts = [name for name, kind in zip(table.columns, table.types, strict=True) if kind == "TEXT"]
    if not texts:
        return ""
    found = " OR ".join(f'instr(new."{name}", char(0))' for name in texts)
    return f"SELECT RAISE(ABORT, 'a text of {table.name} holds a NUL') WHERE {found};"


def _read_sequences(cursor: Cursor) -> dict[str, int]:
    """Read the changed part of the sequences, and note it as read."""
    if not cursor.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'").fetchone():
        return {}
    changed = (
        f"SELECT name, seq FROM main.sqlite_sequence WHERE {_is_kept('name')} EXCEPT SELECT * FROM temp.{_SEQUENCES}"
    )
    found = cursor.execute(changed).fetchall()
    cursor.executemany(f"INSERT OR REPLACE INTO temp.{_SEQUENCES} VALUES (?, ?)", found)
    return dict(found)


def _is_kept(column: str) -> str:
    return f"{column} NOT IN ({', '.join(repr(name) for name in sorted(LOCAL_TABLES))})"


def _select(table: TruthTable) -> str:
    return f'SELECT {_list(table.columns)} FROM main."{table.name}"'


def _list(columns: Iterable[str], row: str = "") -> str:
    return ", ".join(f'{row}"{name}"' for name in columns)


def _compare(key: tuple[str, ...]) -> str:
    return " AND ".join(f'"{name}" IS ?' for name in key)


def _schema_version(connection: Connection) -> int:
    version: int = _cursor(connection).execute("PRAGMA main.user_version").fetchone()[0]
    return version


def _cursor(connection: Connection) -> Cursor:
    """Make a cursor whose rows are tuples, whatever the connection's are."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor
