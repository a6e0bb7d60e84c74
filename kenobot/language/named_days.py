"""Recognise the days that a folded text names, in Spanish and English; days are counted from one.

The expressions are named_days.toml; a day that lies ahead goes before one that is over.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from kenobot.core import lazy
from kenobot.language.dates import MONTHS, WEEKDAYS, day_of_year, end_of_month, valid_day
from kenobot.language.lexicon import fill_parts, load_tables
from kenobot.ports.frozen import dataclass

_LONGEST = 2000  # characters of a text that are read
_MOST_DAYS = 1000  # days and other units ahead
_NEAR = timedelta(days=62)  # within which the day of a month is looked for that falls on a day of the week

Groups = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day that a text names, or the first of several, and the place of the words that do. last: the last of those."""

    day: date
    start: int
    end: int
    last: date
    has_year: bool = False


def day_named(plain: str, today: date, *, past: bool = False) -> date | None:
    """Find the first day that a folded text names, of those ahead if there are such.

    past: a day without a year is in the past, not in the future.
    """
    found = days_named(plain, today, past=past)
    ahead = [named.day for named in found if past or named.day >= today]
    return next(iter(ahead or [named.day for named in found]), None)


def names_year(plain: str) -> bool:
    """Return whether the text says the year of the first day that it names."""
    return next((named.has_year for named in days_named(plain, date(2024, 1, 1))), False)


def days_named(plain: str, today: date, *, past: bool = False) -> list[NamedDay]:
    """Find all days that a folded text names, in order."""
    text = plain[:_LONGEST]
    kinds = _kinds(text)
    if not kinds:
        return []
    taken: list[tuple[int, int]] = []
    found: list[NamedDay] = []
    for rule, needs, pattern in _PATTERNS:
        if not needs <= kinds:
            continue
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            groups = {name: value for name, value in match.groupdict().items() if value}
            said = _Reference(today, past, _month_told(text, start, found) if rule == "day_alone" else None)
            day = _RULES[rule](groups, said)
            if rule not in _MAY_BE_NONE or day is not None:
                taken.append((start, end))
            if day is not None:
                found.append(NamedDay(day, start, end, _last_of(rule, groups, day), "year" in groups))
    found.sort(key=lambda named: named.start)
    return _count_from(text, found) if "count" in kinds else found


def day_counted(plain: str, anchor: date) -> NamedDay | None:
    """Find the day that a folded text counts from a known one, such as "the day after" or "ese mismo día"."""
    text = plain[:_LONGEST]
    if "counted" not in _kinds(text):
        return None
    found = (pattern.search(text) for pattern in _FROM_ANOTHER)
    match = next(filter(None, found), None)
    if match is None:
        return None
    day = _count_off(match, anchor)
    return NamedDay(day, match.start(), match.end(), day)


def _count_from(text: str, found: Sequence[NamedDay]) -> list[NamedDay]:
    """Return days with those that are counted from one of them, such as "the Friday before Christmas", in its place."""
    days: list[NamedDay] = []
    for named in found:
        start = max(0, named.start - _LONGEST_COUNT)
        cue = _COUNT_CUE.match(text, named.start, named.end)
        end = cue.end() if cue else named.start
        counts = (pattern.search(text, start, end) for pattern in _FROM_BEHIND)
        match = next(filter(None, counts), None)
        if match is None:
            days.append(named)
            continue
        day = _count_off(match, named.day)
        days = [other for other in days if other.end <= match.start()]
        days.append(replace(named, day=day, last=day, start=match.start()))
    return days


def _count_off(match: re.Match[str], anchor: date) -> date:
    groups = {name: value for name, value in match.groupdict().items() if value}
    if "weekday" in groups:
        weekday = WEEKDAYS[groups["weekday"]]
        back = -((anchor.weekday() - weekday - 1) % 7 + 1)
        return anchor + timedelta(days=back) if "before" in groups else _Reference(anchor).weekday(weekday)
    days = 0 if "same" in groups else _count(groups) * (7 if "weeks" in groups else 1)
    return anchor + timedelta(days=-days if "before" in groups else days)


def _kinds(text: str) -> set[str]:
    """Return the kinds of words that a text has of those by which it names days."""
    kinds: set[str] = set()
    for word in {*_WORD.findall(text)}:
        kinds |= _DIGITS if word[0].isdigit() else _KINDS.get(word, _NO_KINDS)
    return kinds


def _month_told(text: str, end: int, found: Sequence[NamedDay]) -> tuple[int, NamedDay | None] | None:
    """Return the month that stands in a sentence before a place, and the day of it that is named there."""
    start = max(text.rfind(mark, 0, end) for mark in (". ", "! ", "? ", "\n")) + 1
    months = list(_MONTH_TOLD.finditer(text, start, end))
    if not months:
        return None
    last = months[-1]
    named = next((each for each in found if each.start <= last.start("month") < each.end), None)
    near = _NEAR_DAY if named else _NEAR_MONTH
    return (MONTHS[last["month"]], named) if end - last.end() <= near else None


def _last_of(rule: str, groups: Groups, day: date) -> date:
    """Return the last day of what an expression such as "next week" names."""
    if "until" in groups:
        until = (day + timedelta(days=count) for count in range(_NEAR.days // 2))
        return next((each for each in until if each.day == int(groups["until"])), day)
    if "until_weekday" in groups:
        return _Reference(day).weekday(WEEKDAYS[groups["until_weekday"]])
    if rule in ("week_after_next", "next_week") and "weekday" not in groups:
        return day + timedelta(days=6)
    if rule == "weekend":
        return day + timedelta(days=(6 - day.weekday()) % 7)
    return end_of_month(day) if rule == "month_ahead" else day


@dataclass(frozen=True, slots=True)
class _Reference:
    """The day from which others are counted, and whether those without a year are in the past.

    month: the month named before, and the day of it, for a day that is named without one.
    """

    day: date
    past: bool = False
    month: tuple[int, NamedDay | None] | None = None

    def ahead(self, days: int) -> date:
        return self.day + timedelta(days=days)

    def months_ahead(self, count: int) -> date:
        month = self.day.month - 1 + count
        year, month = self.day.year + month // 12, month % 12 + 1
        return date(year, month, min(self.day.day, monthrange(year, month)[1]))

    def weekday(self, number: int) -> date:
        """Return the coming day of the week; a week ahead where it is that today."""
        return self.ahead((number - self.day.weekday() - 1) % 7 + 1)

    def weekday_or_today(self, number: int) -> date:
        return self.ahead((number - self.day.weekday()) % 7)

    def next_week(self, number: int = 0) -> date:
        return self.ahead(7 - self.day.weekday() + number)


# ── the rules, each of what its patterns' groups say ──────────────────────────────────────────────────────────────


def _complete(groups: Groups, _: _Reference) -> date | None:
    return valid_day(int(groups["year"]), int(groups["month"]), int(groups["n"]))


def _numbers(groups: Groups, said: _Reference) -> date | None:
    """Read 21/3 by the day first, and by the month first where only that is one, or near. A fraction is no day."""
    number, month = int(groups["n"]), int(groups["month"])
    if not groups.keys() & {"cue", "year"} and (number <= month <= 12 or (number, month) == (24, 7)):
        return None
    if month > 12 >= number:
        number, month = month, number
    year = groups.get("year", "")
    found = day_of_year(f"20{year}" if len(year) == 2 else year or None, month, number, said.day, said.past)
    if year or said.past or groups.get("cue", "the") not in _ENGLISH_CUES or number > 12:
        return found
    other = day_of_year(None, number, month, said.day, False)
    far = found is None or found - said.day > _FAR
    return other if far and other is not None and other - said.day < _NEAR * 2 else found


def _of_month(groups: Groups, said: _Reference) -> date | None:
    number = _day_number(groups)
    return day_of_year(groups.get("year"), _month_of(groups), number, said.day, said.past)


def _month_of(groups: Groups) -> int:
    """Return the number of the month that is named, in full or short; 0 where none is."""
    return MONTHS.get(groups.get("month", ""), 0) or _SHORT_MONTHS.get(groups.get("short", ""), 0)


def _of_next_month(groups: Groups, said: _Reference) -> date | None:
    first = _first_of_next_month(said)
    return valid_day(first.year, first.month, _day_number(groups))


def _first_of_next_month(said: _Reference) -> date:
    return said.months_ahead(1).replace(day=1)


def _month_meant(groups: Groups, said: _Reference) -> tuple[int, int]:
    """Return the year and month that an expression such as "at the end of April" or "of the month" means."""
    if "next" in groups:
        following = _first_of_next_month(said)
        return following.year, following.month
    month = _month_of(groups) or said.day.month
    return said.day.year + (month < said.day.month), month


def _nth_weekday(groups: Groups, said: _Reference) -> date | None:
    """Return the day of the month that is meant; of the next such month where it is over."""
    year, month = _month_meant(groups, said)
    if "next" not in groups:
        found = _nth_of(year, month, groups)
        if found >= said.day:
            return found
        if _month_of(groups):
            return _nth_of(year + 1, month, groups)
    following = _first_of_next_month(said)
    return _nth_of(following.year, following.month, groups)


def _nth_of(year: int, month: int, groups: Groups) -> date:
    return _weekdays_of(year, month, WEEKDAYS[groups["weekday"]])[_place_of(groups["order"])]


def _place_of(order: str) -> int:
    return next(number for pattern, number in _ORDERS.items() if re.fullmatch(pattern, order))


def _weekdays_of(year: int, month: int, weekday: int) -> list[date]:
    """Return the days of a month that fall on a day of the week."""
    days = (date(year, month, number) for number in range(1, monthrange(year, month)[1] + 1))
    return [day for day in days if day.weekday() == weekday]


def _part_of_month(groups: Groups, said: _Reference) -> date | None:
    year, month = _month_meant(groups, said)
    if "end" in groups:
        return end_of_month(date(year, month, 1))
    found = date(year, month, _first_of_part(groups, year, month))
    if found < said.day and not groups.keys() & {"month", "short", "next"}:
        return _first_of_next_month(said).replace(day=found.day)
    return found if found >= said.day else found.replace(year=year + 1)


def _first_of_part(groups: Groups, year: int, month: int) -> int:
    """Return the number of the first day of a part of a month: its weeks are of seven days from its first."""
    if "nth_week" in groups:
        place = _place_of(groups["nth_week"])
        return end_of_month(date(year, month, 1)).day - 6 if place < 0 else 1 + 7 * place
    return 1 if "begin" in groups else 16 if "half" in groups else 15


def _weekday_and_day(groups: Groups, said: _Reference) -> date | None:
    """Return the next day of this number that falls on the day of the week.

    Of this number alone where that is far off.
    """
    number, weekday = _day_number(groups), _weekday_number(groups)
    days = [said.ahead(count) for count in range(_NEAR.days + 1)]
    of_number = [day for day in days if day.day == number]
    alone = of_number[0] if of_number and "strict" not in groups else None
    return next((day for day in of_number if day.weekday() == weekday), alone)


def _weeks_after(groups: Groups, said: _Reference) -> date | None:
    weeks = 2 if "fortnight" in groups else _count(groups)
    anchor = groups.get("anchor") or groups["weekday"]
    if anchor not in WEEKDAYS:
        return said.ahead(7 * weeks + (anchor not in _TODAY))
    if "within" in groups:  # within the week that is so far ahead
        return said.ahead(7 * weeks - said.day.weekday() + WEEKDAYS[anchor])
    return said.weekday(WEEKDAYS[anchor]) + timedelta(weeks=weeks)


def _count(groups: Groups) -> int:
    """Return the number that a count says, as digits or as a word; one where it is left away."""
    return int(groups["digits"]) if "digits" in groups else _COUNTS.get(groups.get("count", ""), 1)


def _ahead(groups: Groups, said: _Reference, sign: int = 1) -> date | None:
    count, unit = _count(groups), _UNITS[groups["unit"]]
    if not 0 < count < _MOST_DAYS:
        return None
    if unit == "hour":
        return said.ahead(0 if "halved" in groups else sign * (count // 24))
    if "halved" in groups:
        return said.months_ahead(6) if unit == "year" else said.ahead(_HALF_MONTH if unit == "month" else 3)
    if isinstance(unit, int):
        return said.ahead(sign * (unit * count + ("half" in groups) * (unit // 2)) + ("later" in groups))
    if "half" in groups and unit == "month" and sign > 0:
        return said.months_ahead(count) + timedelta(days=_HALF_MONTH)
    if sign < 0:
        return None
    return said.months_ahead(count * (12 if unit == "year" else 1)) + timedelta(days="later" in groups)


def _weekend(groups: Groups, said: _Reference) -> date | None:
    saturday = said.ahead(5 - said.day.weekday()) if said.day.weekday() < 6 else said.ahead(0)
    if "next" in groups or "after" in groups:
        return said.next_week(12 if "after" in groups else 5)
    return said.ahead(-2 - said.day.weekday()) if "last" in groups else saturday


def _holiday(groups: Groups, said: _Reference) -> date | None:
    name = next(value for pattern, value in HOLIDAYS.items() if re.fullmatch(pattern, groups["holiday"]))
    years = range(said.day.year, said.day.year + 2)
    return next(day for day in (_holiday_of(year, name) for year in years) if day >= said.day)


def _holiday_of(year: int, name: "_Holiday") -> date:
    """Return a holiday of a year.

    A day of a month, one that is counted from Easter, or a day of the week in a month.
    """
    if isinstance(name, int):
        return easter(year) + timedelta(days=name)
    if isinstance(name, str):
        return date(year, int(name[:2]), int(name[3:]))
    day = _weekdays_of(year, name["month"], name["weekday"])[name["place"]]
    return day + timedelta(days=name.get("later", 0))


def easter(year: int) -> date:
    """Compute Easter Sunday of a year, after Meeus's form of the Gregorian computus."""
    century, of_century = divmod(year, 100)
    moon = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - moon - of_century % 4) % 7
    month, day = divmod(moon + weekday - 7 * ((year % 19 + 11 * moon + 22 * weekday) // 451) + 114, 31)
    return date(year, month, day + 1)


def _day_alone(groups: Groups, said: _Reference) -> date | None:
    """Return the next day of this number; in the month that was named before it, from the day that was."""
    number = _day_number(groups)
    if said.month is not None:
        month, named = said.month
        found = valid_day(named.day.year, month, number) if named else day_of_year(None, month, number, said.day, False)
        if found is not None and (named is None or found > named.day > said.day):
            return found
    days = (said.ahead(count) for count in range(_NEAR.days + 1))
    return next((day for day in days if day.day == number), None)


def _unless_today(said: _Reference, weekday: int) -> date | None:
    """Return the coming day of the week; none for that of today, which a remark such as "Monday, eh" is about."""
    return None if said.day.weekday() == weekday else said.weekday(weekday)


def _day_number(groups: Groups) -> int:
    return int(groups["n"]) if "n" in groups else NUMBERS[groups["word"]]


def _weekday_number(groups: Groups) -> int:
    return WEEKDAYS[groups["weekday"]] if "weekday" in groups else SHORT_WEEKDAYS[groups["short"]]


_RULES: Mapping[str, Callable[[Groups, _Reference], date | None]] = {
    "iso": _complete,
    "numbers": _numbers,
    "of_month": _of_month,
    "of_next_month": _of_next_month,
    "nth_weekday": _nth_weekday,
    "part_of_month": _part_of_month,
    "end_of_year": lambda _, said: date(said.day.year, 12, 31),
    "end_of_week": lambda groups, said: said.next_week(4) if "next" in groups else said.weekday_or_today(4),
    "weekday_and_day": _weekday_and_day,
    "next_week": lambda groups, said: said.next_week(WEEKDAYS[groups["weekday"]] if "weekday" in groups else 0),
    "weeks_after": _weeks_after,
    "week_after_next": lambda groups, said: said.next_week(7 + WEEKDAYS.get(groups.get("weekday", ""), 0)),
    "month_ahead": lambda _, said: _first_of_next_month(said),
    "year_ahead": lambda _, said: date(said.day.year + 1, 1, 1),
    "ahead": _ahead,
    "ago": lambda groups, said: _ahead(groups, said, -1),
    "two_ahead": lambda _, said: said.ahead(2),
    "one_ahead": lambda _, said: said.ahead(1),
    "two_back": lambda _, said: said.ahead(-2),
    "one_back": lambda _, said: said.ahead(-1),
    "this_day": lambda _, said: said.day,
    "holiday": _holiday,
    "weekend": _weekend,
    "weekday_back": lambda groups, said: said.ahead(-((said.day.weekday() - _weekday_number(groups) - 1) % 7 + 1)),
    "weekday": lambda groups, said: said.weekday(_weekday_number(groups)),
    "bare_weekday": lambda groups, said: _unless_today(said, _weekday_number(groups)),
    "day_alone": _day_alone,
}
_MAY_BE_NONE = frozenset({"weekday_and_day", "bare_weekday", "day_alone"})  # whose words may still say something else
_TODAY = ("today", "hoy", "this day")
_FAR = timedelta(days=150)  # ahead, from where 6/3 is rather the third of June than the sixth of March
_ENGLISH_CUES = (
    "the",
    "on",
    "by",
    "on the",
    "by the",
    "before the",
    "from the",
    "until the",
    "till the",
    "expires",
    "expiring",
    "due",
    "ends",
)
_HALF_MONTH = 15  # days
_UNITS: Mapping[str, int | str] = {
    "hora": "hour", "hour": "hour", "dia": 1, "day": 1, "semana": 7, "week": 7, "wk": 7, "fortnight": 14,
    "quincena": 15, "mes": "month", "month": "month", "año": "year", "year": "year",
}  # fmt: skip


# ── the tables ────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_place(rows: Sequence[str], first: int) -> dict[str, int]:
    return {name.replace("~", " "): number for number, row in enumerate(rows, first) for name in row.split()}


_TABLES = load_tables(__package__, "named_days.toml")
_WORDS: Mapping[str, str] = _TABLES["words"]
_PARTS: Mapping[str, str] = _TABLES["parts"]
NUMBERS = _by_place(_WORDS["numbers"].splitlines(), 1)
_COUNTS = _by_place(_WORDS["counts"].splitlines(), 1)
SHORT_WEEKDAYS = _by_place(_WORDS["short_weekdays"].splitlines(), 0)
_SHORT_MONTHS = {"sept": 9, **{name[:3]: number for name, number in MONTHS.items()}}
_Holiday = str | int | Mapping[str, int]
HOLIDAYS: Mapping[str, _Holiday] = _TABLES["holidays"]
_ORDERS: Mapping[str, int] = _TABLES["orders"]  # of a day of the week in its month; -1 the last


def _either(names: Mapping[str, object] | Sequence[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_NEAR_DAY, _NEAR_MONTH = 40, 20  # characters behind a day of a month, or a month, within which another day is of it
_LONGEST_COUNT = 40  # characters of what counts from a day
_LARGE = 10  # of the numbers as words: a smaller one is sooner a count
_PARTS_FILLED = dict(_PARTS) | {
    "short_month": _either(_SHORT_MONTHS),
    "month": f"(?P<month>{_either(MONTHS)})",
    "weekday": f"(?P<weekday>{_either(WEEKDAYS)})",
    "short_weekday": _either(SHORT_WEEKDAYS),
    "number": _either(NUMBERS),
    "large": _either([name for name, number in NUMBERS.items() if number >= _LARGE]),
    "count": _either(_COUNTS),
    "order": "|".join(_ORDERS),
    "holiday": f"(?P<holiday>{'|'.join(HOLIDAYS)})",
}


def _fill(pattern: str) -> re.Pattern[str]:
    for _ in range(_DEEPEST):
        pattern = fill_parts(pattern, _PARTS_FILLED)
    return lazy.regex(pattern)


def _load_kinds() -> dict[str, frozenset[str]]:
    """Return the kinds of each word by which days are named."""
    rows = {kind: words.split() for kind, words in _TABLES["kinds"].items()}
    rows |= {"month": [*MONTHS, *_SHORT_MONTHS], "weekday": [*WEEKDAYS, *SHORT_WEEKDAYS]}
    rows |= {"number": [word for name in NUMBERS for word in _WORD.findall(name)]}
    rows["part"] += [*MONTHS, *_SHORT_MONTHS]
    return {word: frozenset(kind for kind in rows if word in rows[kind]) for row in rows.values() for word in row}


_WORD = lazy.regex(r"[^\W\d_]+|\d+")
_DIGITS = frozenset({"digit"})
_NO_KINDS: frozenset[str] = frozenset()
_DEEPEST = 2  # parts that stand in parts
_PATTERNS = tuple(
    (row["rule"], frozenset(row["needs"]), _fill(pattern)) for row in _TABLES["day"] for pattern in row["patterns"]
)
_FROM_ANOTHER = tuple(map(_fill, _TABLES["another"]["patterns"]))
_FROM_BEHIND = tuple(map(_fill, _TABLES["another_behind"]["patterns"]))
_COUNT_CUE = lazy.regex(r"(?:(?:antes|despues|before|after) )?(?:(?:del?|the|el) )*")
_KINDS = _load_kinds()  # bounded: of the data
_SURELY_MONTHS = [name if name not in ("may", "march") else rf"(?<=\bin ){name}" for name in MONTHS]
_MONTH_TOLD = lazy.regex(rf"(?<!\w)(?P<month>{_either(_SURELY_MONTHS)})(?!\w)")
_COMMON = frozenset({"count", "counted", "ago"})  # kinds of words that name no day by themselves
TOMORROW_WORDS = frozenset(_TABLES["kinds"]["tomorrow"].split())
"""Words of a folded text by which the day after is named."""
DAY_WORDS = frozenset(word for word, kinds in _KINDS.items() if kinds - _COMMON) - {"this", "esta", "un", "una", "one"}
"""Words of a folded text without which, and without digits, it names no day."""
