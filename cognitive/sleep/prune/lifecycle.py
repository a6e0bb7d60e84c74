"""What silence makes of records: they cool, and in the end fade, as `kenobot.cognitive.beliefs.lifecycle` says."""

from collections.abc import Iterator

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store.scopes import ALL_SCOPES

_HEARD = ("last_seen", "last_used", "confirmed", "verification", "policy_class", "lifecycle")


def plan(view: NightView) -> Iterator[Change]:
    """Cool and archive what is due, unless it was heard of in the meantime, or somebody has undone just that."""
    policy = view.policy.value
    for move in lifecycle.plan_due_events(view.connection, view.now, ALL_SCOPES, policy):
        values = lifecycle.event_changes(move.record, move.event, view.now, policy)
        if not values:
            continue
        column = "status" if "status" in values else "lifecycle"
        if upkeep_rows.was_reverted(view.connection, move.record.id, column, values[column]):
            continue
        expects = {name: getattr(move.record, name) for name in _HEARD}
        edit = UpdateRecord(move.record.id, values, expects, shown="status" in values)
        yield Change(move.event, move.reason, (edit,), move.record.id)


PASS = Pass("lifecycle", "prune", "cools what nobody speaks of, and archives what has faded", plan)
