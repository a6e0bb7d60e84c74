"""Read the days of a question for what is planned, such as "what do I have next week?"; see agenda.toml.

A question about something by name, as "do I have the dentist on Friday?", is none: its words find it.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from kenobot.cognitive.text.dates import MONTHS, DateRange, end_of_month
from kenobot.cognitive.text.lexicon import join_phrases, load_tables
from kenobot.cognitive.text.named_days import days_named
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy

_TABLES = load_tables("kenobot.cognitive.recall.question", "agenda.toml")
_PHRASES = join_phrases(_TABLES)
_FILL = rf"(?:\W*(?<!\w)(?:{_PHRASES['fill']})(?!\w))*\W*"
_ASKS = lazy.regex(rf"{_TABLES['opening']['opening']}(?:{_PHRASES['asks']})(?!\w){_FILL}")
_OPEN = lazy.regex(rf"(?<!\w)(?:{_PHRASES['open']})(?!\w)")
_THIS_WEEK = lazy.regex(rf"(?<!\w)(?:{_PHRASES['this_week']})(?!\w)")
_THIS_MONTH = lazy.regex(rf"(?<!\w)(?:{_PHRASES['this_month']})(?!\w)")
_IN_MONTH = lazy.regex(rf"(?<!\w)(?:in|en|for|para) (?P<month>{'|'.join(MONTHS)})(?!\w)")
_LONGEST = 120  # characters of a question that is read
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
    named = _days_of(plain, today)
    start, end, days = named or (len(plain), len(plain), DateRange(today, today + _AHEAD))
    rest = f"{plain[:start]} {plain[end:]}".strip()
    if not _ASKS.fullmatch(rest) or (named is None and not _OPEN.search(rest)):
        return None
    return AgendaQuestion(days, undated=named is None)


def _days_of(plain: str, today: date) -> tuple[int, int, DateRange] | None:
    """Find the expression of days in a folded question: where it begins and ends, and the days."""
    week, month, of_year = _THIS_WEEK.search(plain), _THIS_MONTH.search(plain), _IN_MONTH.search(plain)
    if week is not None:
        return *week.span(), DateRange(today, today + timedelta(days=6 - today.weekday()))
    if month is not None:
        return *month.span(), DateRange(today, end_of_month(today))
    if named := days_named(plain, today):
        first = named[0]
        return first.start, first.end, DateRange(first.day, first.last)
    if of_year is not None:
        number = MONTHS[of_year["month"]]
        first_day = date(today.year + (number < today.month), number, 1)
        return *of_year.span(), DateRange(max(first_day, today), end_of_month(first_day))
    return None
