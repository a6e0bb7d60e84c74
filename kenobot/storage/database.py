"""The one database of a home: SQLite in WAL mode, one writer thread with group commit, a few readers, one behind them.

Everything that must not be lost is on disk (`synchronous=FULL`) before `write` returns. Writes that arrive while a
commit is under way share the next one, each in a savepoint of its own, so a failing write takes down nobody else; the
first of a transaction needs none.
"""

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kenobot.core import pacing
from kenobot.core.pacing import Pacer, Rank, current_rank
from kenobot.ports.errors import Fenced, StoreError
from kenobot.storage.connection import (
    LOG_BYTES_AT_REST,
    Connection,
    Reader,
    SteppedConnection,
    WritingConnection,
    connect,
    savepoint,
    to_store_error,
)
from kenobot.storage.job_queue import JobQueue
from kenobot.storage.migrate import migrate, open_writer
from kenobot.storage.result import Result, ResultQueue
from kenobot.storage.shared_threads import SharedLine, SharedThreads
from kenobot.storage.stepped_work import Steps

T = TypeVar("T")

_log = logging.getLogger(__name__)
_READERS = 2
_GROUP = 512
_PATIENCE = 0.003  # seconds
_QUEUED = 20_000  # far above what those who wait for their writes can have under way
_PRUNED = 1000  # rows a transaction
_BUSY_SECONDS = 10.0  # that another program may hold the lock
_BUSY_LOOK_SECONDS = 0.1
_BUSY_TIMEOUT = f"PRAGMA busy_timeout = {round(_BUSY_LOOK_SECONDS * 1000)}"
_REST = 1.0  # times what a transaction of long work took, before the next one
_BREAK_OFF_SECONDS = 0.5
_QUIET_SECONDS = 1.0  # without a write, before the log is folded in


@dataclass(slots=True)
class _Job:
    """Work for a connection, and the future that waits for its result, if anything does."""

    work: Callable[[Connection], Any]
    loop: asyncio.AbstractEventLoop
    waiting: Result[Any] | None = None
    rescue: Callable[[Connection], object] | None = None
    patient: bool = False
    result: Any = None
    error: BaseException | None = None

    def tell(self) -> None:
        """Set the result for whatever waits for it, in the event loop's thread."""
        if self.waiting is not None:
            self.waiting.settle(self.result, self.error)
        elif self.error is not None:
            _log.warning("a write that nobody waits for failed: %s", self.error)


_Worker = threading.Thread | SharedLine[_Job]


class Database:
    """Open with `Database.open`; `write` and `read` may be called from any task of the running event loop.

    Background work (`kenobot.core.pacing.Rank`) reads in a thread of its own, which rests between its queries while
    turns are under way, and has its writes begun in their gaps.
    """

    def __init__(self, path: Path, shared: SharedThreads | None = None) -> None:
        self._path = path
        self.pacer = Pacer()
        self._hurried = threading.Event()
        self._connection: Connection | None = self._open_writer()  # the writer's own
        self._reads: queue.SimpleQueue[_Job | None] | SharedLine[_Job]
        self._jobs: JobQueue[_Job | None]
        self._later: JobQueue[_Job | None]
        self._results = ResultQueue()
        self._writer: _Worker
        self._readers: Sequence[_Worker]
        if shared is None:
            self._begin_own_threads()
        else:
            self._join_threads(shared)
        self.close_beside: Callable[[], object] = lambda: None
        """Called when a shared thread that read has rested: to close what was opened beside the reading."""
        self._closed = False
        self._version: int | None = None

    def _begin_own_threads(self) -> None:
        self._jobs = JobQueue()
        # bounded: 20,000 readings waiting; test_readers_that_stand_still_fill_no_queue
        self._reads = queue.SimpleQueue()
        self._later = JobQueue(len(Rank) + 1)  # by rank, and behind all of them its end
        self._writer = threading.Thread(target=self._write_on, name="kenobot-writer", daemon=True)
        readers = [
            threading.Thread(target=self._read_on, name=f"kenobot-reader-{number}", daemon=True)
            for number in range(_READERS)
        ]
        self._readers = (*readers, threading.Thread(target=self._read_behind, name="kenobot-background", daemon=True))

    def _join_threads(self, shared: SharedThreads) -> None:
        front, behind = Reader(self._path), Reader(self._path, pacing.step)
        self._jobs = self._writer = SharedLine(shared, shared.writing, self._write_some, self._close_writer)
        read, read_behind = partial(self._read_one, front), partial(self._read_one_behind, behind)
        self._reads = SharedLine(shared, shared.reading, read, partial(self._close_reader, front))
        self._later = SharedLine(shared, shared.behind, read_behind, partial(self._close_reader, behind), len(Rank) + 1)
        self._readers = (self._reads, self._later)

    def _open_writer(self) -> Connection:
        connection = open_writer(self._path)
        # Waiting for another program's lock is our own, so that it can be ended.
        connection.execute(_BUSY_TIMEOUT)
        return connection

    @classmethod
    def open(cls, path: Path, backups: Path, shared: SharedThreads | None = None) -> "Database":
        """Open or create the database and bring it up to date, with a backup before each migration.

        shared: threads that do its work, in place of its own; those of a process with many homes.
        Raises ConfigError when the file comes from a newer KenoBot or cannot be opened, StoreCorrupt when damaged.
        """
        migrate(path, backups)
        database = cls(path, shared)
        for thread in (database._writer, *database._readers):
            if isinstance(thread, threading.Thread):
                thread.start()
        return database

    @property
    def is_behind(self) -> bool:
        """Return whether the file lacks what its keeper has kept, so that it takes no transaction any more."""
        return isinstance(self._connection, WritingConnection) and self._connection.is_behind

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def submit(
        self,
        work: Callable[[Connection], T],
        rescue: Callable[[Connection], object] | None = None,
        *,
        patient: bool = False,
    ) -> Result[T]:
        """Queue `work` for the next transaction and return its result to await. Order of submission is kept.

        `work` runs in the writer thread; it must be quick and must not commit. Awaiting raises whatever `work`
        raised, or StoreError when the commit failed: then nothing of it was written. `rescue` is written in its place
        when `work` raises; its own failure is only logged. `patient`: see `write_soon`.
        """
        job, waiting = self._job(work, self._jobs)
        job.rescue, job.patient = rescue, patient
        self._jobs.put(job)
        return waiting

    def write_nowait(self, work: Callable[[Connection], object]) -> None:
        """Queue `work` for the next transaction and do not wait; a failure is only logged. May ride with others.

        It is left undone when the disk is far behind: nobody waits for it, so nothing else would bound the queue.
        """
        if not self._closed and self._jobs.qsize() < _QUEUED:
            self._jobs.put(_Job(work, asyncio.get_running_loop(), patient=True))

    async def write_soon(self, work: Callable[[Connection], T]) -> T:
        """Write what holds nothing up: wait some milliseconds for another write to share a commit."""
        if current_rank():
            await self.pacer.await_gap()
        return await self.submit(work, patient=True)

    async def write(self, work: Callable[[Connection], T], rescue: Callable[[Connection], object] | None = None) -> T:
        """Run `work` in a transaction; return when it is on disk. See `submit`."""
        behind = bool(current_rank())
        if behind:
            await self.pacer.await_gap()
        return await self.submit(work, rescue, patient=behind)

    async def write_in_steps(self, work: Callable[[Connection], Generator[None, None, T]], size: int) -> T:
        """Run long work in transactions of at most `size` of its steps, between which everybody else may write.

        `work` yields after each step, and holds nothing over a yield that a transaction's end would change. What was
        written stays when a later step fails, or when the caller is cancelled: it must be possible to do it again.
        """
        steps = Steps(work, size)
        while True:
            result = await self.write(steps.batch())
            if result is not None:
                return result[0]
            await asyncio.sleep(_REST * steps.seconds)

    async def has_changed_elsewhere(self) -> bool:
        """Return whether another process has written since the last call.

        The first call cannot know, and says so by True.
        """
        version = await self.write_soon(lambda connection: int(connection.execute("PRAGMA data_version").fetchone()[0]))
        before, self._version = self._version, version
        return version != before

    async def prune(self, table: str, condition: str, *values: object) -> None:
        """Delete the rows of `table` that fit, a thousand a transaction, so that no other write waits long."""
        sought = f"SELECT rowid FROM {table} WHERE {condition} LIMIT {_PRUNED}"
        dropped = f"DELETE FROM {table} WHERE rowid = ? AND ({condition})"
        while rows := await self.read(lambda connection: connection.execute(sought, values).fetchall()):
            await self.write(partial(_delete_each, dropped, [(*row, *values) for row in rows]))

    def _write_on(self) -> None:
        connection = self._connection
        assert connection is not None
        try:
            job = self._jobs.get()
            while job is not None:
                is_last = self._write_group(connection, job)
                del job  # a thread that waits holds nothing of what it did last
                job = None if is_last else self._next_job(connection)
        finally:
            connection.close()

    def _write_group(self, connection: Connection, job: _Job) -> bool:
        """Do a job and what waits behind it; return whether that was the last one."""
        group = [job]
        is_last = self._join(group)
        self._commit(connection, group)
        self._tell(group)
        return is_last

    def _write_some(self, _: object, job: _Job) -> bool:
        """Do as `_write_group`, in a thread that is shared, by a connection that is opened where it was closed."""
        if self._connection is None:
            try:
                self._connection = self._open_writer()
            except Exception as error:
                job.error = _translate_error(error)
                self._tell([job])
                return False
        return self._write_group(self._connection, job)

    def _close_writer(self) -> None:
        """Close the writer's connection; one that is behind is kept, for it says so."""
        if self._connection is not None and (self._closed or not self.is_behind):
            connection, self._connection = self._connection, None
            connection.close()

    def _next_job(self, connection: Connection) -> _Job | None:
        """Wait for a job; when none comes for a while, fold a large log into the database meanwhile."""
        try:
            return self._jobs.get(_QUIET_SECONDS)
        except queue.Empty:
            self._fold_log(connection)
            return self._jobs.get()

    def _fold_log(self, connection: Connection) -> None:
        """Fold in the write-ahead log unless it is small or a reader needs it still."""
        with contextlib.suppress(OSError, sqlite3.Error, StoreError):  # a later commit reports what is wrong
            if self._path.with_name(f"{self._path.name}-wal").stat().st_size > LOG_BYTES_AT_REST:
                connection.execute("PRAGMA busy_timeout = 0")
                try:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                finally:
                    connection.execute(_BUSY_TIMEOUT)

    def _join(self, group: list[_Job]) -> bool:
        """Add what else is waiting to `group`; a patient group waits a moment for company. True: it is the last one."""
        ends = time.monotonic() + _PATIENCE
        is_patient = group[0].patient
        while len(group) < _GROUP:
            try:
                job = self._jobs.get(max(0.0, ends - time.monotonic()) if is_patient else 0.0)
            except queue.Empty:
                break
            if job is None:
                return True
            group.append(job)
            is_patient = is_patient and job.patient
        return False

    def _commit(self, connection: Connection, group: list[_Job]) -> None:
        """Run every job of `group` in one transaction and note what came of each.

        A job that makes SQLite undo the whole transaction, because the disk is full, takes down nobody else either:
        then each runs once more in a transaction of its own.
        """
        undone = False
        try:
            for job in group:
                if is_first := not connection.in_transaction:
                    self._begin(connection)
                else:
                    connection.execute("SAVEPOINT job")
                try:
                    job.result = job.work(connection)
                except Exception as error:
                    if not connection.in_transaction:
                        undone = True
                        raise
                    connection.execute("ROLLBACK" if is_first else "ROLLBACK TO job")
                    job.error = _translate_error(error)
                    if job.rescue is not None:
                        self._rescue(connection, job.rescue)
                if not is_first:
                    connection.execute("RELEASE job")
            if connection.in_transaction or any(job.error is None for job in group):
                connection.commit()
        except Exception as error:
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    connection.rollback()
            for job in group:
                job.error = _translate_error(error)
                if undone and len(group) > 1:
                    job.error = None
                    self._commit(connection, [job])

    def _rescue(self, connection: Connection, rescue: Callable[[Connection], object]) -> None:
        """Write what stays of a job that failed."""
        if not connection.in_transaction:
            self._begin(connection)
        try:
            with savepoint(connection, "rescue"):
                rescue(connection)
        except Exception as error:
            level = logging.DEBUG if isinstance(error, Fenced) else logging.WARNING
            _log.log(level, "what stays of a write that failed could not be written: %s", _translate_error(error))
            if not connection.in_transaction:
                raise

    def _begin(self, connection: Connection) -> None:
        """Begin a transaction once no other program writes. Raises sqlite3.Error when that lasts too long."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                is_locked = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not is_locked or self._hurried.is_set() or time.monotonic() >= deadline:
                    raise
            else:
                return

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a reader connection, in one consistent snapshot of what has been committed."""
        rank = current_rank()
        job, waiting = self._job(work, self._later if rank else self._reads)
        if rank:
            self._later.put(job, rank)
        else:
            self._reads.put(job)
        return await waiting

    async def read_long(self, work: Callable[[Connection], T]) -> T:
        """Read for seconds: in a thread and by a connection of its own, so that no other read waits.

        Cancelled, it ends at its next query.
        """
        (job, waiting), over = self._job(work), threading.Event()
        args = (job, over, self.pacer if current_rank() else None)
        threading.Thread(target=self._survey, args=args, name="kenobot-survey", daemon=True).start()
        try:
            return await waiting
        finally:
            over.set()

    def _survey(self, job: _Job, over: threading.Event, pacer: Pacer | None) -> None:
        def check_deadline() -> None:
            if over.is_set():
                _end()
            pacing.step()

        if pacer is not None:
            pacer.hold_back_thread()
        try:
            with contextlib.closing(connect(self._path, readonly=True, before_query=check_deadline)) as connection:
                _look(connection, job)
        except Exception as error:
            job.error = _translate_error(error)
        self._tell([job])

    def _read_on(self) -> None:
        self._read_all(self._reads.get, Reader(self._path))

    def _read_behind(self) -> None:
        self.pacer.hold_back_thread()
        self._read_all(self._later.get, Reader(self._path, pacing.step))

    def _read_all(self, next_job: Callable[[], _Job | None], reader: Reader) -> None:
        """Do the jobs of a reading thread until there is none."""
        while (job := next_job()) is not None:
            self._read_one(reader, None, job)
            del job  # a thread that waits holds nothing of what it did last
        reader.close()

    def _read_one(self, reader: Reader, _: object, job: _Job) -> bool:
        """Do a job; it is not the last."""
        try:
            _look(reader.connection or reader.open(), job)
        except Exception as error:
            job.error = _translate_error(error)
        self._tell([job])
        return False

    def _close_reader(self, reader: Reader) -> None:
        reader.close()
        self.close_beside()

    def _read_one_behind(self, reader: Reader, line: object, job: _Job) -> bool:
        self.pacer.hold_back_thread()
        try:
            return self._read_one(reader, line, job)
        finally:
            pacing.release_thread()

    def _tell(self, jobs: list[_Job]) -> None:
        self._results.tell(jobs[0].loop, [job.tell for job in jobs])

    # ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def hurry(self) -> None:
        """Wait no more for a lock that another program holds: what it keeps from being written fails at once."""
        self._hurried.set()

    async def close(self, grace: float | None = None) -> None:
        """Finish what was submitted, then close every connection.

        grace: seconds for that, after which what is under way is broken off and undone; a thread that stands still
        nevertheless is left behind. None: as long as it takes.
        """
        if self._closed:
            return
        self._closed = True
        if grace is not None:
            self.hurry()
        ends = None if grace is None else time.monotonic() + grace
        for _ in range(len(self._readers) - 1):
            self._reads.put(None)
        self._later.put(None, len(Rank))
        for thread in self._readers:
            await _join_thread(thread, ends)
        self._jobs.put(None)  # last, because the last connection to close folds the write-ahead log into the file
        await _join_thread(self._writer, ends)
        if self._writer.is_alive():
            _log.warning("The database was busy for too long at the end: what it was at is undone.")
            if (connection := self._connection) is not None:
                _break_off(connection)
            await _join_thread(self._writer, time.monotonic() + _BREAK_OFF_SECONDS)

    def _job(
        self,
        work: Callable[[Connection], T],
        queued: "queue.SimpleQueue[Any] | JobQueue[Any] | None" = None,
    ) -> tuple[_Job, Result[T]]:
        """Make a job for a queue, and its result. Raises StoreError when the database is closed or the queue full."""
        if self._closed:
            raise StoreError("database.closed")
        if queued is not None and queued.qsize() >= _QUEUED:
            raise StoreError("database.disk_slow")
        loop = asyncio.get_running_loop()
        waiting: Result[T] = Result(loop=loop)
        return _Job(work, loop, waiting), waiting


async def _join_thread(thread: _Worker, ends: float | None) -> None:
    left = None if ends is None else max(0.0, ends - time.monotonic())
    if isinstance(thread, SharedLine):  # of hundreds, each would hold a thread that waits
        await thread.wait_end(left)
    else:
        await asyncio.to_thread(thread.join, left)


def _translate_error(error: Exception) -> Exception:
    """Return what whoever waits is told: the store's own errors for SQLite's, and others as they are."""
    return to_store_error(error) if isinstance(error, (sqlite3.Error, MemoryError)) else error


def _look(connection: Connection, job: _Job) -> None:
    """Do a job in one snapshot."""
    connection.execute("BEGIN")
    try:
        job.result = job.work(connection)
    finally:
        if connection.in_transaction:
            connection.rollback()


def _break_off(connection: Connection) -> None:
    """End what is under way on a connection."""
    if isinstance(connection, SteppedConnection):
        connection.before_query = _end
    with contextlib.suppress(sqlite3.Error):  # it may have closed meanwhile
        connection.interrupt()


def _end() -> None:
    raise StoreError("database.nobody_waits")


def _delete_each(sql: str, rows: list[tuple[object, ...]], connection: Connection) -> None:
    connection.executemany(sql, rows)
