"""Read the days of a question for what was done or said, such as "what did I do yesterday?"; see past_question.toml.

A question about something by name, as "what did Ana do yesterday?", is none: its words find it.
"""

from datetime import date, timedelta
from typing import Literal

from kenobot.core import lazy
from kenobot.language.dates import MONTHS, DateRange, end_of_month, valid_day
from kenobot.language.facts.due_days import tells_past
from kenobot.language.lexicon import join_phrases, load_tables
from kenobot.language.named_days import NamedDay, days_named
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

About = Literal["done", "told", "last"]

_TABLES = load_tables(__package__, "past_question.toml")
_PHRASES = join_phrases(_TABLES)
_FILL = rf"(?:\W*(?<!\w)(?:{_PHRASES['fill']})(?!\w))*\W*"
_ABOUT: tuple[About, ...] = ("last", "told", "done")
_ASKS = tuple(
    (about, lazy.regex(rf"{_TABLES['opening']['opening']}(?:{_PHRASES[about]})(?!\w){_FILL}")) for about in _ABOUT
)
_DAYS = join_phrases(_TABLES, "days")
_LAST_WEEK, _THIS_WEEK, _LAST_MONTH, _THIS_MONTH, _LAST_YEAR, _THIS_YEAR = (
    lazy.regex(rf"(?<!\w)(?:{_DAYS[name]})(?!\w)")
    for name in ("last_week", "this_week", "last_month", "this_month", "last_year", "this_year")
)
_ARRANGED = lazy.regex(rf"(?<!\w)(?:{_PHRASES['arranged']})(?!\w)")
_ARRANGED_WRITTEN = lazy.regex(rf"(?<!\w)(?:{_PHRASES['arranged_written']})(?!\w)")
_IN_MONTH = lazy.regex(rf"(?<!\w)(?:{_DAYS['in_month'].replace('{months}', '|'.join(MONTHS))})(?!\w)")
_LONGEST = 120  # characters of a question that is read
_WEEK, _NEAR = timedelta(days=7), timedelta(days=31)


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """The days asked about, None for the last message, and whether for what was done or what was told."""

    about: About
    days: DateRange | None = None


def past_question(question: str, today: date) -> PastQuestion | None:
    """Return what of the past a question asks for; None for a question about anything else."""
    plain = fold(question.strip()[: _LONGEST + 1]).replace("’", "'").strip(" ¿?¡!.")
    if len(plain) > _LONGEST:
        return None
    named = _days_of(plain, today)
    start, end, days = named or (len(plain), len(plain), None)
    rest = " ".join([*plain[:start].split(), *plain[end:].split()])
    asks = _ASKS if named is not None else _ASKS[:1]  # without days only the last message is asked for
    about = next((about for about, pattern in asks if pattern.fullmatch(rest)), None)
    if about == "last":
        return PastQuestion("last") if days is None else PastQuestion("told", days)
    if about is None or days is None or days.first > today:
        return None
    return PastQuestion(about, DateRange(days.first, min(days.last, today)))


def tells_done(text: str) -> bool:
    """Return whether a text tells what has happened, or what was arranged."""
    if tells_past(text) or _ARRANGED.search(fold(text)) is not None:
        return True
    return _ARRANGED_WRITTEN.search(text.lower()) is not None


def days_over(plain: str, said: date) -> list[DateRange]:
    """Return the days up to one on which it was said that a folded text names."""
    named = (_that_is_over(each, said) for each in days_named(plain, said, past=True))
    return [each for each in named if each.last <= said]


def _days_of(plain: str, today: date) -> tuple[int, int, DateRange] | None:
    """Find the expression of days in a folded question: where it begins and ends, and the days."""
    monday = today - timedelta(days=today.weekday())
    named = days_named(plain, today, past=True)
    if (found := _LAST_WEEK.search(plain)) is not None:
        if named and named[0].end <= found.start() and plain[named[0].end : found.start()].strip() in ("", "de"):
            day = monday - _WEEK + timedelta(days=named[0].day.weekday())
            return named[0].start, found.end(), DateRange(day, day)
        return *found.span(), DateRange(monday - _WEEK, monday - timedelta(days=1))
    if (found := _THIS_WEEK.search(plain)) is not None:
        return *found.span(), DateRange(monday, today)
    if (found := _LAST_MONTH.search(plain)) is not None:
        last = today.replace(day=1) - timedelta(days=1)
        return *found.span(), DateRange(last.replace(day=1), last)
    if (found := _THIS_MONTH.search(plain)) is not None:
        return *found.span(), DateRange(today.replace(day=1), today)
    if (found := _LAST_YEAR.search(plain)) is not None:
        return *found.span(), DateRange(date(today.year - 1, 1, 1), date(today.year - 1, 12, 31))
    if (found := _THIS_YEAR.search(plain)) is not None:
        return *found.span(), DateRange(date(today.year, 1, 1), today)
    if named:
        return named[0].start, named[0].end, _that_is_over(named[0], today)
    if (found := _IN_MONTH.search(plain)) is not None:
        number = MONTHS[found["month"]]
        year = int(found["year"]) if found["year"] else today.year - (number > today.month)
        return *found.span(), DateRange(date(year, number, 1), end_of_month(date(year, number, 1)))
    return None


def _that_is_over(named: NamedDay, today: date) -> DateRange:
    """Return the days of an expression; the last that were so called where it names those ahead: "on Monday"."""
    length = named.last - named.day
    day = named.day
    if day <= today or named.has_year:
        return DateRange(day, day + length)
    if day - today <= _WEEK:
        day -= _WEEK
    elif day - today <= _NEAR:  # the 20th
        month = day.replace(day=1) - timedelta(days=1)
        day = valid_day(month.year, month.month, day.day) or month
    else:
        day = valid_day(day.year - 1, day.month, day.day) or day - timedelta(days=366)
    return DateRange(day, day + length)
