"""Facts, patterns and their matching, as sleep and the prompt go by them."""

import json
from collections.abc import Mapping
from typing import Any

from kenobot.cognitive.mirror.pattern_file import validate_entry
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.procedural.pattern import CONSOLIDATION, Pattern, match_patterns, pattern_of, text_of
from kenobot.cognitive.sleep.consolidate.promote import fact_lines, statement_lines
from kenobot.cognitive.sleep.prune.endings import is_kept
from kenobot.core.front_matter import UnusableFileError
from kenobot.language.solutions import find_solution
from tests.conformance.cases import Adapter, Case, Checked, Outcome, compare
from tests.memory_rows import open_memory, put_record


def stated(case: Case) -> Outcome:
    """That version takes every line of some length: here those are what may be asked about, and facts are fewer."""
    return compare(case, [line for entry in case.input for line in statement_lines(entry)])


def told(case: Case) -> Outcome:
    """The facts by the words that facts are told with."""
    return compare(case, [line for entry in case.input for line in fact_lines(entry)])


def learned(case: Case) -> Outcome:
    """The seed's own walk-through words trigger and response without one another; there, one line is both."""
    found = [pair for entry in case.input if (pair := find_solution(entry)) is not None]
    actual = [
        {
            "trigger": pair.trigger,
            "response": pair.response,
            "confidence": DEFAULT.procedural.initial_confidence,
            "learnedFrom": CONSOLIDATION,
        }
        for pair in found
    ]
    wanted = case.expected
    if not (wanted and wanted[0]["trigger"] == wanted[0]["response"]):
        return compare(case, actual)
    one, there = (actual or [{"trigger": "", "response": ""}])[0], wanted[0]
    return Checked(
        actual,
        {
            "one pattern is learned": len(actual) == 1,
            "its trigger is the part that tells the problem": there["trigger"].startswith(str(one["trigger"])),
            "its response is the part that tells the solution": there["response"].endswith(str(one["response"])),
            "neither is all of it": "" not in one.values() and one["trigger"] != one["response"],
            "confidence and origin are the same": all(one.get(k) == there[k] for k in ("confidence", "learnedFrom")),
        },
    )


def matched(case: Case) -> Outcome:
    """Whole words count, and short ones too: a cat is not in a concatenation, and cd is a word."""
    known = [_pattern(number, raw) for number, raw in enumerate(case.input["patterns"], 1)]
    names = {pattern.id: f"p{number}" for number, pattern in enumerate(known, 1)}
    found = match_patterns(known, case.input["message"])
    actual = [{"id": names[fit.pattern.id], "score": round(fit.score, 6)} for fit in found]
    if "substring" in case.quirk:
        return Checked(actual, {"a part of a word is no word": actual == []})
    if case.input["message"] == "ab cd":
        half = case.input["patterns"][0]["confidence"] / 2
        return Checked(
            actual, {"a word of two letters counts, as one of several": 0 < sum(f.score for f in found) <= half}
        )
    return compare(case, actual)


def valid(case: Case) -> Outcome:
    """The same are refused, in plain words, and what is left out has the same default."""
    try:
        _, _, _, uses = validate_entry(case.input)
    except UnusableFileError as error:
        about = "confidence" if "confidence" in case.expected.get("error", "") else "a response"
        return Checked(str(error), {f"it is refused, and says that it is about {about}": about in str(error)})
    return compare(case, {"ok": True, "usageCount": uses})


def kept(case: Case) -> Outcome:
    return compare(case, is_kept(case.input["confidence"], case.input["usageCount"]))


def _pattern(number: int, raw: Mapping[str, Any]) -> Pattern:
    attrs = {"trigger": raw["trigger"], "response": raw.get("response", "do it")}
    with open_memory() as connection:
        record = put_record(
            connection,
            text_of(attrs["trigger"], attrs["response"]),
            id=number,
            form="procedure",
            attributes=json.dumps(attrs),
            confidence=raw["confidence"],
        )
    found = pattern_of(record)
    assert found is not None
    return found


ADAPTERS: dict[str, Adapter] = {
    "consolidation.extract_facts": stated,
    "consolidation.extract_patterns": learned,
    "facts.legacy": told,
    "procedural.match": matched,
    "procedural.validate": valid,
    "prune.pattern_kept": kept,
}
