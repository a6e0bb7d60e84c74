"""A second database that follows a first one by its captured changes alone, and must be equal to it at the end."""

import contextlib
import itertools
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from kenobot.ports.errors import StoreError
from kenobot.storage.capture import ChangeCapture, Changes, NoKey, TruthTable, read_rows, read_sequences, read_tables
from kenobot.storage.connection import Connection, copy_schema
from kenobot.storage.keeper import use_keepers
from tests.scratch import scratch


class Replay:
    """Keep a database in a file beside it, group by group: the keeper that tests compare with the original.

    What another connection commits meanwhile is another keeper's, or nobody's: the copy is then made anew.
    is_strict: whether a change without a transaction is a difference; a test's own connection may make such.
    """

    def __init__(self, copy: Path, differences: list[str], *, is_strict: bool = True) -> None:
        self._path, self._differences, self._is_strict = copy, differences, is_strict
        self._capture = ChangeCapture()
        self._connection: Connection | None = None
        self._seen = 0
        self._tables: dict[str, TruthTable] = {}
        self.kept = 0

    def watch(self, connection: Connection) -> None:
        with contextlib.suppress(NoKey):  # of a table that a test made
            self._capture.watch(connection)
            self._begin(connection)

    def keep(self, connection: Connection) -> None:
        self.kept += 1
        if self._connection is None:
            return
        changes = self._capture.take(connection)
        if changes.is_whole or _data_version(connection) != self._seen:
            try:
                self._begin(connection)
            except NoKey:
                self._connection = None
        else:
            self._apply(changes)

    def close(self) -> None:
        if self._connection is not None and not self._connection.in_transaction:
            with contextlib.suppress(StoreError):  # it was broken off
                self._connection.execute("BEGIN")
                self._end(self._connection)
                self._connection.execute("ROLLBACK")

    def _end(self, connection: Connection) -> None:
        if _data_version(connection) != self._seen:
            return
        left = self._capture.take(connection)
        if left.is_whole:  # a test that plays with versions
            return
        if left and self._is_strict:
            self._differences.append(f"{ {row.table for row in left.rows} } changed outside of a transaction")
        self._apply(left)
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


@contextmanager
def replay_all() -> Iterator[list[str]]:
    """Let a copy follow each database that this process opens to write within the block; the differences found."""
    differences: list[str] = []
    numbers = itertools.count()
    with (
        scratch() as folder,
        use_keepers(lambda _: Replay(Path(folder) / f"{next(numbers)}.db", differences, is_strict=not _is_tests_own())),
    ):
        yield differences


def _is_tests_own() -> bool:
    """Return whether a test's module opens the connection, and not the product."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "connect":
        frame = frame.f_back
    opener = frame and frame.f_back
    return opener is not None and Path(__file__).parent in Path(opener.f_code.co_filename).parents


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
    """Read the number that changes with the commits of others, as of the moment that a transaction sees."""
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version
