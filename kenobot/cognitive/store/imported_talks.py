"""Events that tell which talk an import brought: of each conversation's record, the turns."""

import json
from collections.abc import Iterable
from typing import Final

from kenobot.cognitive.store import events
from kenobot.ports.records import EventRow
from kenobot.storage import imported_talk
from kenobot.storage.connection import Connection

IMPORTED: Final = "brought"
"""The kind of the events of an import: the first is the decision, the others are part of it."""

TurnRange = tuple[int, int]


def turns_of(happenings: Iterable[EventRow]) -> dict[int, list[TurnRange]]:
    """Collect the turns that events of imports brought, by record."""
    found: dict[int, list[TurnRange]] = {}
    for happening in happenings:
        turns = happening.data.get("turns")
        if happening.kind == IMPORTED and happening.record is not None and isinstance(turns, list):
            low, high = turns
            if isinstance(low, int) and isinstance(high, int):
                found.setdefault(happening.record, []).append((low, high))
    return found


def turns_of_record(connection: Connection, record: int) -> list[int]:
    """List the turns of an imported conversation by its record; none for other records."""
    ranges = turns_of(events.record_events(connection, record)).get(record, [])
    return expand_turns(connection, ranges)


def expand_turns(connection: Connection, ranges: Iterable[TurnRange]) -> list[int]:
    """List the turns of imported talk within ranges."""
    return [turn for low, high in ranges for turn in imported_talk.turns_between(connection, low, high)]


def list_withdrawn(connection: Connection) -> list[int]:
    """List the records of talk whose import is undone."""
    rows = connection.execute(
        "SELECT record_id, max(json_extract(data, '$.part_of')) FROM event WHERE type = ? AND record_id IS NOT NULL "
        "GROUP BY record_id",
        (IMPORTED,),
    ).fetchall()
    return [record for record, root in rows if root is not None and events.find_undo(connection, root) is not None]


def list_changed_talk(connection: Connection, low: int, high: int) -> list[TurnRange]:
    """List the turns whose record events above `low` up to `high` took out of sight, or brought back."""
    rows = connection.execute(
        "SELECT DISTINCT +record_id FROM event WHERE id > ? AND id <= ? AND +record_id IS NOT NULL "
        "AND json_type(data, '$.was.status') IS NOT NULL",
        (low, high),
    ).fetchall()
    told = (turns_of(events.record_events(connection, row[0])).get(row[0], []) for row in rows)
    return [each for ranges in told for each in ranges]


def list_hidden_turns(connection: Connection, turns: Iterable[int]) -> set[int]:
    """Select the turns that are hidden because the record of their talk is out of sight."""
    return imported_talk.turns_hidden_by(connection, IMPORTED, turns)


def find_unfinished(connection: Connection, source: str) -> int | None:
    """Find the import of a source that was broken off; None when there is none."""
    rows = connection.execute(
        "SELECT id, data FROM event WHERE type = ? AND json_extract(data, '$.source') = ? ORDER BY id DESC LIMIT 1",
        (IMPORTED, source),
    ).fetchall()
    for root, data in rows:
        parts = events.decision_events(connection, root)
        done = json.loads(data).get("done") or any(part.data.get("done") for part in parts)
        if not done and len(parts) > 1 and events.find_undo(connection, root) is None:
            return int(root)
    return None


def read_marks(connection: Connection) -> set[str]:
    """Return the marks of everything that earlier imports brought and that was not taken back since."""
    rows = connection.execute("SELECT id, data FROM event WHERE type = ?", (IMPORTED,)).fetchall()
    brought: dict[int, list[str]] = {}
    for number, text in rows:
        data = json.loads(text)
        brought.setdefault(data.get("part_of", number), []).extend(data.get("marks", ()))
    return {mark for root, marks in brought.items() if events.find_undo(connection, root) is None for mark in marks}


def delete_empty(connection: Connection, root: int) -> None:
    """Delete the event of an import that brought nothing, where nothing has happened since."""
    if events.last_event(connection) == root:
        connection.execute("DELETE FROM event WHERE id = ?", (root,))


def find_statuses(connection: Connection, scope: str, key: str) -> dict[str, int]:
    """Return the statuses of the records of a scope with a key, each with a record of it; "erased": one was purged."""
    if connection.execute("SELECT 1 FROM tombstone WHERE scope = ? AND key = ?", (scope, key)).fetchone():
        return {"erased": 0}
    rows = connection.execute("SELECT id, status FROM record WHERE scope = ? AND key = ?", (scope, key))
    return {status: number for number, status in rows}
