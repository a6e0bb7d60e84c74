"""The side index of memory: a file beside the database, made of it, by which words are found fast.

It may be deleted at any time. A missing, damaged, older or foreign one is made anew: new rows are indexed at once, and
older ones from the newest to the oldest, by `index_backlog`, in the background. Before each query `catch_up` indexes
what came since the last one. Several threads and processes may use it.
"""

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kenobot.cognitive.recall.index import backlog_rows, conversation_rows, posting_rows
from kenobot.cognitive.recall.index.backlog_rows import index_state
from kenobot.cognitive.recall.index.documents import record_documents, turn_documents
from kenobot.cognitive.store import events, imported_talks
from kenobot.core.pacing import Rank, unbroken
from kenobot.core.worker import BackgroundTask
from kenobot.ports.errors import StoreError
from kenobot.storage import imported_talk, message_rows
from kenobot.storage.connection import LOG_BYTES, LOG_PAGES, Connection
from kenobot.storage.database import Database

if TYPE_CHECKING:
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex  # needs numpy
    from kenobot.cognitive.remember.nearness import Nearness

T = TypeVar("T")

log = logging.getLogger(__name__)

_AT_ONCE = 300  # rows of a small home, which is indexed whole when it is first used
_AWAITED = 60  # new events or messages that a query waits for, 20 ms; more come in the background, oldest last
_BUSY_SECONDS = 2.0
_ROWS = 100  # of a step in the background: a reader is busy with it for some hundredths of a second
_WORTH_LOGGING = 5000  # rows
_TENTHS = 10
_OTHER_VERSION = "it is of another version"
_NO_INDEX = ("no such table", "no such column", posting_rows.UNREADABLE, _OTHER_VERSION)


class SideIndex:
    """The index in the file `path`. Nothing is opened or made before it is used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._writing: Connection | None = None
        # bounded: one connection for each of the threads that read at a time; test_a_connection_serves_one_reader
        self._readers: list[Connection] = []
        # bounded: those that nobody reads by just now; test_a_connection_serves_one_reader
        self._free: list[tuple[int, Connection]] = []
        self._generation = 0
        self._sick = False
        self.has_gap = False  # something that came was more than a query waits for
        self.vectors: VectorIndex | None = None

    @property
    def statement_similarity(self) -> "Nearness | None":
        """The search for records near a statement, once there are vectors."""
        return self.vectors.nearest_to_statement if self.vectors is not None else None

    @property
    def record_similarity(self) -> Callable[[str, str, int, int], Mapping[int, float]] | None:
        """The search for records near a record, once there are vectors."""
        return self.vectors.nearest_to_record if self.vectors is not None else None

    # ── keeping up ───────────────────────────────────────────────────────────────────────────────────────────────

    def catch_up(self, truth: Connection) -> None:
        """Index what `truth`, a snapshot of the database, has beyond what was read of it. O(new).

        Never raises for a damaged index or a full disk: then it is made anew, or lags behind for a while.
        """
        with unbroken(), self._lock, self._forgiving():
            if self._writing is not None and not self._sick:
                state = index_state(self._writing, truth)
                if state.current:
                    return
                index = self._writing if state.continues else self._writer(truth)
            else:
                index = self._writer(truth)
            with _transaction(index):
                self.has_gap |= _index_new(index, truth)

    def backlog_size(self, truth: Connection) -> int:
        """Estimate how many rows `index_backlog` has still to read."""
        with unbroken(), self._lock, self._forgiving():
            return _backlog_size(self._writer(truth))
        return 0

    def index_backlog(self, truth: Connection, rows: int = 200) -> int:
        """Index up to `rows` of what was there before the index was, then merge its lists, a step at a time; returns
        about how many rows are left, 1 while there is something to merge.
        """
        with unbroken(), self._lock, self._forgiving():
            index = self._writer(truth)
            gaps = backlog_rows.gaps(index)
            self.has_gap = bool(gaps)
            if not gaps:
                return int(posting_rows.merge_step(index))
            with _transaction(index):
                _fill(index, truth, gaps[0], rows)
            return _backlog_size(index)
        return 0

    def read(self, work: Callable[[Connection], T], otherwise: T) -> T:
        """Run `work` on the index; `otherwise` when there is none yet, or it cannot be read just now."""
        if not self._path.exists():
            return otherwise
        try:
            held = self._take_reader()
            try:
                return work(held[1])
            finally:
                self._free.append(held)
        except sqlite3.Error as error:
            self._note(error)
            return otherwise

    def write_derived(self, truth: Connection, work: Callable[[Connection], object]) -> None:
        """Run `work`, which writes what was made of `truth`, a snapshot, in one transaction.

        Nothing is written of a snapshot older than the index, which may hold what was erased since. Forgiving like
        `catch_up`.
        """
        with unbroken(), self._lock, self._forgiving():
            index = self._writer(truth)
            with _transaction(index):
                state = index_state(index, truth)
                if state.seen[0] <= state.newest[0]:
                    work(index)

    def close(self) -> None:
        """Close every connection. For the end, when no thread uses the index any more."""
        with self._lock:
            self._shut()

    def close_unused(self) -> None:
        """Close the connections that nobody uses just now; the next use opens them again."""
        with self._lock:
            while self._free:
                with contextlib.suppress(IndexError):
                    _, connection = self._free.pop()
                    if connection in self._readers:
                        self._readers.remove(connection)
                        connection.close()
            if self._writing is not None:
                self._writing.close()
                self._writing = None

    # ── the file ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _writer(self, truth: Connection) -> Connection:
        """Return the writing connection, to an index of this database and version."""
        if self._sick:
            self._renew()
        at_first = self._writing is None
        if self._writing is None:
            try:
                self._writing = self._prepare()
            except sqlite3.DatabaseError as error:
                if not _is_damaged(error):
                    raise
                self._renew()
                self._writing = self._prepare()
        state = index_state(self._writing, truth)
        if not state.belongs(at_first=at_first):
            log.warning("The memory index does not belong to this database; it is made anew.")
            self._renew()
            self._writing = self._prepare()
            state = index_state(self._writing, truth)
        if not state.begun:
            with _transaction(self._writing):
                backlog_rows.begin(self._writing, truth)
            gaps = backlog_rows.gaps(self._writing)
            if backlog_rows.gap_size(gaps) <= _AT_ONCE:  # a small home takes a tenth of a second
                with _transaction(self._writing):
                    for gap in gaps:
                        _fill(self._writing, truth, gap, _AT_ONCE)
        return self._writing

    def _prepare(self) -> Connection:
        """Connect to the index, made if need be. Raises DatabaseError when it is none, or of another version."""
        connection = self._connect()
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, posting_rows.VERSION):
            connection.close()
            raise sqlite3.DatabaseError(_OTHER_VERSION)
        if version == 0:
            with _transaction(connection):
                schema = posting_rows.SCHEMA + backlog_rows.SCHEMA + conversation_rows.SCHEMA
                for statement in schema.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {posting_rows.VERSION}")
            self._path.chmod(0o600)
        return connection

    def _connect(self) -> Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _take_reader(self) -> tuple[int, Connection]:
        """Take a connection that nobody else reads by, with the generation that it is of."""
        while self._free:
            with contextlib.suppress(IndexError):  # another thread took the last one
                held = self._free.pop()
                if held[0] == self._generation:
                    return held
        with self._lock:
            connection = self._connect()
            self._readers.append(connection)
            return self._generation, connection

    def _renew(self) -> None:
        """Delete the file. Other threads notice by the generation."""
        self._shut()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._sick = False

    def _shut(self) -> None:
        self._generation += 1
        self._free.clear()
        if self._writing is not None:
            self._writing.close()
            self._writing = None
        while self._readers:
            self._readers.pop().close()

    @contextlib.contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self._note(error)

    def _note(self, error: Exception) -> None:
        """Log an error, which must not fail the turn; a damaged index is made anew with the next query."""
        if isinstance(error, sqlite3.Error) and _is_damaged(error):
            self._sick = True
            log.warning("The memory index is damaged (%s); it is made anew.", error)
        else:
            log.warning("The memory index could not be used just now: %s", error, exc_info=not _passing(error))


class Indexer(BackgroundTask):
    """Index the backlog in small steps, so that turns are answered meanwhile."""

    rank = Rank.LATER

    def __init__(self, database: Database, index: SideIndex) -> None:
        super().__init__("memory index")
        self._database = database
        self._index = index

    def begin(self) -> None:
        """Start to index the backlog."""
        self._begin(self._index_quietly)

    async def tick(self) -> None:
        """Index the rest of what queries did not wait for. Raises StoreError."""
        if self._index.has_gap:
            await self.index_all()

    async def index_all(self) -> None:
        """Index all that is new and the whole backlog. Raises StoreError."""
        whole = await self._database.read(self._catch_up)
        logged = 0
        if whole >= _WORTH_LOGGING:
            log.info("The memory index is being made: about %s rows.", whole)
        while left := await self._database.read(lambda connection: self._index.index_backlog(connection, _ROWS)):
            done = _TENTHS * (whole - left) // max(1, whole)
            if whole >= _WORTH_LOGGING and done > logged:
                logged = done
                log.info("The memory index: %s %%.", 100 * done // _TENTHS)

    def _catch_up(self, truth: Connection) -> int:
        self._index.catch_up(truth)
        return self._index.backlog_size(truth)

    async def _index_quietly(self) -> None:
        try:
            await self.index_all()
        except StoreError as error:
            log.warning("The memory index has to wait: %s", error)


def _is_damaged(error: sqlite3.Error) -> bool:
    """Return whether the file is no index, or no longer one."""
    code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(error).startswith(_NO_INDEX)


def _passing(error: Exception) -> bool:
    """Return whether the error says nothing about the file: it is locked, or the disk is full."""
    code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    return isinstance(error, OSError) or code in (
        sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_INTERRUPT,
    )  # fmt: skip


@contextlib.contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _backlog_size(index: Connection) -> int:
    return backlog_rows.gap_size(backlog_rows.gaps(index)) + posting_rows.is_full_merge_due(index)


def _index_new(index: Connection, truth: Connection) -> bool:
    """Index the newest of what came since; the rest becomes a gap. Returns whether there is one."""
    state = index_state(index, truth)
    if state.current:
        return False
    (event, message), (last_event, last_message) = state.seen, state.newest
    records, messages = backlog_rows.list_touched(truth, max(event, last_event - _AWAITED), last_event)
    messages += range(max(message, last_message - _AWAITED) + 1, last_message + 1)
    if events.has_purge(truth, event, last_event):
        posting_rows.request_full_merge(index)
    _index_rows(index, truth, records, messages)
    has_gap = False
    for low, high in imported_talks.list_changed_talk(truth, event, last_event):
        if (ids := imported_talk.message_range(truth, low, high)) is not None:
            backlog_rows.add_gap(index, "message", ids[0] - 1, ids[1])
            has_gap = True
    for kind, before, now in (("event", event, last_event), ("message", message, last_message)):
        if now - before > _AWAITED:
            backlog_rows.add_gap(index, kind, before, now - _AWAITED)
            has_gap = True
        if now > before:
            backlog_rows.move_cursor(index, truth, kind, now)
    return has_gap


def _fill(index: Connection, truth: Connection, gap: backlog_rows.Gap, rows: int) -> None:
    records, messages, low = backlog_rows.upper_end(truth, gap, rows)
    _index_rows(index, truth, records, messages)
    backlog_rows.lower_gap(index, gap, low)


def _index_rows(index: Connection, truth: Connection, records: Sequence[int], messages: Sequence[int]) -> None:
    rows = message_rows.messages_by_id(truth, messages)
    if withdrawn := [row.inbox_id for row in rows if row.hidden and row.is_imported and row.inbox_id is not None]:
        gone = imported_talks.list_hidden_turns(truth, withdrawn)
        rows = [row for row in rows if row.inbox_id not in gone]
    posting_rows.write_documents(index, record_documents(truth, records), turn_documents(messages, rows))
    conversation_rows.write_turns(index, truth, messages, rows)


def count_unindexed(path: Path, truth: Connection) -> int:
    """Estimate how many rows of `truth` the index in the file `path` has not read; -1 when it cannot be read."""
    try:
        index = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        with contextlib.closing(index):
            state = index_state(index, truth)
            return max(0, sum(state.newest) - sum(state.seen)) + backlog_rows.gap_size(backlog_rows.gaps(index))
    except sqlite3.Error:
        return -1
