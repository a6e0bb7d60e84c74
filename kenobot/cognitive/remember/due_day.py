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

    said: the day on which its words were written, YYYY-MM-DD; see `find_first_day`.
    """
    if any(name == _DUE for name, _ in candidate.attributes):
        return candidate
    kept = list_kept(before, candidate.text, date.fromisoformat(said))
    return replace(candidate, attributes=(*candidate.attributes, *kept))


def list_kept(before: Record, text: str, said: date) -> tuple[tuple[str, str], ...]:
    """List what a text in the place of a record keeps of its attributes: its day or another, and whether it is done."""
    held = {name: value for name, value in before.attribute_map.items() if name in (_DUE, RESOLVED_ATTRIBUTE)}
    found = _find_due(before, text, said, held)
    return ((_DUE, found),) if found and found != held.get(_DUE) else tuple(held.items())


def find_first_day(before: str, text: str, told: date, said: date) -> date:
    """Find the day from which the days in a text count that was said in the place of another, told earlier.

    Words for a day that the other has too go on counting from the day on which that was told.
    """
    return told if _list_days(text, told) and _repeats_days(before, text, told) else said


def _find_due(before: Record, text: str, said: date, held: Mapping[str, str]) -> str:
    """Find the day on which new words for a record are due; "" for no other than before."""
    told = date.fromisoformat(before.day)
    if not _list_days(text, told):
        return ""
    if not _repeats_days(before.text, text, told):
        return _read_due(text, said)
    is_counted = held.get(_DUE) in {day.isoformat() for day in _list_days(before.text, told)}
    now = _read_due(text, told)  # of a day that something else than these words said, nothing is known
    return now if is_counted and now != _read_due(before.text, told) else ""


def _repeats_days(before: str, text: str, told: date) -> bool:
    """Return whether a text names no day that another, told on a day, does not."""
    return _list_days(text, told) <= _list_days(before, told)


def _list_days(text: str, said: date) -> set[date]:
    return {day for each in days_named(fold(text), said) for day in (each.day, each.last)}


def _read_due(text: str, said: date) -> str:
    return dict(day_due(text, said)).get(_DUE, "")
