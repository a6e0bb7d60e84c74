"""Beliefs that nobody speaks of fade by halves: below a tenth they are stale, below a twentieth they leave.

Being recalled, said again or confirmed stops that. What is protected, said by its owner in so many words, or stands in
MEMORY.md does not fade; an episode happened, however long ago.
"""

from collections.abc import Iterator
from datetime import timedelta

from kenobot.cognitive.beliefs.value import never_fades, strength
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record

_HEARD = ("last_seen", "last_used", "confirmed", "confidence", "stability", "verification", "policy_class")


def plan(view: NightView) -> Iterator[Change]:
    """Mark as stale, or let go of, what is hardly believed any more."""
    policy, value = view.policy.pruning, view.policy.value
    quiet = view.now - timedelta(days=value.quiet_days)
    for record in upkeep_rows.fading_beliefs(view.connection, quiet, value.explicit_from):
        if never_fades(record, value):
            continue
        held = strength(record, view.now, value)
        if held < value.faded_below:
            change = _change(view, record, held, "pruned", {"status": "archived", "lifecycle": "archived"})
        elif held < policy.stale_below and record.lifecycle != "stale":
            change = _change(view, record, held, "cooled", {"lifecycle": "stale"})
        else:
            continue
        if change is not None:
            yield change


def _change(view: NightView, record: Record, held: float, kind: str, values: dict[str, ColumnValue]) -> Change | None:
    column = "status" if "status" in values else "lifecycle"
    if upkeep_rows.was_reverted(view.connection, record.id, column, values[column]):
        return None
    expects = {name: getattr(record, name) for name in _HEARD}
    edit = UpdateRecord(record.id, values, expects, shown="status" in values)
    reason = f"believed at {held:.2f} after silence, of {record.confidence:.2f} when it was last heard of"
    return Change(kind, reason, (edit,), record.id)


PASS = Pass("beliefs", "prune", "marks beliefs that faded as stale, and lets go of those that faded away", plan)
