"""Read the events that a timeline tells of: counted by the hour, and one by one."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kenobot.cognitive.store.records import AMONG, SAYS
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_filter

_SELECT = (
    "SELECT event.id, event.at, event.type, event.actor, event.data, record.id, record.subject, record.text, "
    "record.status FROM event"
)


class HappeningRow(NamedTuple):
    """An event about a record, with the record's subject, text and status now. data: JSON."""

    event: int
    at: str
    kind: str
    actor: str
    data: str
    record: int
    subject: str
    text: str
    status: str


def find_first_event(connection: Connection, moment: str) -> int:
    """Return the id from which on events are not before a moment, ISO-8601 text: ids grow with time.

    Looks at some twenty rows, as events have no index of times. Where a clock was set back it is near.
    """
    low, high = connection.execute("SELECT coalesce(min(id), 1), coalesce(max(id), 0) + 1 FROM event").fetchone()
    while low < high:
        middle = (low + high) // 2
        row = connection.execute("SELECT id, at FROM event WHERE id >= ? ORDER BY id LIMIT 1", (middle,)).fetchone()
        if row is None or row[1] >= moment:
            high = middle
        else:
            low = row[0] + 1
    return int(low)


def count_by_hour(
    connection: Connection, reach: Scopes, begin: str, end: str, kinds: Sequence[str], subject: str
) -> Iterator[tuple[str, str, int]]:
    """Count the events of these types from a moment to another: hour in UTC, type, and how many."""
    condition, values = _conditions(connection, reach, begin, end, kinds, subject)
    yield from connection.execute(
        f"SELECT substr(event.at, 1, 13), event.type, count(*) FROM event {condition} GROUP BY 1, 2", values
    )


def page_of_events(
    connection: Connection,
    reach: Scopes,
    begin: str,
    end: str,
    kinds: Sequence[str],
    subject: str,
    *,
    before: int,
    limit: int,
) -> list[HappeningRow]:
    """Return events of these types from a moment to another with ids below one, the newest first."""
    condition, values = _conditions(connection, reach, begin, end, kinds, subject)
    rows = connection.execute(
        f"{_SELECT} {condition} AND event.id < ? ORDER BY event.id DESC LIMIT ?",
        (*values, before, limit),
    )
    return [HappeningRow._make(row) for row in rows]


def list_session_events(
    connection: Connection, reach: Scopes, session: str, since: str, before: str, kinds: Sequence[str], limit: int
) -> list[HappeningRow]:
    """Return events of these types in a conversation, after a moment and before another, in order."""
    condition, values = _conditions(connection, reach, since, before, kinds, "")
    rows = connection.execute(
        f"{_SELECT} {condition} AND event.session = ? AND event.at > ? ORDER BY event.id LIMIT ?",
        (*values, session, since, limit),
    )
    return [HappeningRow._make(row) for row in rows]


def _conditions(
    connection: Connection, reach: Scopes, begin: str, end: str, kinds: Sequence[str], subject: str
) -> tuple[str, tuple[str | int, ...]]:
    where, scopes = scope_filter(reach)
    first, last = find_first_event(connection, begin), find_first_event(connection, end)
    about, named = ("AND record.subject = ?", (subject,)) if subject else ("", ())
    # By the numbers of the period, not by the types, each of which has rows of all times: hence the plus.
    condition = (
        "CROSS JOIN record ON record.id = event.record_id WHERE event.id >= ? AND event.id < ? "
        f"AND +event.type {AMONG} AND record.{SAYS} AND record.{where} {about}"
    )
    return condition, (first, last, json.dumps([*kinds]), *scopes, *named)
