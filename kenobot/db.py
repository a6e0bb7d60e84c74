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
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from kenobot.errors import ConfigError, KenobotError, StoreCorrupt, StoreError, StoreFull

T = TypeVar("T")
Connection = sqlite3.Connection

_log = logging.getLogger(__name__)
_READERS = 2
_GROUP = 512
_PATIENCE = 0.003  # seconds
_BACKUPS_KEPT = 5
_QUEUED = 20_000  # far above what those who wait for their writes can have under way
_PRUNED = 1000  # rows a transaction


class _Job:
    """Something to do with a connection, and the future that waits for it, if anybody does."""

    __slots__ = ("error", "loop", "patient", "result", "waiting", "work")

    def __init__(
        self,
        work: Callable[[Connection], Any],
        loop: asyncio.AbstractEventLoop,
        waiting: asyncio.Future[Any] | None,
        *,
        patient: bool = False,
    ) -> None:
        self.patient = patient
        self.work = work
        self.loop = loop
        self.waiting = waiting
        self.result: Any = None
        self.error: BaseException | None = None


class Database:
    """Open with `Database.open`; `write` and `read` may be called from any task of the running event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs: queue.SimpleQueue[tuple[_Job, ...] | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_on, name="kenobot-writer", daemon=True)
        self._readers = [
            threading.Thread(target=self._read_on, name=f"kenobot-reader-{number}", daemon=True)
            for number in range(_READERS)
        ]
        self._closed = False
        self._version: int | None = None

    @classmethod
    def open(cls, path: Path, backups: Path) -> "Database":
        """Open or create the database and bring it up to date, with a backup before each migration.

        Raises ConfigError when the file comes from a newer KenoBot or cannot be opened, StoreCorrupt when damaged.
        """
        _migrate(path, backups)
        database = cls(path)
        for thread in (database._writer, *database._readers):
            thread.start()
        return database

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def submit(
        self,
        work: Callable[[Connection], T],
        before: Callable[[Connection], object] | None = None,
        *,
        patient: bool = False,
    ) -> Awaitable[T]:
        """Queue `work` for the next transaction and return something to await. Order of submission is kept.

        `work` runs in the writer thread; it must be quick and must not commit. Awaiting raises whatever `work`
        raised, or StoreError when the commit failed: then nothing of it was written. `before` shares the transaction
        and stays written when `work` raises; its own failure is only logged. `patient`: see `write_soon`.
        """
        self._demand_open()
        _demand_room(self._jobs)
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[T] = loop.create_future()
        job = _Job(work, loop, waiting, patient=patient)
        self._jobs.put((job,) if before is None else (_Job(before, loop, None), job))
        return waiting

    def post(self, work: Callable[[Connection], object]) -> None:
        """Queue `work` for the next transaction and do not wait; a failure is only logged. May ride with others.

        It is left undone when the disk is far behind: nobody waits for it, so nothing else would bound the queue.
        """
        if not self._closed and self._jobs.qsize() < _QUEUED:
            self._jobs.put((_Job(work, asyncio.get_running_loop(), None, patient=True),))

    async def write_soon(self, work: Callable[[Connection], T]) -> T:
        """Like `write`, for what holds nobody up: waits some milliseconds for another write to share a commit."""
        return await self.submit(work, patient=True)

    async def write(self, work: Callable[[Connection], T], before: Callable[[Connection], object] | None = None) -> T:
        """Run `work` in a transaction; return when it is on disk. See `submit`."""
        return await self.submit(work, before)

    async def changed_elsewhere(self) -> bool:
        """Whether another process has written since the last call. The first call cannot know, and says so by True."""
        version = await self.write_soon(lambda connection: int(connection.execute("PRAGMA data_version").fetchone()[0]))
        before, self._version = self._version, version
        return version != before

    async def prune(self, table: str, condition: str, *values: object) -> None:
        """Delete the rows of `table` that fit, found by a reader and a thousand a transaction: nobody waits long."""
        sought = f"SELECT rowid FROM {table} WHERE {condition} LIMIT {_PRUNED}"  # noqa: S608 - constants of ours
        dropped = f"DELETE FROM {table} WHERE rowid = ? AND ({condition})"  # noqa: S608 - constants of ours
        while rows := await self.read(lambda connection: connection.execute(sought, values).fetchall()):
            doomed = [(*row, *values) for row in rows]
            await self.write(partial(_each, dropped, doomed))

    def _write_on(self) -> None:
        connection = connect(self._path)
        try:
            jobs = self._jobs.get()
            while jobs is not None:
                group = list(jobs)
                jobs = self._join(group)
                _commit(connection, group)
                _settle(group)
                if jobs is not None:
                    jobs = self._jobs.get()
        finally:
            connection.close()

    def _join(self, group: list[_Job]) -> tuple[()] | None:
        """Add what else is waiting to `group`; a patient group waits a moment for company. None: it is the last one."""
        deadline = time.monotonic() + _PATIENCE
        while len(group) < _GROUP:
            try:
                if all(job.patient for job in group):
                    jobs = self._jobs.get(timeout=max(0.0, deadline - time.monotonic()))
                else:
                    jobs = self._jobs.get_nowait()
            except queue.Empty:
                break
            if jobs is None:
                return None
            group.extend(jobs)
        return ()

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a reader connection, in one consistent snapshot of what has been committed."""
        self._demand_open()
        _demand_room(self._reads)
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[T] = loop.create_future()
        self._reads.put(_Job(work, loop, waiting))
        return await waiting

    def _read_on(self) -> None:
        connection: Connection | None = None
        while (job := self._reads.get()) is not None:
            try:
                connection = connection or connect(self._path, readonly=True)
                connection.execute("BEGIN")
                try:
                    job.result = job.work(connection)
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                job.error = translate(error)
            except Exception as error:
                job.error = error
            _settle([job])
        if connection is not None:
            connection.close()

    async def close(self) -> None:
        """Finish what was submitted, then close every connection."""
        if self._closed:
            return
        self._closed = True
        for _ in self._readers:
            self._reads.put(None)
        for thread in self._readers:
            await asyncio.to_thread(thread.join)
        self._jobs.put(None)  # last, because the last connection to close folds the write-ahead log into the file
        await asyncio.to_thread(self._writer.join)

    def _demand_open(self) -> None:
        if self._closed:
            raise StoreError("The database is closed.")


def _each(sql: str, rows: list[tuple[object, ...]], connection: Connection) -> None:
    connection.executemany(sql, rows)


def _demand_room(waiting: "queue.SimpleQueue[Any]") -> None:
    if waiting.qsize() >= _QUEUED:
        raise StoreError("The disk is too slow for what is asked of it: try again later.")


def connect(path: Path, *, readonly: bool = False) -> Connection:
    """A connection with the house's settings, in autocommit mode: transactions are spelled out."""
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=10)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        if not readonly:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA journal_size_limit = 67108864")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def storable(text: str) -> str:
    """`text` as it can be kept: lone surrogates, which have no UTF-8, are replaced, and split pairs joined."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
        if connection.in_transaction:  # a full disk has undone the whole transaction already
            connection.execute(f"ROLLBACK TO {name}")
            connection.execute(f"RELEASE {name}")
        raise
    connection.execute(f"RELEASE {name}")


def _commit(connection: Connection, group: list[_Job]) -> None:
    """Run every job of `group` in one transaction and note what came of each.

    A job that makes SQLite undo the whole transaction, because the disk is full, takes down nobody else either: then
    each runs once more in a transaction of its own.
    """
    undone = False
    try:
        connection.execute("BEGIN IMMEDIATE")
        for job in group:
            connection.execute("SAVEPOINT job")
            try:
                job.result = job.work(connection)
            except Exception as error:
                if not connection.in_transaction:
                    undone = True
                    raise
                connection.execute("ROLLBACK TO job")
                job.error = translate(error) if isinstance(error, sqlite3.Error) else error
            connection.execute("RELEASE job")
        connection.execute("COMMIT")
    except Exception as error:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        for job in group:
            job.error = translate(error) if isinstance(error, sqlite3.Error) else error
            if undone and len(group) > 1:
                job.error = None
                _commit(connection, [job])


def _settle(jobs: list[_Job]) -> None:
    """Tell everybody at once, so that a group wakes the event loop once."""
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        jobs[0].loop.call_soon_threadsafe(_tell, jobs)


def _tell(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.waiting is None:
            if job.error is not None:
                _log.warning("a write that nobody waits for failed: %s", job.error)
        elif job.waiting.done():
            continue  # cancelled
        elif job.error is not None:
            job.waiting.set_exception(job.error)
        else:
            job.waiting.set_result(job.result)


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
        check(path)
        connection = connect(path)
    except (sqlite3.Error, OSError) as error:
        raise _cannot_open(path, error) from error
    try:
        path.chmod(0o600)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > newest:
            raise _newer(path, version, newest)
        for number, script in steps:
            if number <= version:
                continue
            if existed:
                _back_up(connection, backups, f"before-{number:04d}")
            connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")
    except (sqlite3.Error, OSError) as error:
        raise _cannot_open(path, error) from error
    finally:
        connection.close()


def check(path: Path) -> None:
    """Look whether this KenoBot can use the database, changing nothing, neither the file nor what is beside it.

    Raises ConfigError when it is a newer KenoBot's or not ours to read, StoreCorrupt when it is no database.
    """
    try:
        header = _header(path)
        logged = _logged_version(path.with_name(f"{path.name}-wal"))
    except OSError as error:
        raise _cannot_open(path, error) from error
    if header is None:
        return
    newest = migrations()[-1][0]
    if header and not header.startswith(b"SQLite format 3\0"):
        raise StoreCorrupt(
            f"{path} is not a database: set it aside, or put a copy from the backups folder in its place."
        )
    version = int.from_bytes(header[60:64], "big") if len(header) == 100 else 0
    version = version if logged is None else logged
    if version > newest:
        raise _newer(path, version, newest)


def _header(path: Path) -> bytes | None:
    """The first hundred bytes; None when there is no file. Raises ConfigError when it is not ours, and OSError."""
    if not path.exists():
        return None
    if not os.access(path, os.R_OK | os.W_OK):
        raise ConfigError(f"KenoBot may not read and write {path}: check who owns it.")
    with path.open("rb") as file:
        return file.read(100)


def _logged_version(log: Path) -> int | None:
    """The version in the newest committed first page that a write-ahead log holds; see sqlite.org/fileformat.html.

    After a kill it may stand nowhere else, and SQLite itself would fold the log into the file just by looking.
    """
    if not log.exists():
        return None
    committed = found = None
    with log.open("rb") as file:
        header = file.read(32)
        page = int.from_bytes(header[8:12], "big")
        while page and len(frame := file.read(24)) == 24 and frame[8:16] == header[16:24]:
            content = file.read(page)
            if len(content) < page:
                break
            if frame[:4] == b"\0\0\0\1":
                found = int.from_bytes(content[60:64], "big")
            if frame[4:8] != b"\0\0\0\0":
                committed = found
    return committed


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
