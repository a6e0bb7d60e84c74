"""Change a record's columns, with an event that holds their previous values, or erase it; no other module does."""

import json
from collections.abc import Iterable, Mapping, Sequence

from kenobot.cognitive.store import events, records, term_index
from kenobot.cognitive.store.records import AMONG
from kenobot.ports.json_value import Json
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import ColumnValue, Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

ERASED_TEXT = "[erased]"

_COLUMNS = frozenset(
    "text category subject attributes tags lang trust confidence importance stability mentions use_count status "
    "lifecycle verification policy_class tier valid_to updated last_seen last_used confirmed expires day key "
    "source_messages".split()
)
_FILED_UNDER = frozenset({"text", "subject", "attributes", "status", "trust"})


def change(
    connection: Connection,
    record: Record,
    kind: str,
    values: Mapping[str, ColumnValue],
    act: ChangeContext,
    *,
    shown: bool = True,
    data: Mapping[str, Json] | None = None,
) -> int:
    """Set columns of `record`, as an event of type `kind`; returns the event's id.

    Columns that hold their value already are left out of the event. shown: the change concerns what a prompt or a file
    shows. data: what else the event should tell. Raises ValueError for a column that must not change, KeyError when
    the record is gone.
    """
    if strange := values.keys() - _COLUMNS:
        raise ValueError(f"records do not change their {', '.join(sorted(strange))}")
    names = sorted(values)
    held = dict(zip(names, records.column_values(connection, record, names), strict=True)) if names else {}
    was = {name: value for name, value in held.items() if value != values[name]}
    told: dict[str, Json] = {"reason": act.reason, **(data or {})}
    if was:
        told["was"] = {**was}
    if act.part_of is not None:
        told["part_of"] = act.part_of
    event = events.add_event(connection, act.at, act.actor, kind, session=act.session, record=record.id, data=told)
    settings = {name: values[name] for name in was}
    if shown:
        settings["changed_event"] = event
    if settings:
        records.set_columns(connection, record, list(settings), list(settings.values()))
    if not _FILED_UNDER.isdisjoint(was):
        term_index.index_record(connection, record.id, record.scope)
    return event


# ── erasing for good ─────────────────────────────────────────────────────────────────────────────────────────────


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


def all_wordings(connection: Connection, numbers: Sequence[int], reach: Scopes) -> dict[int, set[str]]:
    """Return by record every text that it ever had."""
    found: dict[int, set[str]] = {}
    for number, record in records.by_ids(connection, numbers, reach).items():
        earlier = (happening.previous_values.get("text") for happening in events.record_events(connection, number))
        found[number] = {record.text, *(text for text in earlier if isinstance(text, str))}
    return found


def tombstone_time(connection: Connection, scope: str, key: str) -> str | None:
    """Return when the words of `key` were erased from a scope for good; None when they were not."""
    row = connection.execute("SELECT at FROM tombstone WHERE scope = ? AND key = ?", (scope, key)).fetchone()
    return row[0] if row else None


def drop_tombstone(connection: Connection, scope: str, key: str) -> None:
    """Drop a tombstone, so that the words of `key` may be learned again: their owner says them anew."""
    connection.execute("DELETE FROM tombstone WHERE scope = ? AND key = ?", (scope, key))
