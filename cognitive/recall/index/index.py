"""The side index of memory: a file beside the database that finds words fast, and never the truth.

It may be deleted at any time. A missing, damaged, older or foreign one is made anew: what is stored from then on is
found at once, and what was there before is filled in from the newest to the oldest, by `fill`, in the background.
Before each query `catch_up` reads what came since the last one. Several threads and processes may use it.
"""

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kenobot.cognitive.recall.index import conversation_rows, merging, postings
from kenobot.cognitive.recall.index.documents import record_documents, turn_documents
from kenobot.cognitive.recall.index.vector_port import VectorSearch
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.cognitive.text.similarity import Nearness

T = TypeVar("T")

log = logging.getLogger(__name__)

_AT_ONCE = 300  # events or messages that a query waits for; more come in the background, oldest last
_BUSY_SECONDS = 2.0
_OTHER_VERSION = "it is of another version"
_NO_INDEX = ("no such table", "no such column", _OTHER_VERSION)


@dataclass(frozen=True, slots=True)
class _Gap:
    """What is not indexed yet: events, records or messages with numbers above `low` up to `high`."""

    row: int
    kind: str
    low: int
    high: int


class SideIndex:
    """The index in the file `path`. Nothing is opened or made before it is used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._own = threading.local()
        self._writing: Connection | None = None
        # bounded: one connection a reader's thread; test_a_thread_reads_through_one_connection
        self._readers: list[Connection] = []
        self._generation = 0
        self._sick = False
        self.vectors: VectorSearch | None = None
        """What can be found by its meaning besides, once there are vectors."""

    @property
    def statement_similarity(self) -> "Nearness | None":
        """What tells how near statements are in meaning, as far as vectors of them are at hand."""
        return self.vectors.nearest_to_statement if self.vectors is not None else None

    @property
    def record_similarity(self) -> Callable[[str, str, int, int], Mapping[int, float]] | None:
        """What tells which records mean nearly the same, as far as they have vectors."""
        return self.vectors.nearest_to_record if self.vectors is not None else None

    # ── keeping up ───────────────────────────────────────────────────────────────────────────────────────────────

    def catch_up(self, truth: Connection) -> None:
        """Take in what `truth`, a snapshot of the database, holds beyond what the index has seen. O(new).

        Never raises for a damaged index or a full disk: then it is made anew, or lags behind for a while.
        """
        with self._lock, self._forgiving():
            if self._writing is not None and not self._sick and _standing(self._writing, truth).current:
                return
            index = self._writer(truth)
            if _standing(index, truth).current:
                return
            with _transaction(index):
                _take_new(index, truth)

    def _fill_at_once(self, index: Connection, truth: Connection) -> None:
        """A home that is small is indexed while its first query waits: that takes a tenth of a second."""
        gaps = _gaps(index)
        if _row_count(gaps) <= _AT_ONCE:
            with _transaction(index):
                for gap in gaps:
                    _fill(index, truth, gap, _AT_ONCE)

    def backlog_size(self, truth: Connection) -> int:
        """About how many rows `fill` has still to look at."""
        with self._lock, self._forgiving():
            index = self._writer(truth)
            return _row_count(_gaps(index)) + merging.is_full_merge_due(index)
        return 0

    def index_backlog(self, truth: Connection, rows: int = 200) -> int:
        """Index up to `rows` of what was there before the index was, then merge its lists, a step at a time; returns
        about how many rows are left, 1 while there is something to merge.
        """
        with self._lock, self._forgiving():
            index = self._writer(truth)
            gaps = _gaps(index)
            if not gaps:
                return int(merging.merge_step(index))
            with _transaction(index):
                _fill(index, truth, gaps[0], rows)
            return _row_count(_gaps(index)) + merging.is_full_merge_due(index)
        return 0

    def read(self, work: Callable[[Connection], T], otherwise: T) -> T:
        """What `work` finds in the index; `otherwise` when it cannot be read just now, or nobody has made one yet."""
        if not self._path.exists():
            return otherwise
        try:
            return work(self._reader())
        except sqlite3.Error as error:
            self._note(error)
            return otherwise

    def write_derived(self, truth: Connection, work: Callable[[Connection], object]) -> None:
        """Let `work` write what was made of `truth`, a snapshot, in one transaction; nothing when that is too old.

        A snapshot from before what the index has seen may hold what was erased since. Forgiving like `catch_up`.
        """
        with self._lock, self._forgiving():
            index = self._writer(truth)
            with _transaction(index):
                standing = _standing(index, truth)
                if standing.seen[0] <= standing.now[0]:
                    work(index)

    def close(self) -> None:
        """Close every connection. For the end, when no thread uses the index any more."""
        with self._lock:
            self._shut()

    # ── the file ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _writer(self, truth: Connection) -> Connection:
        """The connection that writes, to an index that belongs to this database and is of this version."""
        if self._sick:
            self._renew()
        at_first = self._writing is None
        if self._writing is None:
            try:
                self._writing = self._prepared()
            except sqlite3.DatabaseError as error:
                if not _damaged(error):
                    raise
                self._renew()
                self._writing = self._prepared()
        standing = _standing(self._writing, truth)
        if not standing.belongs(at_first=at_first):
            log.warning("The memory index does not belong to this database; it is made anew.")
            self._renew()
            self._writing = self._prepared()
            standing = _standing(self._writing, truth)
        if not standing.begun:
            with _transaction(self._writing):
                _begin(self._writing, truth)
            self._fill_at_once(self._writing, truth)
        return self._writing

    def _prepared(self) -> Connection:
        """A connection to an index of this version, made if need be. Raises DatabaseError when it is no index."""
        connection = self._connect()
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, postings.VERSION):
            connection.close()
            raise sqlite3.DatabaseError(_OTHER_VERSION)
        if version == 0:
            with _transaction(connection):
                for statement in (postings.SCHEMA + conversation_rows.SCHEMA).split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {postings.VERSION}")
            self._path.chmod(0o600)
        return connection

    def _connect(self) -> Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA journal_size_limit = 16777216")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _reader(self) -> Connection:
        """This thread's own connection."""
        held: tuple[int, Connection] | None = getattr(self._own, "held", None)
        if held is None or held[0] != self._generation:
            with self._lock:
                connection = self._connect()
                self._readers.append(connection)
                held = self._own.held = (self._generation, connection)
        return held[1]

    def _renew(self) -> None:
        """Throw the file away. Other threads notice by the generation."""
        self._shut()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._sick = False

    def _shut(self) -> None:
        self._generation += 1
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
        """What goes wrong here costs finding, not the turn: a damaged index is made anew with the next query."""
        if isinstance(error, sqlite3.Error) and _damaged(error):
            self._sick = True
            log.warning("The memory index is damaged (%s); it is made anew.", error)
        else:
            log.warning("The memory index could not be used just now: %s", error, exc_info=not _passing(error))


def _damaged(error: sqlite3.Error) -> bool:
    """Whether the file is no index, or no longer one."""
    code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(error).startswith(_NO_INDEX)


def _passing(error: Exception) -> bool:
    """Whether the error says nothing about the file: it is locked, or the disk is full."""
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


@dataclass(frozen=True, slots=True)
class _Standing:
    """The event and message that the index has come to, and the newest. same: that event is what it was then."""

    begun: bool
    seen: tuple[int, int]
    now: tuple[int, int]
    same: bool

    def belongs(self, *, at_first: bool) -> bool:
        """Whether the index saw this database's past: a backup that was put back has another one.

        A cursor beyond the newest row is only at first a sign of that: later another thread's snapshot was newer.
        """
        return not at_first if self.seen[0] > self.now[0] else self.seen[0] == 0 or self.same

    @property
    def current(self) -> bool:
        """Whether it is this database's, and has seen all there is."""
        seen_all = self.now[0] <= self.seen[0] and self.now[1] <= self.seen[1]
        return self.begun and seen_all and self.belongs(at_first=False)


def _standing(index: Connection, truth: Connection) -> _Standing:
    held = {name: (at, mark) for name, at, mark in index.execute("SELECT name, at, mark FROM cursor")}
    (seen, mark), (told, _) = held.get("event", (0, "")), held.get("message", (0, ""))
    last, known = truth.execute(
        "SELECT (SELECT max(id) FROM event), (SELECT at FROM event WHERE id = ?)", (seen,)
    ).fetchone()
    newest = conversation.newest_message_id(truth)
    return _Standing(bool(held), (seen, told), (last or 0, newest), str(known or "") == mark)


def _move(index: Connection, truth: Connection, kind: str, number: int) -> None:
    if kind == "event":
        times = [row[0] for row in truth.execute("SELECT at FROM event WHERE id = ?", (number,))]
    else:
        times = [message.at for message in conversation.messages_by_id(truth, [number])]
    mark = times[0] if times else ""
    index.execute("INSERT OR REPLACE INTO cursor (name, at, mark) VALUES (?, ?, ?)", (kind, number, mark))


def _begin(index: Connection, truth: Connection) -> None:
    """Start with the newest of everything: all that came before is a gap."""
    newest = conversation.newest_message_id(truth)
    _move(index, truth, "event", events.last_event(truth))
    _move(index, truth, "message", newest)
    whole = [("message", 0, newest), ("record", 0, store.last_record(truth))]
    index.executemany("INSERT INTO gap (kind, low, high) VALUES (?, ?, ?)", [gap for gap in whole if gap[2]])


def _take_new(index: Connection, truth: Connection) -> None:
    """What came since, the newest of it now; the rest becomes a gap."""
    standing = _standing(index, truth)
    (seen, told), (last, newest) = standing.seen, standing.now
    records, messages = _touched(truth, max(seen, last - _AT_ONCE), last)
    messages += range(max(told, newest - _AT_ONCE) + 1, newest + 1)
    if events.has_purge(truth, seen, last):
        merging.request_full_merge(index)
    _index_rows(index, truth, records, messages)
    for kind, before, now in (("event", seen, last), ("message", told, newest)):
        if now - before > _AT_ONCE:
            index.execute("INSERT INTO gap (kind, low, high) VALUES (?, ?, ?)", (kind, before, now - _AT_ONCE))
        if now > before:
            _move(index, truth, kind, now)


def _touched(truth: Connection, low: int, high: int) -> tuple[list[int], list[int]]:
    """The records that events above `low` up to `high` speak of, and the messages that a purge erased."""
    rows = truth.execute(  # by the numbers of events, not by an index of all there ever were, hence the plus
        "SELECT DISTINCT +record_id FROM event WHERE id > ? AND id <= ? AND +record_id IS NOT NULL", (low, high)
    )
    return [row[0] for row in rows], events.purged_messages(truth, low, high)


def _gaps(index: Connection) -> list[_Gap]:
    """What is missing: changed records first, because a stale one says what is wrong; then records, then turns."""
    rows = index.execute("SELECT rowid, kind, low, high FROM gap ORDER BY kind = 'message', kind = 'record', high DESC")
    return [_Gap(*row) for row in rows]


def _row_count(gaps: Sequence[_Gap]) -> int:
    return sum(gap.high - gap.low for gap in gaps)


def _index_rows(index: Connection, truth: Connection, records: Sequence[int], messages: Sequence[int]) -> None:
    postings.write_documents(index, record_documents(truth, records), turn_documents(truth, messages))
    conversation_rows.write_turns(index, truth, messages)


def _ids_between(truth: Connection, gap: _Gap, limit: int) -> list[int]:
    """The newest ids of a gap of records or messages, newest first."""
    if gap.kind == "message":
        return conversation.message_ids_between(truth, gap.low, gap.high, limit)
    where, span = "id > ? AND id <= ?", (gap.low, gap.high)
    return store.select_ids(truth, where, span, ALL_SCOPES, order="id DESC", limit=limit, scan_scope=False)


def _fill(index: Connection, truth: Connection, gap: _Gap, rows: int) -> None:
    low = max(gap.low, gap.high - rows)
    if gap.kind == "event":
        records, messages = _touched(truth, low, gap.high)
    else:
        found = _ids_between(truth, gap, rows)
        low = found[-1] - 1 if len(found) == rows else gap.low
        records, messages = (found, []) if gap.kind == "record" else ([], found)
    _index_rows(index, truth, records, messages)
    if low > gap.low:
        index.execute("UPDATE gap SET high = ? WHERE rowid = ?", (low, gap.row))
    else:
        index.execute("DELETE FROM gap WHERE rowid = ?", (gap.row,))


def unindexed_count(path: Path, truth: Connection) -> int:
    """How many events and messages of `truth` the index in the file `path` has not seen; -1 when it cannot be read."""
    try:
        index = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        try:
            standing = _standing(index, truth)
            came = sum(standing.now) - sum(standing.seen)
            return max(0, came) + _row_count(_gaps(index))
        finally:
            index.close()
    except sqlite3.Error:
        return -1
