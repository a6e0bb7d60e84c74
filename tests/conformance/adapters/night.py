"""When sleep is due."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep.due import is_due
from kenobot_testing.clock import START
from tests.conformance.cases import Case, Outcome, compare


def should_run(case: Case) -> Outcome:
    hours = case.input["hoursSinceLastRun"]
    last = None if hours is None else START - timedelta(hours=hours)
    return compare(case, is_due(START, last, SleepPolicy(), ZoneInfo("UTC")))
