"""The one database of a home: SQLite in WAL mode, one writer thread with group commit, a few readers.

Everything that must not be lost is on disk (`synchronous=FULL`) before `write` returns. Writes that arrive while a
commit is under way share the next one, each in a savepoint of its own, so a failing write takes down nobody else.
"""

import asyncio
import contextlib
import logging
import os
import queue
import shutil
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from kenobot.errors import ConfigError, KenobotError, StoreCorrupt, StoreError, StoreFull

T = TypeVar("T")
Connection = sqlite3.Connection

_log = logging.getLogger(__name__)
_READERS = 2
_GROUP = 512
_BACKUPS_KEPT = 5


class _Job:
    __slots__ = ("done", "result", "work")

    def __init__(self, work: Callable[[Connection], Any]) -> None:
        self.work = work
        self.done: Future[Any] = Future()
        self.result: Any = None


class Database:
    """Open with `Database.open`; `write` and `read` may be called from any task of the running event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._local = threading.local()
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="kenobot-reader")
        self._opened: list[Connection] = []
        self._writer = threading.Thread(target=self._run, name="kenobot-writer", daemon=True)
        self._closed = False

    @classmethod
    def open(cls, path: Path, backups: Path) -> "Database":
        """Open or create the database and bring it up to date, with a backup before each migration.

        Raises ConfigError when the file comes from a newer KenoBot or cannot be opened, StoreCorrupt when damaged.
        """
        _migrate(path, backups)
        database = cls(path)
        database._writer.start()
        return database

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def submit(self, work: Callable[[Connection], T]) -> Awaitable[T]:
        """Queue `work` for the next transaction and return something to await. Order of submission is kept.

        `work` runs in the writer thread; it must be quick and must not commit. Awaiting raises whatever `work`
        raised, or StoreError when the commit failed: then nothing of it was written.
        """
        if self._closed:
            raise StoreError("The database is closed.")
        job = _Job(work)
        self._jobs.put(job)
        return asyncio.wrap_future(job.done)

    def post(self, work: Callable[[Connection], object]) -> None:
        """Queue `work` for the next transaction and do not wait; a failure is only logged."""
        if self._closed:
            return
        job = _Job(work)
        job.done.add_done_callback(_log_failure)
        self._jobs.put(job)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction; return when it is on disk. See `submit`."""
        return await self.submit(work)

    def _run(self) -> None:
        connection = connect(self._path)
        try:
            while True:
                job = self._jobs.get()
                if job is None:
                    return
                group = [job]
                stop = False
                while len(group) < _GROUP:
                    try:
                        following = self._jobs.get_nowait()
                    except queue.Empty:
                        break
                    if following is None:
                        stop = True
                        break
                    group.append(following)
                _commit(connection, group)
                if stop:
                    return
        finally:
            connection.close()

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a reader connection, in one consistent snapshot of what has been committed."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self._path, readonly=True)
            self._opened.append(connection)
        try:
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise translate(error) from error

    async def close(self) -> None:
        """Finish what was submitted, then close every connection."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._opened:
            connection.close()
        self._jobs.put(None)  # last, because the last connection to close folds the write-ahead log into the file
        await asyncio.to_thread(self._writer.join)


def connect(path: Path, *, readonly: bool = False) -> Connection:
    """A connection with the house's settings, in autocommit mode: transactions are spelled out."""
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=10)
    connection.execute("PRAGMA foreign_keys = ON")
    if not readonly:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 67108864")
    return connection


def translate(error: sqlite3.Error) -> StoreError:
    """Our own error for one of SQLite's."""
    code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY):
        return StoreFull("The disk is full or read-only: nothing can be saved until there is space again.")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorrupt(
            "The database is damaged: stop KenoBot and put a copy from the backups folder in its place."
        )
    return StoreError(f"The database could not do its work ({error}).")


@contextlib.contextmanager
def savepoint(connection: Connection, name: str = "step") -> Iterator[None]:
    """Undo what the block wrote if it raises."""
    connection.execute(f"SAVEPOINT {name}")
    try:
        yield
    except BaseException:
        connection.execute(f"ROLLBACK TO {name}")
        connection.execute(f"RELEASE {name}")
        raise
    connection.execute(f"RELEASE {name}")


def _commit(connection: Connection, group: list[_Job]) -> None:
    """Run every job of `group` in one transaction and settle their futures."""
    failed: dict[int, BaseException] = {}
    try:
        connection.execute("BEGIN IMMEDIATE")
        for index, job in enumerate(group):
            try:
                with savepoint(connection, "job"):
                    job.result = job.work(connection)
            except sqlite3.Error as error:
                if not connection.in_transaction:
                    raise
                failed[index] = translate(error)
            except Exception as error:
                failed[index] = error
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        for job in group:
            _settle(job, translate(error))
        return
    for index, job in enumerate(group):
        _settle(job, failed.get(index))


def _log_failure(done: Future[Any]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        _log.warning("a write that nobody waits for failed: %s", error)


def _settle(job: _Job, error: BaseException | None) -> None:
    if not job.done.set_running_or_notify_cancel():
        return
    if error is not None:
        job.done.set_exception(error)
    else:
        job.done.set_result(job.result)


# ── migrations ───────────────────────────────────────────────────────────────────────────────────────────────────


def migrations() -> list[tuple[int, str]]:
    """Every migration that ships, as (number, SQL), in order."""
    folder = resources.files("kenobot") / "migrations"
    files = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [(int(name.split("_", 1)[0]), (folder / name).read_text("utf-8")) for name in files]


def _migrate(path: Path, backups: Path) -> None:
    steps = migrations()
    newest = steps[-1][0]
    existed = path.exists()
    try:
        if existed:
            _refuse_newer(path, newest)
        connection = connect(path)
        path.chmod(0o600)
    except (sqlite3.Error, OSError) as error:
        raise _cannot_open(path, error) from error
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > newest:
            raise _newer(path, version, newest)
        for number, script in steps:
            if number <= version:
                continue
            if existed:
                _back_up(connection, backups, f"before-{number:04d}")
            connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")
    except sqlite3.Error as error:
        raise _cannot_open(path, error) from error
    finally:
        connection.close()


def _refuse_newer(path: Path, newest: int) -> None:
    """Look at the version without creating or changing anything beside the file."""
    if not os.access(path, os.R_OK | os.W_OK):
        raise ConfigError(f"KenoBot may not read and write {path}: check who owns it.")
    with path.open("rb") as file:
        header = file.read(100)
    if header and not header.startswith(b"SQLite format 3\0"):
        raise StoreCorrupt(
            f"{path} is not a database: set it aside, or put a copy from the backups folder in its place."
        )
    version = int.from_bytes(header[60:64], "big") if len(header) == 100 else 0
    if version > newest:
        raise _newer(path, version, newest)


def _newer(path: Path, version: int, newest: int) -> ConfigError:
    return ConfigError(
        f"The database in {path} was written by a newer KenoBot (version {version}, this one knows {newest}): "
        "update KenoBot, or restore a copy from the backups folder."
    )


def _cannot_open(path: Path, error: Exception) -> KenobotError:
    if isinstance(error, sqlite3.Error):
        translated = translate(error)
        if isinstance(translated, StoreCorrupt):
            return translated
    return ConfigError(f"The database {path} cannot be opened ({error}): check the folder's owner and free space.")


def _back_up(connection: Connection, backups: Path, label: str) -> None:
    backups.mkdir(mode=0o700, exist_ok=True)
    target = backups / f"kenobot-{label}.db"
    partial = target.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    connection.execute("VACUUM INTO ?", (str(partial),))
    partial.chmod(0o600)
    shutil.move(partial, target)
    for old in sorted(backups.glob("kenobot-before-*.db"))[:-_BACKUPS_KEPT]:
        old.unlink()
