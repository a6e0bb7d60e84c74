"""Describe the tables of a home's database that PostgreSQL keeps: SQLite's schema is the one source of both."""

import sqlite3
from contextlib import closing
from functools import lru_cache
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.storage.migrate import migrations

ColumnType = Literal["bigint", "text", "double precision", "bytea"]
SqlValue = int | float | str | bytes | None
Row = tuple[SqlValue, ...]

LOCAL = frozenset({"signal", "term_index", "record_file", "list_file"})
"""Tables that stay in the working copy: events for observers, and what is made anew from records."""

_TYPES: dict[str, ColumnType] = {"INTEGER": "bigint", "TEXT": "text", "REAL": "double precision", "BLOB": "bytea"}
_PYTHON: dict[ColumnType, type] = {"bigint": int, "text": str, "double precision": float, "bytea": bytes}


@dataclass(frozen=True, slots=True)
class Column:
    """A column. default: its value in rows that were written before there was one."""

    name: str
    type: ColumnType
    default: SqlValue

    def takes(self, value: SqlValue) -> bool:
        """Return whether PostgreSQL keeps a value of SQLite's, which has types for values alone, just as it is."""
        return value is None or type(value) is _PYTHON[self.type]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. key: the columns that tell its rows apart."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def newest_schema() -> int:
    """Return the number of the newest migration of a home's database."""
    return migrations()[-1][0]


@lru_cache(maxsize=8)  # bounded: the schemas there are; start
def describe_tables(schema: int) -> tuple[Table, ...]:
    """Describe the tables that PostgreSQL keeps, as they are after so many migrations of a home's database."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        build_schema(connection, schema)
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if not name.startswith("sqlite_") and name not in LOCAL
        ]
        return tuple(_describe(connection, name) for name in names)


def build_schema(connection: sqlite3.Connection, schema: int) -> None:
    """Make the tables of an empty database as they were after so many migrations."""
    for number, script in migrations():
        if number <= schema:
            connection.executescript(f"BEGIN;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")


def _describe(connection: sqlite3.Connection, name: str) -> Table:
    rows = connection.execute(f"PRAGMA table_info({name})").fetchall()
    columns = tuple(
        Column(column, _TYPES[declared], connection.execute(f"SELECT {default}").fetchone()[0] if default else None)
        for _, column, declared, _, default, _ in rows
    )
    parts = sorted((place, column) for _, column, _, _, _, place in rows if place)
    key = tuple(column for _, column in parts) or _find_unique(connection, name)
    return Table(name, columns, key)


def _find_unique(connection: sqlite3.Connection, name: str) -> tuple[str, ...]:
    """Find the columns of the first whole index that tells rows apart, for a table without a primary key."""
    for _, index, is_unique, _, is_partial in connection.execute(f"PRAGMA index_list({name})"):
        if is_unique and not is_partial:
            return tuple(row[2] for row in connection.execute(f"PRAGMA index_info({index})"))
    raise ValueError(f"nothing tells the rows of {name} apart")
