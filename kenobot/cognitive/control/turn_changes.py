"""Tell what a turn did to memory: what its message and the tags of its reply stored, replaced, forgot or undid."""

from collections.abc import Sequence
from datetime import timedelta

from kenobot.cognitive.control.timeline import NAMES, make_item
from kenobot.cognitive.control.timeline_rows import list_session_events
from kenobot.cognitive.store import records
from kenobot.cognitive.store.feedback import exchange_of
from kenobot.language.calendar import parse_time
from kenobot.ports.browsing import TimelineItem
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

_MOST = 200
_TICK = timedelta(microseconds=1)


def list_turn_changes(connection: Connection, session: str, turn: int, reach: Scopes) -> list[TimelineItem]:
    """List what happened to memory from the end of the turn before until this one's answer, in order.

    What was read meanwhile out of an earlier exchange is not of this turn, and left out.
    """
    exchange = exchange_of(connection, session, turn)
    answered = parse_time(exchange.at) if exchange is not None else None
    if exchange is None or answered is None:
        return []
    behind = stamp(answered + _TICK)
    rows = list_session_events(connection, reach, session, exchange.since, behind, [*NAMES], _MOST)
    told = records.by_ids(connection, [row.record for row in rows], reach)
    return [make_item(row) for row in rows if _is_of(told.get(row.record), turn, row.kind)]


def _is_of(record: Record | None, turn: int, kind: str) -> bool:
    """Return whether something that happened during a turn comes of it: what it made was told by it, or by nobody."""
    if record is None or kind != "created":
        return True
    said: Sequence[int] = record.source_message_ids
    return not said or turn in said
