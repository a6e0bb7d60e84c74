"""Change a record's columns, with an event that holds their previous values; no other module changes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from kenobot.cognitive.store import events, records, term_index
from kenobot.cognitive.store.records import Json, Record
from kenobot.storage.connection import Connection

ColumnValue = str | int | float | None

_COLUMNS = frozenset(
    "text category subject attributes tags lang trust confidence importance stability mentions use_count status "
    "lifecycle verification policy_class tier valid_to updated last_seen last_used confirmed expires day key "
    "source_messages".split()
)
_FILED_UNDER = frozenset({"text", "subject", "attributes", "status", "trust"})


@dataclass(frozen=True, slots=True)
class ChangeContext:
    """Time, actor, reason and session of a change.

    part_of: the event of the decision that the change belongs to, so that both are undone together.
    """

    at: datetime
    actor: str
    reason: str = ""
    session: str = ""
    part_of: int | None = None


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
