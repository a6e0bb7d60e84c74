"""Keep the day on which something is due, where a person puts other words in its place."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from kenobot.cognitive.beliefs.lifecycle import RESOLVED_ATTRIBUTE
from kenobot.language.facts.due_days import day_due
from kenobot.language.named_days import days_named
from kenobot.language.words import fold
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record

_DUE = "due"


def keep_due(before: Record, candidate: Candidate, said: str) -> Candidate:
    """Give a candidate the day of the record whose place it takes, and whether that was done.

    Words for a day that the record has too go on counting from the day of the record; others count from `said`, the day
    on which they were written, YYYY-MM-DD.
    """
    if any(name == _DUE for name, _ in candidate.attributes):
        return candidate
    held = {name: value for name, value in before.attribute_map.items() if name in (_DUE, RESOLVED_ATTRIBUTE)}
    found = _find_due(before, candidate.text, date.fromisoformat(said), held)
    if found and found != held.get(_DUE):
        held = {_DUE: found}
    return replace(candidate, attributes=(*candidate.attributes, *held.items()))


def _find_due(before: Record, text: str, said: date, held: Mapping[str, str]) -> str:
    """Find the day on which new words for a record are due; "" for no other than before."""
    told = date.fromisoformat(before.day)
    named = _list_days(text, told)
    if not named:
        return ""
    former = _list_days(before.text, told)
    if named <= former:
        is_counted = held.get(_DUE) in {day.isoformat() for day in former}  # else something else said which day
        now = _read_due(text, told)
        return now if is_counted and now != _read_due(before.text, told) else ""
    return _read_due(text, said)


def _list_days(text: str, said: date) -> set[date]:
    return {day for each in days_named(fold(text), said) for day in (each.day, each.last)}


def _read_due(text: str, said: date) -> str:
    return dict(day_due(text, said)).get(_DUE, "")
