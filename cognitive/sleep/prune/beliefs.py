"""Beliefs that nobody speaks of fade by halves: below a tenth they are stale, below a twentieth they leave.

Being recalled, said again or confirmed stops that. What is protected, said by its owner in so many words, or stands in
MEMORY.md does not fade; an episode happened, however long ago.
"""

from collections.abc import Iterator
from datetime import timedelta

from kenobot.cognitive.beliefs.value import lasts, strength
from kenobot.cognitive.sleep import upkeep_store
from kenobot.cognitive.sleep.plan.changes import Change, Edit
from kenobot.cognitive.sleep.plan.passes import Pass, View
from kenobot.cognitive.store.change import Value
from kenobot.cognitive.store.records import Record

_HEARD = ("last_seen", "last_used", "confirmed", "confidence", "stability", "verification", "policy_class")


def plan(view: View) -> Iterator[Change]:
    """Mark as stale, or let go of, what is hardly believed any more."""
    policy, value = view.policy.upkeep, view.policy.value
    quiet = view.now - timedelta(days=value.quiet_days)
    for record in upkeep_store.fading(view.connection, quiet, value.explicit):
        if lasts(record, value):
            continue
        held = strength(record, view.now, value)
        if held < value.faded:
            change = _change(view, record, held, "pruned", {"status": "archived", "lifecycle": "archived"})
        elif held < policy.doubted and record.lifecycle != "stale":
            change = _change(view, record, held, "cooled", {"lifecycle": "stale"})
        else:
            continue
        if change is not None:
            yield change


def _change(view: View, record: Record, held: float, kind: str, values: dict[str, Value]) -> Change | None:
    column = "status" if "status" in values else "lifecycle"
    if upkeep_store.brought_back(view.connection, record.id, column, values[column]):
        return None
    expects = {name: getattr(record, name) for name in _HEARD}
    edit = Edit(record.id, values, expects, shown="status" in values)
    reason = f"believed at {held:.2f} after silence, of {record.confidence:.2f} when it was last heard of"
    return Change(kind, reason, (edit,), record.id)


PASS = Pass("beliefs", "prune", "marks beliefs that faded as stale, and lets go of those that faded away", plan)
