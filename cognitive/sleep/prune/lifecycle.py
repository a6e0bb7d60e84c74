"""What silence makes of records: they cool, and in the end fade, as `kenobot.cognitive.beliefs.lifecycle` says."""

from collections.abc import Iterator

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.sleep import upkeep_store
from kenobot.cognitive.sleep.plan.changes import Change, Edit
from kenobot.cognitive.sleep.plan.passes import Pass, View
from kenobot.cognitive.store.scopes import WHOLE_HOME

_HEARD = ("last_seen", "last_used", "confirmed", "verification", "policy_class", "lifecycle")


def plan(view: View) -> Iterator[Change]:
    """Cool and archive what is due, unless it was heard of in the meantime, or somebody has undone just that."""
    policy = view.policy.value
    for move in lifecycle.plan(view.connection, view.now, WHOLE_HOME, policy):
        values = lifecycle.effect(move.record, move.happening, view.now, policy)
        if not values:
            continue
        column = "status" if "status" in values else "lifecycle"
        if upkeep_store.brought_back(view.connection, move.record.id, column, values[column]):
            continue
        expects = {name: getattr(move.record, name) for name in _HEARD}
        edit = Edit(move.record.id, values, expects, shown="status" in values)
        yield Change(move.happening, move.reason, (edit,), move.record.id)


PASS = Pass("lifecycle", "prune", "cools what nobody speaks of, and archives what has faded", plan)
