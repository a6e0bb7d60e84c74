"""Read the days of a question for what is planned, such as "what do I have next week?"; see agenda.toml.

A question about something by name, as "do I have the dentist on Friday?", is none: its words find it.
"""

import re
from collections.abc import Sequence
from datetime import date, timedelta

from kenobot.core import lazy
from kenobot.language.dates import COUNTS, MONTHS, DateRange, end_of_month
from kenobot.language.lexicon import join_phrases, load_tables
from kenobot.language.named_days import NamedDay, days_named
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

_TABLES = load_tables(__package__, "agenda.toml")
_PHRASES = join_phrases(_TABLES)
_FILL = rf"(?:\W*(?<!\w)(?:{_PHRASES['fill']})(?!\w))*\W*"
_ASKS = lazy.regex(rf"{_TABLES['opening']['opening']}(?:{_PHRASES['asks']})(?!\w){_FILL}")
_OPEN = lazy.regex(rf"(?<!\w)(?:{_PHRASES['open']})(?!\w)")
_THIS_WEEK = lazy.regex(rf"(?<!\w)(?:{_PHRASES['this_week']})(?!\w)")
_THIS_MONTH = lazy.regex(rf"(?<!\w)(?:{_PHRASES['this_month']})(?!\w)")
_IN_MONTH = lazy.regex(rf"(?<!\w)(?:in|en|for|para) (?P<month>{'|'.join(MONTHS)})(?!\w)")
_OF_TOMORROW = lazy.regex(r"(?<=\w )de mañana\Z")
_QUE = lazy.regex(r"\b[qk]\b")
_UP_TO = lazy.regex(rf"(?<!\w)(?:{_PHRASES['up_to']})(?: (?:the|el|la|on))?\s*\Z")
_UP_TO_WITHIN = lazy.regex(rf"(?:{_PHRASES['up_to']})(?!\w)")
_BETWEEN = lazy.regex(_PHRASES["between"])
_FROM = lazy.regex(r"(?<!\w)(?:between|from|entre|desde|del?)(?: (?:the|el|la))?\s*\Z")
_WITHIN = lazy.regex(rf"(?<!\w)(?:{_PHRASES['within']})(?!\w)")
_LONGEST = 120  # characters of a question that is read
_LONGEST_COUNT = 4  # figures
_AHEAD = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class AgendaQuestion:
    """The days asked about. undated: also what is to be done on no particular day."""

    days: DateRange
    undated: bool = False


def agenda_question(question: str, today: date) -> AgendaQuestion | None:
    """Return the days whose plans a question asks for; None for a question about anything else."""
    plain = fold(question.strip()[: _LONGEST + 1]).replace("’", "'").strip(" ¿?¡!.")
    if len(plain) > _LONGEST:
        return None
    plain = _QUE.sub("que", _OF_TOMORROW.sub("para mañana", plain))
    named = _days_of(plain, today)
    start, end, days = named or (len(plain), len(plain), DateRange(today, today + _AHEAD))
    rest = " ".join([*plain[:start].split(), *plain[end:].split()])
    is_bare = named is not None and not rest and question.rstrip().endswith("?")
    if not is_bare and ((named is None and not _OPEN.search(rest)) or not _ASKS.fullmatch(rest)):
        return None
    return AgendaQuestion(days, undated=named is None)


def _days_of(plain: str, today: date) -> tuple[int, int, DateRange] | None:
    """Find the expression of days in a folded question: where it begins and ends, and the days."""
    week, month, of_year = _THIS_WEEK.search(plain), _THIS_MONTH.search(plain), _IN_MONTH.search(plain)
    if week is not None:
        return *week.span(), DateRange(today, today + timedelta(days=6 - today.weekday()))
    if month is not None:
        return *month.span(), DateRange(today, end_of_month(today))
    if (within := _WITHIN.search(plain)) is not None and (days := _count_days(within)) > 0:
        return *within.span(), DateRange(today, today + timedelta(days=days - 1))
    if named := days_named(plain, today):
        return _find_range(plain, named, today)
    if of_year is not None:
        number = MONTHS[of_year["month"]]
        first_day = date(today.year + (number < today.month), number, 1)
        return *of_year.span(), DateRange(max(first_day, today), end_of_month(first_day))
    return None


def _find_range(plain: str, named: Sequence[NamedDay], today: date) -> tuple[int, int, DateRange]:
    """Return the day that a question names, all days up to it, or those between two."""
    first = named[0]
    start = first.start
    if len(named) > 1 and _BETWEEN.fullmatch(plain[first.end : named[1].start]) and named[1].last >= first.day:
        begun = _FROM.search(plain, 0, start)
        return begun.start() if begun else start, named[1].end, DateRange(first.day, named[1].last)
    if (before := _UP_TO.search(plain, 0, start)) is not None or _UP_TO_WITHIN.match(plain, start):
        return before.start() if before else start, first.end, DateRange(min(today, first.day), first.last)
    return start, first.end, DateRange(first.day, first.last)


def _count_days(within: re.Match[str]) -> int:
    """Count the days of "the next two weeks"; 0 for what is no number."""
    many, unit = within["n"] or within["cuantos"], within["unit"] or within["unidad"]
    count = int(many) if many.isdecimal() and len(many) < _LONGEST_COUNT else COUNTS.get(many, 0)
    return count * (7 if unit in ("week", "semana") else 1)
