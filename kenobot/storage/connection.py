"""Open a connection to SQLite with KenoBot's settings, check what text it can keep, and translate its errors."""

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from kenobot.ports.errors import StoreCorrupt, StoreError, StoreFull
from kenobot.storage.keeper import Keeper, open_keeper

T = TypeVar("T")

Connection = sqlite3.Connection

_log = logging.getLogger(__name__)

LOG_PAGES = 1000
"""Pages of a write-ahead log that are folded into the database at a time: each time writes the busy pages once more."""
LOG_BYTES = 4 * 1024**2
"""Size to which a log is cut back after a large transaction or a long reading made it longer: that of so many pages."""
LOG_BYTES_AT_REST = 1024**2
"""Size above which a log is folded in and emptied once nothing has been written for a while."""


class SteppedConnection(sqlite3.Connection):
    """A connection that calls `before_query`, if any, before each query: to rest, or to raise and so end the asker."""

    before_query: Callable[[], None] | None = None

    def execute(self, sql: str, /, *values: Any) -> sqlite3.Cursor:
        if self.before_query is not None:
            self.before_query()
        return super().execute(sql, *values)


class WritingConnection(SteppedConnection):
    """A connection whose transactions end by `commit`, with the keeper of its database, if it has one.

    is_behind: the keeper has kept what could not be committed here, so no further transaction is.
    """

    keeper: Keeper | None = None
    is_behind = False

    def commit(self) -> None:
        """Keep what the transaction changed, then commit it.

        Raises StoreError when it is not kept, or the database is behind what was kept, and sqlite3.Error.
        """
        if self.before_query is not None:
            self.before_query()
        if self.keeper is None or not self.in_transaction:
            super().execute("COMMIT")  # unlike the library's own, an error where no transaction is open any more
            return
        if self.is_behind:
            raise StoreError("database.behind")
        self.keeper.keep(self)
        try:
            super().execute("COMMIT")
        except BaseException:
            self.is_behind = True
            raise

    def close(self) -> None:
        keeper, self.keeper = self.keeper, None
        try:
            if keeper is not None:
                keeper.close()
        finally:
            super().close()


def connect(
    path: Path,
    *,
    readonly: bool = False,
    is_watched: bool = True,
    before_query: Callable[[], None] | None = None,
) -> Connection:
    """Open a connection with KenoBot's settings, in autocommit mode: transactions are spelled out.

    One that writes ends its transactions by `commit`, for its keeper's sake. is_watched: whether that notes what each
    changes; it cannot where the schema changes, and has to read everything then.
    before_query: see `SteppedConnection`; one that writes may be given it later.
    """
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    plain = sqlite3.Connection if before_query is None else SteppedConnection
    factory = plain if readonly else WritingConnection
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=10, factory=factory
    )
    if isinstance(connection, SteppedConnection):
        connection.before_query = before_query
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")  # what a savepoint would undo, too
        if not readonly:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        if isinstance(connection, WritingConnection) and (keeper := open_keeper(path)) is not None:
            connection.keeper = keeper
            if is_watched:
                keeper.watch(connection)
    except (sqlite3.Error, StoreError):
        connection.close()
        raise
    except UnicodeDecodeError:  # SQLite quotes a schema that is damaged
        connection.close()
        damaged = sqlite3.DatabaseError("database disk image is malformed")
        damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damaged from None
    return connection


class Reader:
    """A reading connection that is opened when it is first used. before_query: see `SteppedConnection`."""

    def __init__(self, path: Path, before_query: Callable[[], None] | None = None) -> None:
        self._path, self._before_query = path, before_query
        self.connection: Connection | None = None

    def open(self) -> Connection:
        """Open it. Raises sqlite3.Error and StoreError."""
        self.connection = connect(self._path, readonly=True, before_query=self._before_query)
        return self.connection

    def close(self) -> None:
        """Close it; a further use opens it again."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()


def copy_schema(connection: Connection) -> Connection:
    """Open a database in memory that has the schema of another, and none of its rows."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    made = (
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    )
    for (sql,) in connection.execute(made):
        copy.execute(sql)
    return copy


def make_storable(text: str) -> str:
    """Remove NULs, which not every database can hold, replace lone surrogates, which have no UTF-8, and join pairs."""
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_store_error(error: sqlite3.Error | MemoryError) -> StoreError:
    """Translate an error of SQLite into our own."""
    if isinstance(error, MemoryError):
        return StoreError("database.no_memory")
    code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY):
        return StoreFull("database.disk_full_or_read_only")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorrupt("database.damaged")
    return StoreError("database.failed", reason=error)


@contextlib.contextmanager
def translate_sqlite() -> Iterator[None]:
    """Raise StoreError for an error of SQLite in the block."""
    try:
        yield
    except sqlite3.Error as error:
        raise to_store_error(error) from error


@contextlib.contextmanager
def savepoint(connection: Connection, name: str = "step") -> Iterator[None]:
    """Undo what the block wrote if it raises."""
    connection.execute(f"SAVEPOINT {name}")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk has undone the whole transaction already
            connection.execute(f"ROLLBACK TO {name}")
            connection.execute(f"RELEASE {name}")
        raise
    connection.execute(f"RELEASE {name}")


def in_savepoint(connection: Connection, name: str, work: Callable[[], T], failed: Callable[[Exception], T]) -> T:
    """Run `work` in a savepoint; an error is rolled back, logged under `name` and turned into a result by `failed`.

    The error of a failing disk is raised.
    """
    try:
        with savepoint(connection, name):
            return work()
    except Exception as error:
        if type(error) in (sqlite3.DatabaseError, sqlite3.OperationalError):  # damaged, or failing
            raise
        _log.exception("a %s could not be taken in", name)
        return failed(error)
