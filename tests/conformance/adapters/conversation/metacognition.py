"""Grades of replies."""

from kenobot.language.reply_grade import grade_reply
from tests.conformance.cases import Case, Outcome, compare


def self_monitor(case: Case) -> Outcome:
    question = case.input["context"].get("userMessage", "")
    found = grade_reply(case.input["response"] or "", question)
    return compare(case, {"quality": found.quality, "score": found.score, "signals": [*found.signals]})
