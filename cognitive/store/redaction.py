"""Rows of erasing for good: tombstones, deleted records, and events whose data is emptied."""

import json
from collections.abc import Iterable, Mapping, Sequence

from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.events import record_events
from kenobot.cognitive.store.records import AMONG, Json
from kenobot.cognitive.store.scopes import Scopes
from kenobot.storage.connection import Connection


def add_tombstones(connection: Connection, scope: str, keys: Iterable[str], at: str) -> None:
    """Leave a tombstone for each key."""
    connection.executemany(
        "INSERT INTO tombstone (scope, key, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(scope, key, at) for key in keys],
    )


def delete_records(connection: Connection, records: Sequence[int]) -> None:
    """Delete records, their vectors and their links, and empty what their events tell. Only `purge` calls this."""
    ids = json.dumps(list(records))
    # What is noted of the talk it came up in names its topics; a box that is open tells the rest again.
    connection.execute(
        f"DELETE FROM open_topic WHERE first_id {AMONG} "
        f"OR box_id IN (SELECT dst FROM link WHERE src {AMONG} AND type = 'member')",
        (ids, ids),
    )
    connection.execute(f"DELETE FROM link WHERE src {AMONG} OR dst {AMONG}", (ids, ids))
    connection.execute(f"DELETE FROM vector WHERE record_id {AMONG}", (ids,))
    connection.execute(f"""UPDATE event SET data = '{{"erased": true}}' WHERE record_id {AMONG}""", (ids,))
    connection.execute(f"DELETE FROM record WHERE id {AMONG}", (ids,))


def rewrite_event(connection: Connection, number: int, data: Mapping[str, Json]) -> None:
    """Put other data into an event. Only `purge` calls this: what happened is not rewritten, it is blotted out."""
    connection.execute("UPDATE event SET data = ? WHERE id = ?", (json.dumps(data, ensure_ascii=False), number))


def all_wordings(connection: Connection, records: Sequence[int], reach: Scopes) -> dict[int, set[str]]:
    """By record, every text that it ever had."""
    found: dict[int, set[str]] = {}
    for number, record in store.by_ids(connection, records, reach).items():
        earlier = (happening.previous_values.get("text") for happening in record_events(connection, number))
        found[number] = {record.text, *(text for text in earlier if isinstance(text, str))}
    return found


def tombstone_time(connection: Connection, scope: str, key: str) -> str | None:
    """When the words of `key` were erased from a scope for good; None when they were not."""
    row = connection.execute("SELECT at FROM tombstone WHERE scope = ? AND key = ?", (scope, key)).fetchone()
    return row[0] if row else None


def drop_tombstone(connection: Connection, scope: str, key: str) -> None:
    """The words of `key` may be learned again: their owner says them anew."""
    connection.execute("DELETE FROM tombstone WHERE scope = ? AND key = ?", (scope, key))


ERASED_TEXT = "[erased]"
