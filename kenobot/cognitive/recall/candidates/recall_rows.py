"""Read the rows that only recall needs: past values of records, and the log of recalls."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

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


class FormerRow(NamedTuple):
    """A record that gave way. found: the record that was found; by: the one that took its place, and how."""

    found: int
    id: int
    by: int
    how: str


def list_former(connection: Connection, ids: Sequence[int], reach: Scopes) -> list[FormerRow]:
    """List the facts that these took the place of, and so on, in their scopes: of each the nearest first.

    how: the kind of the event that last ended it, and its reason where a night did that: "superseded sleep KEY".
    """
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        "WITH RECURSIVE older (head, id, newer, steps) AS (SELECT src, dst, src, 1 FROM link "
        f"WHERE type = 'supersedes' AND src {AMONG} UNION SELECT head, dst, older.id, steps + 1 FROM older "
        f"JOIN link ON src = older.id AND type = 'supersedes' WHERE steps < {_STEPS}) "
        "SELECT head, record.id, newer, (SELECT type || iif(actor = 'sleep', "
        "' sleep ' || coalesce(json_extract(data, '$.said.key'), ''), '') FROM event WHERE record_id = record.id "
        "AND json_extract(data, '$.was.status') IS NOT NULL ORDER BY event.id DESC LIMIT 1) FROM older "
        "JOIN record USING (id) JOIN record AS top ON top.id = head AND top.scope = record.scope "
        f"WHERE record.status IN ('superseded', 'invalidated') AND record.{FACTS} AND +record.{where} ORDER BY steps",
        (json.dumps(list(ids)), *scopes),
    )
    return [FormerRow(row[0], row[1], row[2], row[3] or "") for row in rows]


class FormerText(NamedTuple):
    """The words of a record until a moment, when those of another, `by`, took their place."""

    id: int
    text: str
    by: int
    at: str


def list_former_texts(connection: Connection, ids: Sequence[int], reach: Scopes) -> list[FormerText]:
    """List the former words of these facts, and of those that these speak against, the newest first."""
    where, scopes = scope_filter(reach)
    among = json.dumps(list(ids))
    rows = connection.execute(
        "SELECT record.id, json_extract(data, '$.was.text'), json_extract(data, '$.said.values.other'), at "
        "FROM event JOIN record ON record.id = record_id WHERE record_id IN (SELECT value FROM json_each(?) UNION "
        f"SELECT dst FROM link WHERE type = 'contradicts' AND src {AMONG}) AND event.type = 'amended' "
        "AND json_extract(data, '$.said.key') = 'reasons.other_says_otherwise' "
        "AND json_extract(data, '$.was.text') IS NOT NULL "
        f"AND record.status = 'active' AND record.{FACTS} AND +record.{where} ORDER BY event.id DESC",
        (among, among, *scopes),
    )
    return [FormerText(row[0], row[1], int(row[2] or 0), row[3]) for row in rows]


def select_forgotten_keys(connection: Connection, keys: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Select those of these scopes and keys of words by which something was forgotten."""
    return {
        (scope, key)
        for scope, key in dict.fromkeys(keys)
        if any(each.status == "forgotten" for each in records.list_ended_with_key(connection, scope, key, 8))
    }


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
