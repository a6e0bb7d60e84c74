"""Recognise times in folded texts: whether one is named or asked for, and which days a question means."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from kenobot.cognitive.text.dates import MONTHS, WEEKDAYS
from kenobot.cognitive.text.lexicon import alternatives

_COUNT = {
    name: number
    for number, names in enumerate(
        "a an one un una|two dos couple par|three tres few|four cuatro|five cinco|six seis|seven siete|eight ocho|"
        "nine nueve|ten diez|eleven once|twelve doce".split("|"),
        1,
    )
    for name in names.split()
}
_UNIT = {"day": 1, "dia": 1, "week": 7, "semana": 7, "month": 30, "mes": 30, "year": 365, "año": 365}
_UNITS = r"(day|dia|week|semana|month|mes|year|año)(?:e?s)?"
_SAID = re.compile(
    rf"\b({alternatives('time_said')}|{'|'.join(sorted({*MONTHS, *WEEKDAYS}, key=len, reverse=True))})s?\b"
)
_ASKED = re.compile(rf"\b(?:{alternatives('time_asked')})\b|什么时候|何時|何时|いつ|언제|متى|מתי|เมื่อไ|πότε|ποτε")
_AGO = re.compile(rf"\b(\d{{1,3}}|{'|'.join(_COUNT)}) (?:of )?{_UNITS} ago\b")
_HACE = re.compile(rf"\bhace (\d{{1,3}}|{'|'.join(_COUNT)}) {_UNITS}\b")
_LAST = re.compile(r"\b(?:last|previous|past) (week|month|year|weekend)\b")
_PASADO = re.compile(r"\b(semana|mes|año|fin de semana) pasad[oa]\b|\bpasad[oa] (semana|mes|año|fin de semana)\b")
_THIS = re.compile(r"\b(?:this|est[ea]) (week|month|year|semana|mes|año)\b")
_NEAR = (
    (re.compile(r"\b(?:day before yesterday|anteayer|antier)\b"), 2),
    (re.compile(r"\b(?:yesterday|ayer|anoche|last night)\b"), 1),
    (re.compile(r"\b(?:today|hoy|tonight|this morning|esta (?:tarde|noche|mañana))\b"), 0),
)
_NAMED_DAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})s?\b")
_NAMED_MONTH = re.compile(rf"\b({'|'.join(name for name in MONTHS if name not in ('may', 'march'))})\b")
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})\b")
_IN_MONTH = re.compile(
    rf"\b(?:in|en|during|of|de|since|desde|el mes de|early|late|\d{{1,2}}(?:st|nd|rd|th)?) ({'|'.join(MONTHS)})\b"
    r"(?:,? (?:of |de |del )?((?:19|20)\d\d))?"
)
_DATE = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of| de)? ({'|'.join(MONTHS)})\b(?:,? (?:of |de |del )?((?:19|20)\d\d))?"
    rf"|\b({'|'.join(MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? ((?:19|20)\d\d))?"
)
_YEAR = re.compile(r"\b(?:in|en|of|del?|during|since|desde) ((?:19|20)\d\d)\b")
_WIDE = {"week": 7, "semana": 7, "weekend": 7, "fin de semana": 7, "month": 30, "mes": 30, "year": 365, "año": 365}


@dataclass(frozen=True, slots=True)
class DateRange:
    """From one day to another, both included."""

    first: date
    last: date

    def closeness(self, day: date) -> float:
        """How well a day fits, 0 to 1: what is told in those days fits best, and less the further it lies from them."""
        away = max(0, (self.first - day).days, (day - self.last).days)
        return 1 / (1 + away / max(3, (self.last - self.first).days + 1))


def names_time(plain: str) -> bool:
    """Whether a folded text says anything of a time."""
    return _SAID.search(plain) is not None


def calendar_names(plain: str) -> frozenset[str]:
    """The days of the week and the months that a folded text names, in whichever language, as numbers."""
    days = {f"day {WEEKDAYS[name]}" for name in _NAMED_DAY.findall(plain)}
    return frozenset(days | {f"month {MONTHS[name]}" for name in _NAMED_MONTH.findall(plain)})


def asks_time(plain: str) -> bool:
    """Whether a folded question asks for a time."""
    return _ASKED.search(plain) is not None


def asks_time_first(plain: str, before: int) -> bool:
    """Whether a folded question asks for a time at its place `before` or earlier."""
    found = _ASKED.search(plain)
    return found is not None and found.start() <= before


def parse_date_range(plain: str, today: date) -> DateRange | None:
    """The days that a folded question speaks of, counted from `today`; None when it speaks of none."""
    if found := _DATE.search(plain):
        number, name = (found[1], found[2]) if found[1] else (found[5], found[4])
        day = _past(MONTHS[name], int(number), found[3] or found[6], today)
        return DateRange(day, day) if day else None
    if found := _AGO.search(plain) or _HACE.search(plain):
        many = int(found[1]) if found[1].isdecimal() else _COUNT[found[1]]
        return _around(today, many * _UNIT[found[2]], _UNIT[found[2]])
    if found := _LAST.search(plain) or _PASADO.search(plain):
        wide = _WIDE[next(filter(None, found.groups()))]
        return DateRange(_back(today, 2 * wide), _back(today, wide // 7))
    if found := _THIS.search(plain):
        return DateRange(_back(today, _WIDE[found[1]]), today)
    for pattern, back in _NEAR:
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
    """So many days ago, give or take half of the unit that it was said in."""
    return DateRange(_back(today, days + unit // 2), _back(today, max(0, days - unit // 2)))


def _month(number: int, year: str | None, today: date) -> DateRange:
    """The month of that year, or the last there was."""
    of = int(year) if year else today.year - (number > today.month)
    after = date(of + number // 12, number % 12 + 1, 1) if of < 9999 else date.max
    return DateRange(date(of, number, 1), after - timedelta(days=1))


def _past(month: int, day: int, year: str | None, today: date) -> date | None:
    """The day of that year, or the last there was; None when there is no such day."""
    years = [int(year)] if year else range(today.year, max(1, today.year - 9), -1)
    for of in years:
        try:
            found = date(of, month, day)
        except ValueError:
            continue
        if year or found <= today:
            return found
    return None
