"""Rows of the side index that tell what of the database it has read: cursors, and gaps behind them."""

from collections.abc import Iterable
from typing import NamedTuple

from kenobot.cognitive.store import events, records
from kenobot.ports.frozen import dataclass
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES

SCHEMA = """
CREATE TABLE gap (kind TEXT NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL);
CREATE TABLE cursor (name TEXT PRIMARY KEY, at INTEGER NOT NULL, mark TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
"""


class Gap(NamedTuple):
    """Events, records or messages above `low` up to `high` that are not indexed yet."""

    row: int
    kind: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class IndexState:
    """The last event and message that were read, and the newest. same: that event is what it was then."""

    begun: bool
    seen: tuple[int, int]
    newest: tuple[int, int]
    same: bool

    def belongs(self, *, at_first: bool) -> bool:
        """Return whether the index was made of this database: a backup that was put back has another past.

        A cursor beyond the newest row is only at first a sign of that: later another thread's snapshot was newer.
        """
        return not at_first if self.seen[0] > self.newest[0] else self.seen[0] == 0 or self.same

    @property
    def continues(self) -> bool:
        """Return whether the index has begun to read this database."""
        return self.begun and self.belongs(at_first=False)

    @property
    def current(self) -> bool:
        """Return whether the index belongs to this database and has read all of it."""
        return self.continues and self.newest[0] <= self.seen[0] and self.newest[1] <= self.seen[1]


def index_state(index: Connection, truth: Connection) -> IndexState:
    """Compare the cursors with the database."""
    cursors = {name: (at, mark) for name, at, mark in index.execute("SELECT name, at, mark FROM cursor")}
    (event, mark), (message, _) = cursors.get("event", (0, "")), cursors.get("message", (0, ""))
    last, at = truth.execute(
        "SELECT (SELECT max(id) FROM event), (SELECT at FROM event WHERE id = ?)", (event,)
    ).fetchone()
    newest = (last or 0, message_rows.newest_message_id(truth))
    return IndexState(bool(cursors), (event, message), newest, str(at or "") == mark)


def begin(index: Connection, truth: Connection) -> None:
    """Set the cursors to the newest rows; all that came before is a gap."""
    newest_message = message_rows.newest_message_id(truth)
    move_cursor(index, truth, "event", events.last_event(truth))
    move_cursor(index, truth, "message", newest_message)
    for kind, newest in (("message", newest_message), ("record", records.last_record(truth))):
        if newest:
            add_gap(index, kind, 0, newest)


def move_cursor(index: Connection, truth: Connection, kind: str, number: int) -> None:
    """Set a cursor to an event or message."""
    mark = _time_of(truth, kind, number)
    index.execute("INSERT OR REPLACE INTO cursor (name, at, mark) VALUES (?, ?, ?)", (kind, number, mark))


def _time_of(truth: Connection, kind: str, number: int) -> str:
    if kind == "message":
        return next((row.at for row in message_rows.messages_by_id(truth, [number])), "")
    row = truth.execute("SELECT at FROM event WHERE id = ?", (number,)).fetchone()
    return str(row[0]) if row else ""


def add_gap(index: Connection, kind: str, low: int, high: int) -> None:
    """Add a gap."""
    index.execute("INSERT INTO gap (kind, low, high) VALUES (?, ?, ?)", (kind, low, high))


def gaps(index: Connection) -> list[Gap]:
    """List the gaps: changed records first, because a stale one says what is wrong; then records, then messages."""
    rows = index.execute("SELECT rowid, kind, low, high FROM gap ORDER BY kind = 'message', kind = 'record', high DESC")
    return list(map(Gap._make, rows))


def gap_size(gaps: Iterable[Gap]) -> int:
    """Count the ids in gaps."""
    return sum(gap.high - gap.low for gap in gaps)


def upper_end(truth: Connection, gap: Gap, limit: int) -> tuple[list[int], list[int], int]:
    """Return the records and messages of the newest `limit` rows of a gap, and the id that they are above."""
    if gap.kind == "event":
        low = max(gap.low, gap.high - limit)
        return *list_touched(truth, low, gap.high), low
    if gap.kind == "message":
        ids = message_rows.message_ids_between(truth, gap.low, gap.high, limit)
    else:
        span, where = (gap.low, gap.high), "id > ? AND id <= ?"
        ids = records.select_ids(truth, where, span, ALL_SCOPES, order="id DESC", limit=limit, scan_scope=False)
    low = ids[-1] - 1 if len(ids) == limit else gap.low
    return (ids, [], low) if gap.kind == "record" else ([], ids, low)


def lower_gap(index: Connection, gap: Gap, high: int) -> None:
    """Cut a gap down to `high`; drop it where nothing is left."""
    if high > gap.low:
        index.execute("UPDATE gap SET high = ? WHERE rowid = ?", (high, gap.row))
    else:
        index.execute("DELETE FROM gap WHERE rowid = ?", (gap.row,))


def list_touched(truth: Connection, low: int, high: int) -> tuple[list[int], list[int]]:
    """List the records whose words events above `low` up to `high` may have changed, and the messages that a purge
    erased.

    Use and silence move a record through its lifecycle, which changes no word.
    """
    rows = truth.execute(  # by the numbers of events, not by an index of all there ever were, hence the plus
        "SELECT DISTINCT +record_id FROM event WHERE id > ? AND id <= ? AND +record_id IS NOT NULL "
        "AND (+type != 'lifecycle' OR json_type(data, '$.was') IS NULL OR json_type(data, '$.was.status') IS NOT NULL)",
        (low, high),
    )
    return [row[0] for row in rows], events.list_purged_messages(truth, low, high)
