"""When sleep is due."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep.cycle import is_due
from kenobot.testing.clock import START
from tests.conformance.cases import Case, Outcome, compare


def should_run(case: Case) -> Outcome:
    last = START - timedelta(hours=case.input["hoursSinceLastRun"])
    return compare(case, is_due(START, last, SleepPolicy(), ZoneInfo("UTC")))
