"""The prompt's words for how long ago something was."""

from datetime import timedelta

from kenobot.language.calendar import describe_age
from tests.conformance.cases import Case, Outcome, compare


def age_label(case: Case) -> Outcome:
    return compare(case, describe_age(timedelta(milliseconds=case.input["ageMs"])))
