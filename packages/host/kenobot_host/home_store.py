"""Keep homes in PostgreSQL: take one in from its database, make a working copy of it, and commit what a copy changes.

A working copy knows the version of the home that it is a copy of, in the header of its file, which changes within
SQLite's own transaction. So a copy whose last commit failed, or that was put back from elsewhere, is found out.
"""

import contextlib
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import psycopg

from kenobot.ports.errors import ConfigError, Fenced, StoreError
from kenobot.storage.capture import Changes, SqlValue, read_rows, read_sequences, read_tables
from kenobot.storage.connection import connect, translate_sqlite
from kenobot.storage.transactions import transaction
from kenobot_host import home_rows
from kenobot_host.connections import (
    ANSWER_SECONDS,
    LONG_SECONDS,
    Connections,
    TimedConnection,
    limit_statements,
    tell,
    translate_errors,
)
from kenobot_host.file_rows import StoredFile, save_files
from kenobot_host.home_rows import Holder, HomeRow
from kenobot_host.tables import Row, build_schema, describe_tables, newest_schema

_PATIENCE_SECONDS = 30.0  # for a server that starts anew
_PAUSE_SECONDS = 0.1
_BYTES_A_SECOND, _ROWS_A_SECOND = 500_000, 1000  # that a slow line and a busy server still take
_FENCED, _BEHIND = "KB001", "KB002"  # raised by the functions of migrations/0001_homes.sql
_LOST = ("08", "57P")  # classes of errors that end a connection: what was under way may have happened


class HomeLost(Fenced):
    """This worker has lost the home, or its copy is no longer what PostgreSQL has: the copy is to be dropped."""


class HomeStore:
    """The homes of one PostgreSQL. May be used from any thread.

    patience: seconds for which a commit waits for a server that does not answer.
    """

    def __init__(self, connections: Connections, patience: float = _PATIENCE_SECONDS) -> None:
        self.connections = connections
        self._patience = patience

    # ── whole homes ──────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, name: str, database: Path) -> int:
        """Take in the database of a home that no bot runs in; returns its number.

        Raises ConfigError when the name is taken, the database needs an update first, or StoreError.
        """
        with translate_sqlite(), closing(connect(database, readonly=True)) as source:
            source.execute("BEGIN")
            with self.connections.open_long() as connection, connection.transaction():
                return self.add_rows(connection, name, source)

    def add_rows(self, connection: TimedConnection, name: str, source: sqlite3.Connection) -> int:
        """Take in the rows of a home within a transaction. See `add`."""
        schema = read_schema(source)
        if schema > newest_schema():
            raise ConfigError("host.newer_home", name=name)
        home = home_rows.insert_home(connection, name, schema, read_sequences(source))
        if home is None:
            raise ConfigError("host.taken", name=name)
        _copy_all(connection, home, source)
        return home

    def load(self, home: int, path: Path) -> HomeRow:
        """Write the rows of a home into a new database at `path`; returns the home's own row of that moment.

        It has the schema that the rows have had, and none of the tables that are made anew. Raises ConfigError for a
        home that is not there, or a newer KenoBot's, and StoreError.
        """
        with self.connections.open_long() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            row = self.require(connection, home)
            make_copy(connection, row, path)
        return row

    def require(self, connection: TimedConnection, home: int) -> HomeRow:
        """Load the row of a home that this KenoBot can read. Raises ConfigError."""
        row = home_rows.load_home(connection, home)
        if row is None:
            raise ConfigError("host.no_home", name=home)
        if row.schema > newest_schema():
            raise ConfigError("host.newer_home", name=row.name)
        return row

    def find(self, name: str) -> HomeRow:
        """Find a home by its name. Raises ConfigError and StoreError."""
        with translate_errors(), self.connections.borrow() as connection:
            row = home_rows.find_home(connection, name)
        if row is None:
            raise ConfigError("host.no_home", name=name)
        return row

    def remove(self, home: int) -> None:
        """Remove a home with all that it has. Raises StoreError."""
        with self.connections.open_long() as connection, connection.transaction():
            home_rows.delete_home(connection, home)

    # ── commits of working copies ────────────────────────────────────────────────────────────────────────────────────

    def push(
        self,
        held: Holder,
        version: int,
        changes: Changes,
        source: sqlite3.Connection,
        files: Sequence[StoredFile] = (),
    ) -> int:
        """Commit what a working copy changed upon `version` of its home; returns the new version.

        source: the connection that changed it, with the transaction open. files: that changed beside it.
        Raises HomeLost when the home is another worker's, the copy is not of this version, or nobody can find out;
        StoreError when nothing was committed.
        """
        return _Push(self.connections, held, changes, source, files, self._patience).commit(version)


class _Push:
    """One commit, tried again while the server is away for a moment."""

    def __init__(
        self,
        connections: Connections,
        held: Holder,
        changes: Changes,
        source: sqlite3.Connection,
        files: Sequence[StoredFile],
        patience: float,
    ) -> None:
        self._connections, self._held = connections, held
        self._changes, self._source, self._files = changes, source, files
        self._deadline = time.monotonic() + patience

    def commit(self, version: int) -> int:
        """Commit; see `HomeStore.push`."""
        while not self._try(version):
            settled = self._settle(version)
            if settled == version + 1:  # it happened, and the answer was lost
                break
            if time.monotonic() > self._deadline:
                raise HomeLost("host.behind")  # it did not, but the version has moved on
            version = settled
        return version + 1

    def _try(self, version: int) -> bool:
        """Send the commit once; False when nobody knows what became of it. Raises StoreError when it did not happen."""
        try:
            connection = self._connections.lend(self._deadline)
        except psycopg.OperationalError as error:
            raise StoreError("host.unreachable", reason=tell(error)) from error
        try:
            if self._changes.is_whole:
                self._send_whole(connection, version)
            else:
                self._send(connection, version)
        except psycopg.Error as error:
            if not _is_lost(error):
                raise _translate(error) from error
            connection.close()
            return False
        finally:
            self._connections.take_back(connection)
        return True

    def _settle(self, version: int) -> int:
        """Find out what became of a commit; see `home_rows.settle_push`. Raises HomeLost."""
        self._connections.forget_broken()
        while True:
            try:
                connection = self._connections.lend(self._deadline)
            except psycopg.OperationalError as error:
                raise HomeLost("host.behind") from error  # it may have happened
            try:
                with connection.transaction():
                    limit_statements(connection, ANSWER_SECONDS / 2)
                    return home_rows.settle_push(connection, self._held, version)
            except psycopg.Error as error:
                if error.sqlstate in (_FENCED, _BEHIND):
                    raise _translate(error) from error
            finally:
                self._connections.take_back(connection)
            if time.monotonic() > self._deadline:
                raise HomeLost("host.behind")
            time.sleep(_PAUSE_SECONDS)

    def _send(self, connection: TimedConnection, version: int) -> None:
        """Send all statements at once: one way to the server and back."""
        tables = {table.name: table for table in describe_tables(read_schema(self._source))}
        rows: dict[str, list[Row]] = defaultdict(list)
        keys: dict[str, list[tuple[SqlValue, ...]]] = defaultdict(list)
        for change in self._changes.rows:
            if change.row is None:
                keys[change.table].append(change.key)
            else:
                rows[change.table].append(change.row)
        home, seconds = self._held.home, self._limit()
        connection.seconds = seconds
        with connection.pipeline():
            connection.execute("BEGIN")
            limit_statements(connection, seconds)
            home_rows.begin_push(connection, self._held, version, self._changes.sequences)
            for name, found in keys.items():
                home_rows.delete(connection, home, tables[name], found)
            for name, given in rows.items():
                home_rows.upsert(connection, home, tables[name], given)
            self._send_files(connection, version)
            connection.execute("COMMIT")

    def _limit(self) -> float:
        """Return the seconds that a statement may take: more where large files or many rows are on their way."""
        content = sum(len(file.content or b"") for file in self._files)
        return ANSWER_SECONDS + content / _BYTES_A_SECOND + len(self._changes.rows) / _ROWS_A_SECOND

    def _send_files(self, connection: TimedConnection, version: int) -> None:
        if self._files:
            save_files(connection, self._held.home, version + 1, self._files)

    def _send_whole(self, connection: TimedConnection, version: int) -> None:
        """Put all rows of the copy into the place of those that are there: its schema has changed."""
        connection.seconds = LONG_SECONDS
        connection.execute("BEGIN")
        home_rows.begin_push(connection, self._held, version, read_sequences(self._source))
        home_rows.delete_rows(connection, self._held.home)
        home_rows.set_schema(connection, self._held.home, read_schema(self._source))
        _copy_all(connection, self._held.home, self._source)
        self._send_files(connection, version)
        connection.execute("COMMIT")


# ── working copies ───────────────────────────────────────────────────────────────────────────────────────────────────


def read_schema(connection: sqlite3.Connection) -> int:
    """Return how many migrations a database has had."""
    return int(connection.execute("PRAGMA main.user_version").fetchone()[0])


def read_version(connection: sqlite3.Connection) -> int:
    """Return the version of the home that a working copy is of; 0 for a database that is none."""
    return int(connection.execute("PRAGMA main.application_id").fetchone()[0])


def write_version(connection: sqlite3.Connection, version: int) -> None:
    """Note the version of a working copy within its transaction: 31 bits, 68 years of a commit a second."""
    connection.execute(f"PRAGMA main.application_id = {version:d}")


def _copy_all(connection: TimedConnection, home: int, source: sqlite3.Connection) -> None:
    tables = {table.name: table for table in describe_tables(read_schema(source))}
    for truth in read_tables(source):
        home_rows.copy_in(connection, home, tables[truth.name], read_rows(source, truth))


@contextlib.contextmanager
def write_copy(path: Path, watch: Callable[[sqlite3.Connection], object] | None = None) -> Iterator[sqlite3.Connection]:
    """Change a working copy whose bot does not run, in one transaction and past the keeper of its path.

    watch: given the connection before the transaction. Raises StoreError.
    """
    with (
        translate_sqlite(),
        closing(sqlite3.connect(path, isolation_level=None, timeout=ANSWER_SECONDS)) as copy,
    ):
        if watch is not None:
            watch(copy)
        with transaction(copy):
            yield copy


def make_copy(connection: TimedConnection, row: HomeRow, path: Path) -> None:
    """Write the rows of a home into a new file, which is there whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with translate_sqlite(), closing(sqlite3.connect(part, isolation_level=None)) as copy:
        part.chmod(0o600)
        copy.execute("PRAGMA synchronous = OFF")  # until it is whole, it is of no use
        build_schema(copy, row.schema)
        copy.execute("BEGIN")
        for table in describe_tables(row.schema):
            places = ", ".join("?" * len(table.columns))
            names = ", ".join(f'"{name}"' for name in table.names)
            copy.executemany(
                f"INSERT INTO {table.name} ({names}) VALUES ({places})",  # noqa: S608 - names of our own schema
                home_rows.copy_out(connection, row.home, table),
            )
        copy.execute("DELETE FROM sqlite_sequence")
        copy.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", row.sequences.items())
        write_version(copy, row.version)
        copy.execute("COMMIT")
    for end in ("-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
    part.replace(path)


def _is_lost(error: psycopg.Error) -> bool:
    """Return whether the connection broke, so that a commit on it may have happened all the same."""
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate.startswith(_LOST))


def _translate(error: psycopg.Error) -> StoreError:
    match error.sqlstate:
        case "KB001":
            return HomeLost("host.taken_over")
        case "KB002":
            return HomeLost("host.behind")
        case _:
            return StoreError("host.failed", reason=tell(error))
