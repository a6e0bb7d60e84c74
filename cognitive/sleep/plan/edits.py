"""Build the changes that most passes plan: set columns of one record, or end it."""

from kenobot.cognitive.sleep.plan.changes import Change, ColumnValues, UpdateRecord
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record


def unchanged(record: Record, *columns: str) -> dict[str, ColumnValue]:
    """Expect columns of a record to hold what the pass read."""
    return {name: getattr(record, name) for name in columns}


def update(
    record: Record,
    kind: str,
    reason: str,
    values: ColumnValues,
    expects: ColumnValues | None = None,
    *,
    shown: bool = True,
) -> Change:
    """Set columns of one record."""
    return Change(kind, reason, (UpdateRecord(record.id, values, expects or {}, shown),), record.id)


def expire(
    record: Record,
    reason: str,
    valid_to: str,
    expects: ColumnValues | None = None,
    *,
    touch: bool = False,
) -> Change:
    """End a record at a moment. touch: the moment also counts as its last update."""
    values = {"status": "expired", "valid_to": valid_to} | ({"updated": valid_to} if touch else {})
    return update(record, "expired", reason, values, expects)
