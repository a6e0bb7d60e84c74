"""Describe the tables of a home's database that PostgreSQL keeps: SQLite's schema is the one source of both."""

import sqlite3
from contextlib import closing
from functools import lru_cache
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.storage.capture import SqlValue, TruthTable, read_tables
from kenobot.storage.migrate import migrations

ColumnType = Literal["bigint", "text", "double precision", "bytea"]
Row = tuple[SqlValue, ...]

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
        return tuple(_describe(connection, table) for table in read_tables(connection))


def build_schema(connection: sqlite3.Connection, schema: int) -> None:
    """Make the tables of an empty database as they were after so many migrations."""
    for number, script in migrations():
        if number <= schema:
            connection.executescript(f"BEGIN;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")


def _describe(connection: sqlite3.Connection, table: TruthTable) -> Table:
    defaults = dict(connection.execute("SELECT name, dflt_value FROM pragma_table_info(?)", (table.name,)).fetchall())
    columns = tuple(
        Column(name, _TYPES[declared], _evaluate(connection, defaults[name]))
        for name, declared in zip(table.columns, table.types, strict=True)
    )
    return Table(table.name, columns, table.key)


def _evaluate(connection: sqlite3.Connection, default: str | None) -> SqlValue:
    """Return the value of a default, which the schema has as SQL; None where there is none."""
    if default is None:
        return None
    value: SqlValue = connection.execute(f"SELECT {default}").fetchone()[0]
    return value
