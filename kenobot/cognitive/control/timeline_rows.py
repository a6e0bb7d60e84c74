"""Read the events that a timeline tells of: counted by period, and one by one."""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kenobot.cognitive.store.records import AMONG, LISTED, SAYS
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES, Scopes, scope_filter

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
    # Asked for one by one, each is a step in the table; both at once would read all of it.
    low, high = connection.execute(
        "SELECT coalesce((SELECT min(id) FROM event), 1), coalesce((SELECT max(id) FROM event), 0) + 1"
    ).fetchone()
    while low < high:
        middle = (low + high) // 2
        row = connection.execute("SELECT id, at FROM event WHERE id >= ? ORDER BY id LIMIT 1", (middle,)).fetchone()
        if row is None or row[1] >= moment:
            high = middle
        else:
            low = row[0] + 1
    return int(low)


def read_span(connection: Connection) -> tuple[str, str] | None:
    """Return the moments of the first and the last event; None before the first."""
    rows = connection.execute(
        "SELECT at FROM event WHERE id IN ((SELECT min(id) FROM event), (SELECT max(id) FROM event)) ORDER BY id"
    ).fetchall()
    return (rows[0][0], rows[-1][0]) if rows else None


def count_between(
    connection: Connection, reach: Scopes, moments: Sequence[str], kinds: Sequence[str], subject: str
) -> Iterator[tuple[int, str, int]]:
    """Count the events of these types between each moment and the next: the number of the first, type, and how many.

    moments: ISO-8601 text, in order. Neither an event nor a record is read, but indexes of them.
    """
    among, values = _among(reach, subject)
    if reach is ALL_SCOPES and not subject:
        among = f"NOT IN (SELECT id FROM record WHERE NOT {SAYS} AND {LISTED})"  # a short list
    ids = [find_first_event(connection, moment) for moment in moments]
    spans = json.dumps([*itertools.pairwise(ids)])
    rows = connection.execute(
        "SELECT span.key, kind.value, (SELECT count(*) FROM event WHERE type = kind.value "
        "AND id >= json_extract(span.value, '$[0]') AND id < json_extract(span.value, '$[1]') "
        f"AND record_id {among}) FROM json_each(?) AS span, json_each(?) AS kind",
        (*values, spans, json.dumps([*kinds])),
    )
    yield from (row for row in rows if row[2])


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
    first, last = find_first_event(connection, begin), min(before, find_first_event(connection, end))
    span = "id >= ? AND id < ?"
    if subject:  # few may be about it: their events are sought among all of these types, in the index alone
        among, values = _among(reach, subject)
        found = connection.execute(
            f"SELECT id FROM event INDEXED BY event_type WHERE type {AMONG} AND {span} AND record_id {among} "
            "ORDER BY id DESC LIMIT ?",
            (json.dumps([*kinds]), first, last, *values, limit),
        ).fetchall()
    else:  # most are of records in reach: type by type few are looked at, from the newest on
        where, values = scope_filter(reach)
        told = f"EXISTS (SELECT 1 FROM record WHERE record.id = record_id AND {SAYS} AND {where})"
        sql = f"SELECT id FROM event WHERE type = ? AND {span} AND {told} ORDER BY id DESC LIMIT ?"
        found = [row for kind in kinds for row in connection.execute(sql, (kind, first, last, *values, limit))]
    newest = sorted(row[0] for row in found)[-limit:]
    rows = connection.execute(
        f"{_SELECT} JOIN record ON record.id = event.record_id WHERE event.id {AMONG} ORDER BY event.id DESC LIMIT ?",
        (json.dumps(newest), limit),
    )
    return [HappeningRow._make(row) for row in rows]


def list_session_events(
    connection: Connection, reach: Scopes, session: str, since: str, before: str, kinds: Sequence[str], limit: int
) -> list[HappeningRow]:
    """Return events of these types in a conversation, after a moment and before another, in order."""
    where, scopes = scope_filter(reach)
    first, last = find_first_event(connection, since), find_first_event(connection, before)
    # By the numbers of the time, not by the types, each of which has rows of all times: hence the plus.
    rows = connection.execute(
        f"{_SELECT} CROSS JOIN record ON record.id = event.record_id WHERE event.id >= ? AND event.id < ? "
        f"AND +event.type {AMONG} AND record.{SAYS} AND record.{where} AND event.session = ? AND event.at > ? "
        "ORDER BY event.id LIMIT ?",
        (first, last, json.dumps([*kinds]), *scopes, session, since, limit),
    )
    return [HappeningRow._make(row) for row in rows]


def _among(reach: Scopes, subject: str) -> tuple[str, tuple[str, ...]]:
    """Return a condition on ids that chooses records in reach, about a subject where one is named, and its values."""
    where, scopes = scope_filter(reach)
    about, named = ("AND subject = ?", (subject,)) if subject else ("", ())
    return f"IN (SELECT id FROM record WHERE {SAYS} AND {LISTED} AND {where} {about})", (*scopes, *named)
