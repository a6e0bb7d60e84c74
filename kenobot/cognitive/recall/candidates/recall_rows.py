"""Read the rows that only recall needs: past values of records, and the log of recalls."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from kenobot.cognitive.store import records
from kenobot.cognitive.store.records import AMONG, FACTS, LISTED, LIVE
from kenobot.ports.records import Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, chats_within, scope_filter
from kenobot.storage.times import stamp

_RESTORED = ("text", "category", "subject", "status", "trust", "confidence", "verification", "attributes", "lifecycle")
_STEPS = 20  # from a record to what replaced it, and so on
_DUE = "json_extract(attributes, '$.due')"
_LIVE_BY_DAY = f"+{LIVE} AND {_DUE} IS NOT NULL"  # by the index of days, which few records are in: hence the plus
_FAR_BACK = 200  # turns of a chat that are searched for the prompt prefix that a reply was given in


def record_as_of(connection: Connection, record: Record, moment: str) -> Record:
    """Restore the values that a record had at `moment`, an ISO-8601 text."""
    rows = connection.execute(
        "SELECT json_extract(data, '$.was') FROM event WHERE record_id = ? AND at > ? "
        "AND json_extract(data, '$.was') IS NOT NULL ORDER BY id DESC",
        (record.id, moment),
    )
    held: dict[str, str] = {}
    for (was,) in rows:
        held.update((name, value) for name, value in json.loads(was).items() if name in _RESTORED)
    return record._replace(**held)  # type: ignore[arg-type]


def records_about(connection: Connection, scopes: Iterable[str], subjects: Sequence[str], limit: int) -> list[int]:
    """Read the newest live records about each of these subjects."""
    where = f"subject = ? AND {LIVE}"
    return [
        number
        for scope in scopes
        for subject in subjects
        for number in records.select_ids(connection, where, (subject,), (scope,), order="id DESC", limit=limit)
    ]


def list_planned(
    connection: Connection, first: str, last: str, reach: Scopes, *, undated: bool = False
) -> list[Record]:
    """Query the live facts due from one day to another, YYYY-MM-DD, the earliest first.

    undated: also the commitments of no day, behind the others.
    """
    where = f"{_LIVE_BY_DAY} AND {FACTS} AND {_DUE} BETWEEN ? AND ?"
    found = records.select(connection, where, (first, last), reach, order=f"{_DUE}, id", scan_scope=False)
    if undated:
        where = f"{LIVE} AND {FACTS} AND category = 'commitment' AND {LISTED} AND {_DUE} IS NULL"
        found += records.select(connection, where, (), reach, scan_scope=False)
    return found


def list_overdue(connection: Connection, before: str, reach: Scopes) -> list[Record]:
    """Query the live commitments that were due before a day, YYYY-MM-DD, the earliest first."""
    where = f"{_LIVE_BY_DAY} AND {FACTS} AND category = 'commitment' AND {_DUE} < ?"
    return records.select(connection, where, (before,), reach, order=f"{_DUE}, id", scan_scope=False)


def list_occurrences_between(
    connection: Connection, first: str, last: str, reach: Scopes, *, limit: int
) -> list[Record]:
    """Query the live facts that were told from one day to another, YYYY-MM-DD, the earliest first."""
    where = f"{LIVE} AND {FACTS} AND day BETWEEN ? AND ?"
    return records.select(connection, where, (first, last), reach, order="day, id", limit=limit)


def naming_number(connection: Connection, number: int, *, after: str, reach: Scopes, limit: int) -> list[Record]:
    """Query the live facts told after a day whose text has a number: those that may name a day of that number."""
    where = f"{LIVE} AND {FACTS} AND day > ? AND instr(text, ?)"
    return records.select(connection, where, (after, str(number)), reach, order="day, id", limit=limit)


def current_versions(connection: Connection, ids: Sequence[int], reach: Scopes) -> dict[int, int]:
    """Find the live record within `reach` that at last superseded each of these."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        "WITH RECURSIVE newer (old, id, steps) AS (SELECT dst, src, 1 FROM link WHERE type = 'supersedes' "
        f"AND dst {AMONG} UNION ALL SELECT old, src, steps + 1 FROM newer "
        f"JOIN link ON dst = newer.id AND type = 'supersedes' WHERE steps < {_STEPS}) "
        f"SELECT old, record.id FROM newer JOIN record USING (id) WHERE record.status = 'active' AND +{where}",
        (json.dumps(ids), *scopes),
    )
    return {row[0]: row[1] for row in rows}


def statuses(connection: Connection, ids: Iterable[int], reach: Scopes) -> dict[int, str]:
    """Read the status of each record within `reach`."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        f"SELECT id, status FROM record WHERE id {AMONG} AND +{where}",
        (json.dumps(list(ids)), *scopes),
    )
    return dict(rows.fetchall())


def mark_used(connection: Connection, ids: Sequence[int], at: datetime, step: float, most: float) -> None:
    """Count a use of these records; raise their stability by `step`, to at most `most`."""
    connection.execute(
        "UPDATE record SET use_count = use_count + 1, stability = min(max(stability, ?), stability + ?), last_used = ? "
        f"WHERE id {AMONG}",
        (most, step, stamp(at), json.dumps(list(ids))),
    )


def used_since(connection: Connection, ids: Sequence[int], since: datetime, reach: Scopes) -> set[int]:
    """Select the records that were used after a moment."""
    values = (json.dumps(list(ids)), stamp(since))
    return set(records.select_ids(connection, f"id {AMONG} AND last_used > ?", values, reach, scan_scope=False))


def session_of_turn(connection: Connection, inbox: int, reach: Scopes) -> str | None:
    """Read the session of a turn's question; None without one in a chat of `reach`."""
    chats = chats_within(reach)
    rows = message_rows.messages_of_turns(connection, [inbox])
    asked = (row.session for row in rows if row.role == "user" and (chats is None or row.session in chats))
    return next(asked, None)


def recall_events(connection: Connection, session: str, inbox: int | None = None) -> list[Mapping[str, object]]:
    """Read the recalls of a chat, newest first, from the turn `inbox`, or the last, back to its prefix."""
    rows = connection.execute(
        "SELECT data FROM event WHERE type = 'recalled' AND session = ? "
        "AND json_extract(data, '$.inbox') <= coalesce(?, 9e18) ORDER BY id DESC LIMIT ?",
        (session, inbox, _FAR_BACK),
    )
    found: list[Mapping[str, object]] = []
    for (data,) in rows:
        found.append(json.loads(data))
        if found[-1].get("frame") is not None:
            break
    return found
