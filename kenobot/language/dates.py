"""Recognise the times that a folded question asks about, in Spanish and English; see `named_days` for single days."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from kenobot.core import lazy
from kenobot.language.lexicon import alternatives, word_rows
from kenobot.ports.frozen import dataclass


def _by_place(rows: Sequence[str], first: int = 1) -> Mapping[str, int]:
    """Number the words of each row by its place."""
    return {name: number for number, row in enumerate(rows, first) for name in row.split()}


MONTHS = _by_place(word_rows("months"))
WEEKDAYS = _by_place(word_rows("weekdays"), 0)
COUNTS = _by_place(word_rows("counts"))
_DAYS = {
    "day": 1,
    "dia": 1,
    "week": 7,
    "semana": 7,
    "weekend": 7,
    "fin de semana": 7,
    "month": 30,
    "mes": 30,
    "year": 365,
    "año": 365,
}
_UNITS = r"(day|dia|week|semana|month|mes|year|año)(?:e?s)?"
_SAID = lazy.regex(
    rf"\b({alternatives('time_said')}|{'|'.join(sorted({*MONTHS, *WEEKDAYS}, key=len, reverse=True))})s?\b"
)
_ASKED = lazy.regex(rf"\b(?:{alternatives('time_asked')})\b|什么时候|何時|何时|いつ|언제|متى|מתי|เมื่อไ|πότε|ποτε")
_AGO = lazy.regex(rf"\b(\d{{1,3}}|{'|'.join(COUNTS)}) (?:of )?{_UNITS} ago\b")
_HACE = lazy.regex(rf"\bhace (\d{{1,3}}|{'|'.join(COUNTS)}) {_UNITS}\b")
_LAST = lazy.regex(r"\b(?:last|previous|past) (week|month|year|weekend)\b")
_PASADO = lazy.regex(r"\b(semana|mes|año|fin de semana) pasad[oa]\b|\bpasad[oa] (semana|mes|año|fin de semana)\b")
_THIS = lazy.regex(r"\b(?:this|est[ea]) (week|month|year|semana|mes|año)\b")
_BACK = (
    (lazy.regex(r"\b(?:day before yesterday|anteayer|antier)\b"), 2),
    (lazy.regex(r"\b(?:yesterday|ayer|anoche|last night)\b"), 1),
    (lazy.regex(r"\b(?:today|hoy|tonight|this morning|esta (?:tarde|noche|mañana))\b"), 0),
)
_NAMED_DAY = lazy.regex(rf"\b({'|'.join(WEEKDAYS)})s?\b")
_NAMED_MONTH = lazy.regex(rf"\b({'|'.join(name for name in MONTHS if name not in ('may', 'march'))})\b")
_WEEKDAY = lazy.regex(rf"\b({'|'.join(WEEKDAYS)})\b")
_IN_MONTH = lazy.regex(
    rf"\b(?:in|en|during|of|de|since|desde|el mes de|early|late|\d{{1,2}}(?:st|nd|rd|th)?) ({'|'.join(MONTHS)})\b"
    r"(?:,? (?:of |de |del )?((?:19|20)\d\d))?"
)
_PAST_DATE = lazy.regex(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of| de)? ({'|'.join(MONTHS)})\b(?:,? (?:of |de |del )?((?:19|20)\d\d))?"
    rf"|\b({'|'.join(MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? ((?:19|20)\d\d))?"
)
_YEAR = lazy.regex(r"\b(?:in|en|of|del?|during|since|desde) ((?:19|20)\d\d)\b")


def day_of_year(year: str | None, month: int, day: int, today: date, past: bool) -> date | None:
    """Return the day of a year; without one the next there is, or the last if `past`."""
    if year is not None:
        return valid_day(int(year), month, day)
    years = range(today.year, today.year - 9, -1) if past else range(today.year, today.year + 9)  # for February 29
    days = (valid_day(candidate, month, day) for candidate in years)
    return next((found for found in days if found and (found <= today if past else found >= today)), None)


def valid_day(year: int, month: int, day: int) -> date | None:
    """Return the day, None where the month has none such."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def end_of_month(day: date) -> date:
    """Return the last day of the month of a day."""
    return day.replace(day=monthrange(day.year, day.month)[1])


@dataclass(frozen=True, slots=True)
class DateRange:
    """From one day to another, both included."""

    first: date
    last: date

    def closeness(self, day: date) -> float:
        """Measure how near a day is to the range: 1 within it, less the further away."""
        away = max(0, (self.first - day).days, (day - self.last).days)
        return 1 / (1 + away / max(3, (self.last - self.first).days + 1))


def names_time(plain: str) -> bool:
    """Return whether a folded text says anything of a time."""
    return _SAID.search(plain) is not None


def calendar_names(plain: str) -> frozenset[str]:
    """Return the days of the week and the months that a folded text names, in whichever language, as numbers."""
    days = {f"day {WEEKDAYS[name]}" for name in _NAMED_DAY.findall(plain)}
    return frozenset(days | {f"month {MONTHS[name]}" for name in _NAMED_MONTH.findall(plain)})


def asks_time(plain: str) -> bool:
    """Return whether a folded question asks for a time."""
    return _ASKED.search(plain) is not None


def asks_time_first(plain: str, before: int) -> bool:
    """Return whether a folded question asks for a time at its place `before` or earlier."""
    found = _ASKED.search(plain)
    return found is not None and found.start() <= before


def parse_date_range(plain: str, today: date) -> DateRange | None:
    """Parse the days that a folded question asks about; None when it names none."""
    if found := _PAST_DATE.search(plain):
        number, name = (found[1], found[2]) if found[1] else (found[5], found[4])
        day = day_of_year(found[3] or found[6], MONTHS[name], int(number), today, past=True)
        return DateRange(day, day) if day else None
    if found := _AGO.search(plain) or _HACE.search(plain):
        many = int(found[1]) if found[1].isdecimal() else COUNTS[found[1]]
        return _around(today, many * _DAYS[found[2]], _DAYS[found[2]])
    if found := _LAST.search(plain) or _PASADO.search(plain):
        wide = _DAYS[next(filter(None, found.groups()))]
        return DateRange(_back(today, 2 * wide), _back(today, wide // 7))
    if found := _THIS.search(plain):
        return DateRange(_back(today, _DAYS[found[1]]), today)
    for pattern, back in _BACK:
        if pattern.search(plain):
            return DateRange(_back(today, back), _back(today, back))
    if found := _IN_MONTH.search(plain):
        return _month(MONTHS[found[1]], found[2], today)
    if found := _YEAR.search(plain):
        return DateRange(date(int(found[1]), 1, 1), date(int(found[1]), 12, 31))
    if found := _WEEKDAY.search(plain):
        back = (today.weekday() - WEEKDAYS[found[1]]) % 7
        return DateRange(_back(today, back), _back(today, back))
    return None


def _back(today: date, days: int) -> date:
    return date.fromordinal(max(1, today.toordinal() - days))


def _around(today: date, days: int, unit: int) -> DateRange:
    """Return the range so many days ago, give or take half of the unit."""
    return DateRange(_back(today, days + unit // 2), _back(today, max(0, days - unit // 2)))


def _month(number: int, year: str | None, today: date) -> DateRange:
    """Return the month of that year, or the last there was."""
    of = int(year) if year else today.year - (number > today.month)
    after = date(of + number // 12, number % 12 + 1, 1) if of < 9999 else date.max
    return DateRange(date(of, number, 1), after - timedelta(days=1))
