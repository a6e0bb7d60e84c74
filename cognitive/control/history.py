"""Read from events what happened to a record, and what it said at any moment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.events import EventRow, record_events, undone_by
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import Scopes
from kenobot.storage.connection import Connection

_BOOKKEEPING = frozenset(
    "updated last_seen last_used use_count mentions stability confidence importance lifecycle".split()
)


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """Something that happened to a record. changes: column, what it held before, what it held after.

    Bookkeeping, such as when it was last seen, is left out. undone: a later event took it back.
    """

    event: int
    at: str
    actor: str
    kind: str
    session: str
    reason: str
    changes: tuple[tuple[str, ColumnValue, ColumnValue], ...]
    undone: bool
    part_of: int | None


def history(connection: Connection, record: int, reach: Scopes) -> list[HistoryStep]:
    """List what happened to a record, newest first; nothing when it is not within `reach`."""
    known = records.get(connection, record, reach)
    if known is None:
        return []
    steps = [
        HistoryStep(
            event=happening.id,
            at=happening.at,
            actor=happening.actor,
            kind=happening.kind,
            session=happening.session,
            reason=str(happening.data.get("reason") or ""),
            changes=tuple((n, b, a) for n, b, a in changes if n not in _BOOKKEEPING),
            undone=happening.kind != "recalled" and undone_by(connection, happening.decision_id) is not None,
            part_of=happening.decision_id if happening.decision_id != happening.id else None,
        )
        for happening, changes in _changes(known, record_events(connection, record))
    ]
    return steps[::-1]


def as_of(connection: Connection, record: int, moment: datetime, reach: Scopes) -> Record | None:
    """Rewind a record to `moment`; None when it was not there yet, or is not within `reach`."""
    known = records.get(connection, record, reach)
    return _rewound(connection, known, records.stamp(moment)) if known is not None else None


def alive_at(connection: Connection, reach: Scopes, moment: datetime, forms: Sequence[str], limit: int) -> list[Record]:
    """List what was remembered at `moment`, as it was worded then, newest first. forms: none means any.

    Reads every record there is in these scopes: for a person who waits, not for a turn.
    """
    at = records.stamp(moment)
    found: list[Record] = []
    for known in records.list_records(connection, reach, (), forms, _EVERY):
        record = _rewound(connection, known, at)
        if record is not None and record.status == "active":
            found.append(record)
            if len(found) == limit:
                break
    return found


_EVERY = 2**62


def _rewound(connection: Connection, known: Record, at: str) -> Record | None:
    """`known` without what happened after `at`."""
    events = record_events(connection, known.id)
    born = events[0].at if events else known.created
    if min(born, known.created) > at:
        return None
    values: dict[str, Any] = {}
    for happening in reversed(events):
        if happening.at <= at:
            break
        values.update({name: value for name, value in happening.previous_values.items() if name in Record._fields})
    return known._replace(**values)


def _changes(
    known: Record, events: Sequence[EventRow]
) -> Iterator[tuple[EventRow, list[tuple[str, ColumnValue, ColumnValue]]]]:
    """Each event with what it changed: before, and after, which is what the next change found there."""
    after: dict[str, ColumnValue] = {}
    told: list[tuple[EventRow, list[tuple[str, ColumnValue, ColumnValue]]]] = []
    for happening in reversed(events):
        changed = []
        for name, before in happening.previous_values.items():
            now = after[name] if name in after else getattr(known, name, None)
            changed.append((name, before, now))
            after[name] = before
        told.append((happening, sorted(changed)))
    return reversed(told)
