"""The day that a sentence names, in Spanish and English, counted from the day it was said."""

import re
from collections.abc import Mapping
from datetime import date, timedelta

MONTH_NAMES = (
    "january|enero", "february|febrero", "march|marzo", "april|abril", "may|mayo", "june|junio", "july|julio",
    "august|agosto", "september|septiembre|setiembre", "october|octubre", "november|noviembre", "december|diciembre",
)  # fmt: skip
DAY_NAMES = (
    "monday|lunes", "tuesday|martes", "wednesday|miercoles", "thursday|jueves", "friday|viernes", "saturday|sabado",
    "sunday|domingo",
)  # fmt: skip
MONTHS: Mapping[str, int] = {name: number for number, names in enumerate(MONTH_NAMES, 1) for name in names.split("|")}
WEEKDAYS: Mapping[str, int] = {name: number for number, names in enumerate(DAY_NAMES) for name in names.split("|")}
_MONTHS = {**MONTHS, "sept": 9, **{names[:3]: number for number, names in enumerate(MONTH_NAMES, 1)}}
_NUMBERS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        "a un una one|two dos|three tres|four cuatro|five cinco|six seis|seven siete".split("|"), 1
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DAY_FIRST = re.compile(
    rf"(?<!\w)(\d{{1,2}})(?:st|nd|rd|th|º|o)?(?: of| de)? ({_MONTH})\b\.?(?:(?:,| de| del)? (\d{{4}})(?!\d))?"
)
_MONTH_FIRST = re.compile(rf"(?<!\w)({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,? (\d{{4}})(?!\d))?")
_NEAR: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"\b(?:the )?day after tomorrow\b|\bpasado mañana\b"), 2),
    (re.compile(r"\btomorrow\b|(?<!\bla )(?<!\besta )(?<!\bde )\bmañana\b"), 1),
    (re.compile(r"\btoday\b|\btonight\b|\bhoy\b|\besta (?:tarde|noche)\b"), 0),
)
_IN_DAYS = re.compile(r"\b(?:in|en|dentro de) (\w{1,6}) (day|dia|week|semana)s?\b")
_WEEKDAY = re.compile(rf"\b(?:on|by|next|this|before|until|el|este|proximo|antes del|para el) ({'|'.join(WEEKDAYS)})\b")


def day_named(plain: str, today: date, *, past: bool = False) -> date | None:
    """The first day that a folded text names; None when it names none.

    past: a day and month without a year are the last ones there were, not the next, as with a birthday.
    """
    if found := _ISO.search(plain):
        return _day(int(found[1]), int(found[2]), int(found[3]))
    if found := _DAY_FIRST.search(plain):
        return _of_year(found[3], _MONTHS[found[2]], int(found[1]), today, past)
    if found := _MONTH_FIRST.search(plain):
        return _of_year(found[3], _MONTHS[found[1]], int(found[2]), today, past)
    for pattern, ahead in _NEAR:
        if pattern.search(plain):
            return today + timedelta(days=ahead)
    if found := _IN_DAYS.search(plain):
        count = int(found[1]) if found[1].isdecimal() else _NUMBERS.get(found[1], 0)
        return (
            today + timedelta(days=count * (7 if found[2] in ("week", "semana") else 1)) if 0 < count < 1000 else None
        )
    if found := _WEEKDAY.search(plain):
        return today + timedelta(days=(WEEKDAYS[found[1]] - today.weekday() - 1) % 7 + 1)
    return None


def names_year(plain: str) -> bool:
    """Whether the text says the year of the day that it names."""
    found = _DAY_FIRST.search(plain) or _MONTH_FIRST.search(plain)
    return _ISO.search(plain) is not None or (found is not None and found[3] is not None)


def _of_year(year: str | None, month: int, day: int, today: date, past: bool) -> date | None:
    if year is not None:
        return _day(int(year), month, day)
    years = range(today.year, today.year - 9, -1) if past else range(today.year, today.year + 9)  # for February 29
    days = (_day(candidate, month, day) for candidate in years)
    return next((found for found in days if found and (found <= today if past else found >= today)), None)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
