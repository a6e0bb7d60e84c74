"""Recognise what comes again and again in a folded text; the expressions are repeats.toml."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date

from kenobot.core import lazy
from kenobot.language.dates import MONTHS, WEEKDAYS
from kenobot.language.lexicon import fill_parts, load_tables
from kenobot.language.named_days import HOLIDAYS, NUMBERS, SHORT_WEEKDAYS
from kenobot.language.number_words import COUNT, read_number
from kenobot.language.when.plain import mask
from kenobot.language.when.rules import Rule, parse_rule
from kenobot.ports.frozen import dataclass

Groups = Mapping[str, str]
_WORKDAYS = tuple((day, 0) for day in range(5))
_WEEKEND = ((5, 0), (6, 0))
ONCE_OR_AGAIN = 3
_MOST = 1000  # units of an interval


@dataclass(frozen=True, slots=True)
class Repeat:
    """Words by which something comes again and again: their rule, None where they may mean several.

    part: the part of the day that they name, "whole" for whole hours. times: how many times of each day, or week.
    without: days of the week that they leave out. once: 1 where they may also mean the coming ones of those days, 2
    where they mean only those, 3 where they may mean the coming one alone.
    """

    rule: Rule | None
    start: int
    end: int
    part: str = ""
    times: int = 0
    without: tuple[int, ...] = ()
    once: int = 0


def find_repeats(plain: str) -> tuple[list[Repeat], str]:
    """Find what says that something comes again; return it with the text in which its words are left out."""
    found: list[Repeat] = []
    text = plain
    said = frozenset(_WORD.findall(plain))
    for name, needs, pattern in _PATTERNS:
        if needs and said.isdisjoint(needs):
            continue
        for match in pattern.finditer(text):
            groups = {group: value for group, value in match.groupdict().items() if value}
            repeat = _RULES[name](groups, match[0])
            if repeat is None:
                continue
            found.append(replace(repeat, start=match.start(), end=match.end()))
            text = mask(text, match.start(), match.end())
    return sorted(found, key=lambda repeat: repeat.start), text


def read_weekdays(text: str) -> tuple[int, ...]:
    """Read the days of the week that a text names, in order, each once."""
    return tuple(dict.fromkeys(WEEKDAY_NAMES[match[1]] for match in _WEEKDAY.finditer(text)))


def find_workday(plain: str, begin: date) -> tuple[date, int, int] | None:
    """Find the coming working day of a month by its place, such as "the last working day of the month"."""
    if " mes" not in plain and " month" not in plain:
        return None
    match = _WORKDAY.search(plain)
    day = match and _nth_days(match["orders"], match["what"], Rule("MONTHLY")).find_first_day(begin)
    return (day, *match.span()) if match and day else None


def find_nth_weekday(plain: str) -> tuple[Rule, int, int] | None:
    """Find a day by its place, such as "the last Friday" or "el último día", whose month is said elsewhere."""
    match = _NTH_ALONE.search(plain)
    if match is None:
        return None
    base = Rule("MONTHLY", months=(MONTHS[match["month"]],) if match["month"] else ())
    return (_nth_days(match["orders"], match["what"], base), *match.span())


# ── the rules, each of what its patterns' groups say ──────────────────────────────────────────────────────────────


def _nth(groups: Groups, _: str) -> Repeat | None:
    base = _of_period(groups)
    if base is None:
        return Repeat(None, 0, 0)
    if groups.get("unit", "")[:4] in ("week", "sema"):
        return Repeat(Rule("WEEKLY", days=((4, 0),)), 0, 0)
    if groups.keys() & {"end", "begin", "middle"}:
        number = -1 if "end" in groups else 1 if "begin" in groups else 15
        months = ((12,) if number < 0 else (1,)) if base.freq == "YEARLY" else base.months
        return Repeat(replace(base, month_days=(number,), months=months), 0, 0)
    rule = _nth_days(groups["orders"], groups["what"], base)
    last = all(place < 0 for place in _read_orders(groups["orders"]))
    if "month" not in groups and _unit(groups.get("unit", "month")) in _LAST_MONTHS:
        rule = replace(rule, months=_LAST_MONTHS[_unit(groups["unit"])][0 if last else 1], interval=1)
    return Repeat(rule, 0, 0, once=ONCE_OR_AGAIN if "again" in groups else 0)


def _nth_days(orders: str, what: str, base: Rule) -> Rule:
    places = _read_orders(orders)
    days = read_weekdays(what)
    if days:
        return replace(base, days=tuple((day, place) for place in places for day in days))
    if _unit(what) == "weekday":
        return replace(base, days=_WORKDAYS, setpos=places)
    if _unit(what) == "weekend":
        return replace(base, days=tuple((5, place) for place in places))
    return replace(base, month_days=places)


def _of_period(groups: Groups) -> Rule | None:
    """Return the rule of a period such as "every other month" or "cada trimestre", without its days."""
    if "month" in groups:
        return Rule("YEARLY", months=(MONTHS[groups["month"]],))
    count = 2 if "other" in groups else read_number(groups.get("n", "")) or 1
    if not 0 < count < _MOST:
        return None
    base = _BY_UNIT[_unit(groups.get("unit", "month"))]
    return replace(base, interval=base.interval * count)


def _next_few(groups: Groups, _: str) -> Repeat | None:
    """Read "the next 4 Wednesdays" or "tres noches seguidas"; hours and minutes are a length of time."""
    count, days = read_number(groups["n"]), read_weekdays(groups["what"])
    unit = _unit(groups["what"])
    if days:
        return Repeat(Rule("WEEKLY", days=((days[0], 0),), count=count), 0, 0)
    if unit not in {"day", *_PART_UNITS}:
        return None
    return Repeat(Rule("DAILY", count=count), 0, 0, _PART_UNITS.get(unit, ""))


def _month_days(groups: Groups, _: str) -> Repeat | None:
    text = groups["list"]
    numbers = tuple(dict.fromkeys(map(int, re.findall(r"\d+", text)))) or (NUMBERS.get(text, 0),)
    base = _of_period(groups)
    if base is None or base.freq != "MONTHLY" or not all(0 < number <= 31 for number in numbers):
        return Repeat(None, 0, 0)
    return Repeat(replace(base, month_days=numbers), 0, 0)


def _year_day(groups: Groups, _: str) -> Repeat | None:
    if "holiday" not in groups:
        month, number = MONTHS[groups["month"]], int(groups["n"])
        return Repeat(Rule("YEARLY", months=(month,), month_days=(number,)), 0, 0)
    named = next(value for pattern, value in HOLIDAYS.items() if re.fullmatch(pattern, groups["holiday"]))
    if isinstance(named, str):
        return Repeat(Rule("YEARLY", months=(int(named[:2]),), month_days=(int(named[3:]),)), 0, 0)
    if isinstance(named, int) or "later" in named:
        return Repeat(None, 0, 0)
    place = named["place"] + (named["place"] >= 0)
    return Repeat(Rule("YEARLY", months=(named["month"],), days=((named["weekday"], place),)), 0, 0)


def _weekdays(groups: Groups, text: str) -> Repeat | None:
    days = read_weekdays(text)
    if "range" in groups and len(days) == 2:
        days = tuple((days[0] + ahead) % 7 for ahead in range((days[1] - days[0]) % 7 + 1))
    count = 2 if "other" in groups else read_number(groups.get("n", "")) or 1
    rule = Rule("WEEKLY", count, days=tuple((day, 0) for day in sorted(days)))
    return Repeat(rule, 0, 0, _PART_UNITS.get(_unit(groups.get("part", "").strip()), ""))


def _some_weekdays(groups: Groups, text: str) -> Repeat | None:
    days = read_weekdays(text)
    if len(days) < 2 or ("many" not in groups and _SURE_LIST.search(text) is None):
        return None
    rule = Rule("WEEKLY", days=tuple((day, 0) for day in sorted(days)))
    return Repeat(rule, 0, 0, once=2 if "this" in groups else 1 if "on" in groups else 0)


def _per_day(groups: Groups, _: str) -> Repeat | None:
    times = 2 if "twice" in groups else 3 if "thrice" in groups else read_number(groups["n"])
    unit = (
        _unit(groups["unit"]) if "unit" in groups else {"daily": "day", "weekly": "week"}.get(groups["adverb"], "month")
    )
    if unit not in ("day", "week", "month"):
        return Repeat(None, 0, 0)
    if times == 1:
        return Repeat(_BY_UNIT[unit], 0, 0)
    return Repeat(_BY_UNIT[unit], 0, 0, times=times)


def _halves(groups: Groups, _: str) -> Repeat | None:
    minutes = 60 * (read_number(groups.get("n", "")) or 1) + 30
    fixed = {"half": 30, "quarter": 15, "three": 45}
    minutes = next((count for name, count in fixed.items() if name in groups), minutes)
    return Repeat(Rule("MINUTELY", minutes), 0, 0)


def _every_unit(groups: Groups, _: str) -> Repeat | None:
    unit = _unit(groups["unit"])
    count = (
        2
        if "other" in groups
        else _NUMERALS.get(groups.get("nth", ""))
        or read_number(groups.get("nth", ""))
        or read_number(groups.get("n", ""))
        or 1
    )
    base = _BY_UNIT[unit]
    if not count < _MOST or (count > 1 and unit == "weekday"):
        return Repeat(None, 0, 0)
    said = _unit(groups.get("part", "").strip()) or unit
    part = "whole" if "whole" in groups else _PART_UNITS.get(said, "")
    return Repeat(replace(base, interval=base.interval * count), 0, 0, part)


def _adverb(groups: Groups, _: str) -> Repeat | None:
    rule = next(rule for words, rule in _ADVERBS.items() if re.fullmatch(words, groups["adverb"]))
    return Repeat(parse_rule(rule), 0, 0)


def _except(groups: Groups, text: str) -> Repeat | None:
    return Repeat(None, 0, 0, without=(5, 6) if "weekend" in groups else read_weekdays(text))


_RULES: Mapping[str, Callable[[Groups, str], Repeat | None]] = {
    "nth": _nth,
    "next_few": _next_few,
    "month_days": _month_days,
    "year_day": _year_day,
    "weekdays": _weekdays,
    "some_weekdays": _some_weekdays,
    "per_day": _per_day,
    "halves": _halves,
    "every_unit": _every_unit,
    "adverb": _adverb,
    "unsure": lambda _, __: Repeat(None, 0, 0),
    "except": _except,
}
_BY_UNIT: Mapping[str, Rule] = {
    "minute": Rule("MINUTELY"),
    "hour": Rule("HOURLY"),
    "day": Rule("DAILY"),
    "week": Rule("WEEKLY"),
    "fortnight": Rule("WEEKLY", 2),
    "month": Rule("MONTHLY"),
    "bimester": Rule("MONTHLY", 2),
    "quarter": Rule("MONTHLY", 3),
    "four months": Rule("MONTHLY", 4),
    "semester": Rule("MONTHLY", 6),
    "year": Rule("YEARLY"),
    "weekday": Rule("WEEKLY", days=_WORKDAYS),
    "weekend": Rule("WEEKLY", days=_WEEKEND),
    "morning": Rule("DAILY"),
    "afternoon": Rule("DAILY"),
    "evening": Rule("DAILY"),
    "night": Rule("DAILY"),
    "dawn": Rule("DAILY"),
}
_PART_UNITS = {unit: unit for unit in ("morning", "afternoon", "evening", "night", "dawn")}
_LAST_MONTHS: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "quarter": ((3, 6, 9, 12), (1, 4, 7, 10)),
    "semester": ((6, 12), (1, 7)),
    "year": ((12,), (1,)),
}  # in which the last and the first days of a period are


# ── the tables ────────────────────────────────────────────────────────────────────────────────────────────────────


_TABLES = load_tables(__package__, "repeats.toml")
CUES = frozenset(_TABLES["words"]["cues"].split())
"""Words of a text without which nothing in it comes again and again."""
_UNITS: Mapping[str, str] = _TABLES["units"]
_ADVERBS: Mapping[str, str] = _TABLES["adverbs"]
_ORDERS: Mapping[str, int] = _TABLES["orders"]
ORDINAL = f"(?:{'|'.join(reversed([*_ORDERS]))})"
"""A regular expression: an ordinal, folded; the longer ones first."""
_NUMERALS: Mapping[str, int] = _TABLES["numerals"]
WEEKDAY_NAMES = {**WEEKDAYS, **SHORT_WEEKDAYS}


def _unit(text: str) -> str:
    return next((unit for words, unit in _UNITS.items() if re.fullmatch(words, text)), "")


def read_place(words: str) -> int | None:
    """Read a folded ordinal: from 1, or from -1 at the end; None for other words."""
    return next((number for each, number in _ORDERS.items() if re.fullmatch(each, words)), None)


def _read_orders(text: str) -> tuple[int, ...]:
    return tuple(
        next(place for words, place in _ORDERS.items() if re.fullmatch(words, match[0]))
        for match in _ORDER.finditer(text)
    )


def _find_longest(names: Mapping[str, object]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_DAY = rf"(?:{_find_longest(WEEKDAY_NAMES)})"
_ORDER_NAMES = _find_longest(_ORDERS)
UNIT_WORDS = f"(?:{_find_longest(_UNITS)})"
"""Alternatives of a regular expression: units of time, in both languages."""
_WORKDAYS_PATTERN = next(words for words, unit in _UNITS.items() if unit == "weekday")
_ORDER = lazy.regex(rf"(?<!\w)(?:{_ORDER_NAMES})(?!\w)")
_WEEKDAY = lazy.regex(rf"(?<!\w)({_find_longest(WEEKDAY_NAMES)})s?(?!\w)")
_PARTS = dict(_TABLES["parts"]) | {
    "plural_list": rf"(?:{_find_longest(WEEKDAYS)})(?<!s)s(?:{{and}} ?(?:on )?{_DAY}s?(?!\w))*",
    "weekdays": rf"{_DAY}s?(?!\w)",
    "kinds_of_day": rf"(?:days?|dias?|{_WORKDAYS_PATTERN}|weekend|finde|fin de semana)",
    "order": _ORDER_NAMES,
    "units": UNIT_WORDS,
    "count": COUNT,
    "numeral": "|".join(_NUMERALS),
    "adverbs": _find_longest(_ADVERBS),
    "month": _find_longest(MONTHS),
    "holiday": "|".join(HOLIDAYS),
    "day_words": _find_longest(NUMBERS),
}


def _fill(pattern: str) -> str:
    for _ in range(4):  # parts stand in parts
        pattern = fill_parts(pattern, _PARTS)
    return pattern


_SURE_LIST = lazy.regex(rf"(?:{'|'.join(name for name in WEEKDAYS)})(?!\w)|(?:and|y|&) |[/,+]")
_WORD = lazy.regex(r"[^\W\d_]+")
_NEEDED = {"{weekdays}": [*WEEKDAY_NAMES, *(f"{name}s" for name in WEEKDAY_NAMES)]}


def _words_needed(row: Mapping[str, str]) -> frozenset[str]:
    return frozenset(word for name in row.get("needs", "").split() for word in _NEEDED.get(name, [name]))


_PATTERNS = tuple(
    (row["rule"], _words_needed(row), lazy.regex(_fill(pattern)))
    for row in _TABLES["repeat"]
    for pattern in row["patterns"]
)
_NTH_ALONE = lazy.regex(
    _fill(
        r"(?<!\w)(?:on |at )?(?:the |el )?(?P<orders>{order_list}) (?P<what>{weekdays}|{kinds_of_day})"
        r"(?: (?:(?:of|de|in) (?P<month>{month})|(?:of|in) the month|del mes))?(?!\w)"
    )
)
_WORKDAY = lazy.regex(
    _fill(
        rf"(?<!\w)(?:on |the |el )*(?P<orders>{{order}}) (?P<what>{_WORKDAYS_PATTERN})"
        r" (?:of (?:the|this) month|del mes|de este mes|de mes)(?!\w)"
    )
)
