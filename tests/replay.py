"""A second database that follows a first one by its captured changes alone, and must be equal to it at the end."""

import sqlite3
from contextlib import closing
from pathlib import Path

from kenobot.storage.capture import ChangeCapture, Changes, TruthTable, read_rows, read_sequences, read_tables
from kenobot.storage.connection import Connection, copy_schema


class Replay:
    """Keep a database in a file beside it, group by group: the keeper that tests compare with the original.

    What another connection commits meanwhile is another keeper's, or nobody's: the copy is then made anew.
    """

    def __init__(self, copy: Path, differences: list[str]) -> None:
        self._path, self._differences = copy, differences
        self._capture = ChangeCapture()
        self._connection: Connection | None = None
        self._seen = 0
        self._tables: dict[str, TruthTable] = {}
        self.kept = 0

    def watch(self, connection: Connection) -> None:
        self._capture.watch(connection)
        self._begin(connection)

    def keep(self, connection: Connection) -> None:
        changes = self._capture.take(connection)
        if changes.is_whole or _data_version(connection) != self._seen:
            self._begin(connection)
        else:
            self._apply(changes)
        self.kept += 1

    def close(self) -> None:
        connection = self._connection
        if connection is not None and not connection.in_transaction and _data_version(connection) == self._seen:
            if left := self._capture.take(connection):
                self._differences.append(f"{[row.table for row in left.rows]} changed outside of a transaction")
            self._compare(connection)

    def _begin(self, connection: Connection) -> None:
        """Make the copy anew."""
        self._connection, self._seen = connection, _data_version(connection)
        self._tables = {table.name: table for table in read_tables(connection)}
        self._path.unlink(missing_ok=True)
        with closing(self._open()) as copy, closing(copy_schema(connection)) as schema:
            schema.backup(copy)
            for (trigger,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                copy.execute(f"DROP TRIGGER {trigger}")
            copy.execute("BEGIN")
            for table in self._tables.values():
                _insert(copy, table, list(read_rows(connection, table)))
            _set_sequences(copy, read_sequences(connection))
            copy.commit()

    def _apply(self, changes: Changes) -> None:
        with closing(self._open()) as copy:
            copy.execute("BEGIN")
            for change in changes.rows:
                key = " AND ".join(f'"{name}" IS ?' for name in self._tables[change.table].key)
                copy.execute(f'DELETE FROM "{change.table}" WHERE {key}', change.key)
            for change in changes.rows:
                if change.row is not None:
                    _insert(copy, self._tables[change.table], [change.row])
            _set_sequences(copy, changes.sequences)
            copy.commit()

    def _compare(self, connection: Connection) -> None:
        """Note each table whose rows are not those of the original."""
        with closing(self._open()) as copy:
            for table in read_tables(connection):
                here, there = (_all_rows(each, table) for each in (connection, copy))
                if here != there:
                    self._differences.append(f"{table.name}: {_first_difference(here, there)}")
            if (here_ids := read_sequences(connection)) != (there_ids := read_sequences(copy)):
                self._differences.append(f"sqlite_sequence: {here_ids} is kept as {there_ids}")

    def _open(self) -> Connection:
        copy = sqlite3.connect(self._path, isolation_level=None)
        copy.execute("PRAGMA synchronous = OFF")
        copy.execute("PRAGMA journal_mode = MEMORY")
        return copy


def _insert(copy: Connection, table: TruthTable, rows: list[tuple[object, ...]]) -> None:
    columns, marks = ", ".join(f'"{name}"' for name in table.columns), ", ".join("?" * len(table.columns))
    copy.executemany(f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})', rows)


def _set_sequences(copy: Connection, sequences: dict[str, int]) -> None:
    for name, last in sequences.items():
        copy.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        copy.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))


def _all_rows(connection: Connection, table: TruthTable) -> list[str]:
    """Read all rows as texts, in which a number differs from the same number of another type."""
    return sorted(map(repr, read_rows(connection, table)))


def _first_difference(here: list[str], there: list[str]) -> str:
    missing, left = sorted(set(here) - set(there)), sorted(set(there) - set(here))
    return f"{len(missing)} rows missing, such as {missing[:1]}; {len(left)} too many, such as {left[:1]}"


def _data_version(connection: Connection) -> int:
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version
