"""What was known from the first to end, has ended: a guess that nobody confirmed in time, or what held until a day.

A guess gets its end when it is born, and loses it when it comes up again or its owner says yes to it.
"""

from collections.abc import Iterator

from kenobot.cognitive.beliefs.value import is_protected
from kenobot.cognitive.remember.classify import tier_of_confidence
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import records
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import parse_time


def plan(view: NightView) -> Iterator[Change]:
    """Let go of what has ended. A guess that is protected, or matters too much, loses its end instead."""
    for record in upkeep_rows.expired_records(view.connection, view.now):
        ends = parse_time(record.expires or "")
        if ends is None or upkeep_rows.was_reverted(view.connection, record.id, "status", "expired"):
            continue
        guess = tier_of_confidence(record.confidence, view.policy.admit) == "speculative"
        if guess and is_protected(record, view.policy.value):
            edit = UpdateRecord(record.id, {"expires": None}, {"expires": record.expires}, shown=False)
            yield Change("kept", "it is a guess, and matters too much to go by itself", (edit,), record.id)
        else:
            yield _over(record, records.stamp(ends), guess=guess)


def _over(record: Record, ends: str, *, guess: bool) -> Change:
    day = ends[:10]
    reason = f"it was a guess, and nobody confirmed it by {day}" if guess else f"it held until {day}"
    values = {"status": "expired", "valid_to": record.valid_to or ends}
    edit = UpdateRecord(record.id, values, {"expires": record.expires, "confirmed": record.confirmed})
    return Change("expired", reason, (edit,), record.id)


PASS = Pass("expiry", "prune", "lets go of guesses that nobody confirmed, and of what held until a day", plan)
