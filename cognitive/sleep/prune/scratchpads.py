"""A scratchpad that nobody has written for a week is about something that is over: the chat starts with a clean one."""

from collections.abc import Iterator
from datetime import timedelta

from kenobot.cognitive.beliefs.value import days_since
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import records


def plan(view: NightView) -> Iterator[Change]:
    """Let go of scratchpads older than the policy's days. Undoing that counts as touching it."""
    before = view.now - timedelta(days=view.policy.sleep.scratchpad_days)
    for record in upkeep_rows.stale_scratchpads(view.connection, before):
        age = days_since(view.now, record.updated, record.last_seen)
        values = {"status": "expired", "valid_to": records.stamp(view.now)}
        edit = UpdateRecord(record.id, values, {"updated": record.updated, "last_seen": record.last_seen})
        yield Change("expired", f"nobody has written it for {age:.1f} days", (edit,), record.id)


PASS = Pass("scratchpads", "prune", "clears scratchpads that nobody has touched for days", plan)
