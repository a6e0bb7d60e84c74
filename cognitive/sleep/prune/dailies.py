"""Dailies: a log whose day is long over leaves the hot tree for the archive. What stands in it is still recalled.

Where logs leave before their week is distilled, each waits until the summary of its week was made of it.
"""

from collections.abc import Iterator
from datetime import date, timedelta

from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import tiers
from kenobot.cognitive.text.calendar import local_day

_AT_ONCE = 100  # facts of one change


def plan(view: NightView) -> Iterator[Change]:
    """One change a scope and day."""
    sleep = view.policy.sleep
    today = date.fromisoformat(local_day(view.now, view.zone))
    last = (today - timedelta(days=sleep.daily_days)).isoformat()
    for scope in tiers.all_scopes(view.connection):
        for day in tiers.daily_log_days(view.connection, scope, last):
            records = tiers.daily_record_ids(view.connection, scope, day)
            if sleep.daily_days <= sleep.warm_days:
                summed_up = tiers.ids_in_week_summaries(view.connection, scope, records)
                told = {record.id for record in tiers.logged_between(view.connection, scope, day, day)}
                records = [number for number in records if number in summed_up or number not in told]
            records = [number for number in records if not _is_back(view, number)]
            for start in range(0, len(records), _AT_ONCE):
                edits = [
                    UpdateRecord(number, {"tier": tiers.ARCHIVE}, {"tier": tiers.DAILY})
                    for number in records[start : start + _AT_ONCE]
                ]
                reason = f"the log of {day} is {(today - date.fromisoformat(day)).days} days old"
                yield Change("put away", reason, tuple(edits))


def _is_back(view: NightView, record: int) -> bool:
    """Whether a fact was put away before, and somebody undid that."""
    return upkeep_rows.was_reverted(view.connection, record, "tier", tiers.ARCHIVE)


PASS = Pass(
    name="dailies",
    phase="prune",
    description="puts old logs into the archive",
    plan=plan,
)
