"""Rows that `admit` alone reads and writes: new records, what is gone, and what was erased for good."""

import json
from collections.abc import Mapping, Sequence

from kenobot.cognitive.store.records import Record, by_ids
from kenobot.cognitive.store.scopes import Scopes, scope_filter
from kenobot.storage.connection import Connection


def ended_with_key(connection: Connection, scope: str, key: str, limit: int) -> list[Record]:
    """Records of this scope that said the words of `key` and are no longer live, the newest first."""
    rows = connection.execute(
        "SELECT id FROM record WHERE key = ? AND scope = ? AND status != 'active' ORDER BY id DESC LIMIT ?",
        (key, scope, limit),
    )
    found = by_ids(connection, [row[0] for row in rows], (scope,))
    return sorted(found.values(), key=lambda record: -record.id)


def page_before(connection: Connection, record: int, reach: Scopes, limit: int) -> list[tuple[int, str]]:
    """Id and scope of the records up to `record`, the newest first."""
    where, scopes = scope_filter(reach)
    return connection.execute(
        f"SELECT id, scope FROM record WHERE id <= ? AND {where} ORDER BY id DESC LIMIT ?", (record, *scopes, limit)
    ).fetchall()


def insert_record(connection: Connection, row: Mapping[str, str | int | float | None]) -> int:
    """Write a new record, by column; returns its id. `kenobot.cognitive.remember.draft` alone calls this."""
    marks = ", ".join("?" * len(row))
    cursor = connection.execute(f"INSERT INTO record ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def set_changed_event(connection: Connection, record: int, scope: str, event: int) -> None:
    """A new record is shown from `event` on, the one that tells of its making."""
    connection.execute("UPDATE record SET changed = ? WHERE id = ? AND scope = ?", (event, record, scope))


def last_decision_on(connection: Connection, record: int) -> int | None:
    """The decision that last concerned a record: what its parts are filed under."""
    row = connection.execute(
        "SELECT id, json_extract(data, '$.part_of') FROM event WHERE record_id = ? ORDER BY id DESC LIMIT 1", (record,)
    ).fetchone()
    return (row[1] or row[0]) if row else None


def tombstone_time(connection: Connection, scope: str, key: str) -> str | None:
    """When the words of `key` were erased from a scope for good; None when they were not."""
    row = connection.execute("SELECT at FROM tombstone WHERE scope = ? AND key = ?", (scope, key)).fetchone()
    return row[0] if row else None


def drop_tombstone(connection: Connection, scope: str, key: str) -> None:
    """The words of `key` may be learned again: their owner says them anew."""
    connection.execute("DELETE FROM tombstone WHERE scope = ? AND key = ?", (scope, key))


def received_times(connection: Connection, turns: Sequence[int]) -> dict[int, str]:
    """When the messages of these inbox rows came in; rows that are gone are left out."""
    rows = connection.execute(
        "SELECT id, received_at FROM inbox WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(turns)),)
    )
    return {row[0]: row[1] for row in rows}
