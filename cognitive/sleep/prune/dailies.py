"""Dailies: a log whose day is long over leaves the hot tree for the archive. What stands in it is still recalled.

Where logs leave before their week is distilled, each waits until the summary of its week was made of it.
"""

from collections.abc import Iterator
from datetime import date, timedelta

from kenobot.cognitive import decay_store
from kenobot.cognitive.calendar import local_day
from kenobot.cognitive.sleep import upkeep_store
from kenobot.cognitive.sleep.changes import Change, Edit
from kenobot.cognitive.sleep.passes import Pass, View

_AT_ONCE = 100  # facts of one change


def plan(view: View) -> Iterator[Change]:
    """One change a scope and day."""
    sleep = view.policy.sleep
    today = date.fromisoformat(local_day(view.now, view.zone))
    last = (today - timedelta(days=sleep.daily_days)).isoformat()
    for scope in decay_store.scopes(view.connection):
        for day in decay_store.days(view.connection, scope, last):
            records = decay_store.of_day(view.connection, scope, day)
            if sleep.daily_days <= sleep.warm_days:
                summed_up = decay_store.weeks_of(view.connection, scope, records)
                told = {record.id for record in decay_store.told_in(view.connection, scope, day, day)}
                records = [number for number in records if number in summed_up or number not in told]
            records = [number for number in records if not _is_back(view, number)]
            for start in range(0, len(records), _AT_ONCE):
                edits = [
                    Edit(number, {"tier": decay_store.ARCHIVE}, {"tier": decay_store.DAILY})
                    for number in records[start : start + _AT_ONCE]
                ]
                reason = f"the log of {day} is {(today - date.fromisoformat(day)).days} days old"
                yield Change("put away", reason, tuple(edits))


def _is_back(view: View, record: int) -> bool:
    """Whether a fact was put away before, and somebody undid that."""
    return upkeep_store.brought_back(view.connection, record, "tier", decay_store.ARCHIVE)


PASS = Pass(
    name="dailies",
    phase="prune",
    about="puts old logs into the archive",
    plan=plan,
)
