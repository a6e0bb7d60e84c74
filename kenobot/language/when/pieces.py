"""Find the pieces of a folded text that name a time: days, times of a day, parts of it, durations and bounds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime, timedelta

from kenobot.core import lazy
from kenobot.language.clock_times import (
    HOUR_WORDS,
    ClockTime,
    clock_ahead,
    clock_behind,
    clock_behind_part,
    clock_times,
)
from kenobot.language.dates import MONTHS, WEEKDAYS, valid_day
from kenobot.language.lexicon import fill_parts, load_tables
from kenobot.language.named_days import NamedDay, days_named
from kenobot.language.number_words import COUNT, read_number
from kenobot.language.when.plain import mask
from kenobot.language.when.repeats import (
    UNIT_WORDS,
    WEEKDAY_NAMES,
    Repeat,
    find_nth_weekday,
    find_repeats,
    find_workday,
)
from kenobot.language.when.rules import Rule
from kenobot.ports.frozen import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DayPart:
    """A part of the day, and the hour that is meant by it, "" where none is."""

    name: str
    hour: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Duration:
    """A time that is counted from now, or where `anchored` from what stands behind it, back if it is negative."""

    length: timedelta
    start: int
    end: int
    anchored: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """End of a recurrence: a length of time, or a number of times."""

    start: int
    end: int
    count: int = 0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class HourRange:
    """From one time of a day to another."""

    first: ClockTime
    last: ClockTime
    start: int
    end: int

    def begin(self) -> ClockTime:
        """Return its first time, of the half of the day that the last one tells."""
        hours, ends = self.first.hours_of(""), self.last.hours_of("")
        if len(hours) == 1 or len(ends) > 1:
            return self.first
        before = [hour for hour in hours if (hour, self.first.minute) < (ends[0], self.last.minute)]
        return replace(self.first, hour=before[-1], sure=True) if before else self.first


@dataclass(slots=True)
class Pieces:
    """All that a text says of a time, in order of their places."""

    plain: str
    repeats: list[Repeat] = field(default_factory=list)  # bounded: of one text; turn
    clocks: list[ClockTime] = field(default_factory=list)  # bounded: of one text; turn
    parts: list[DayPart] = field(default_factory=list)  # bounded: of one text; turn
    days: list[NamedDay] = field(default_factory=list)  # bounded: of one text; turn
    other_days: dict[int, date] = field(default_factory=dict)  # bounded: of one text; turn
    durations: list[Duration] = field(default_factory=list)  # bounded: of one text; turn
    bounds: list[Bound] = field(default_factory=list)  # bounded: of one text; turn
    hours: list[HourRange] = field(default_factory=list)  # bounded: of one text; turn
    nth: tuple[Rule, int, int] | None = None
    same_hour: Span | None = None
    labels: list[Span] = field(default_factory=list)  # bounded: of one text; turn
    vague: list[Span] = field(default_factory=list)  # bounded: of one text; turn
    odd: list[Span] = field(default_factory=list)  # bounded: of one text; turn

    def spans(self) -> list[Span]:
        """Return the places of all pieces, in order."""
        rows = (self.repeats, self.clocks, self.parts, self.days, self.durations, self.bounds, self.hours)
        spans = [(piece.start, piece.end) for row in rows for piece in row]
        spans += [self.nth[1:]] if self.nth else []
        spans += [self.same_hour] if self.same_hour else []
        return sorted({*spans, *self.vague})


def find_pieces(plain: str, now: datetime) -> Pieces:
    """Find what a text says of a time."""
    pieces = Pieces(plain)
    text = _find_durations(plain, pieces)
    pieces.repeats, text = find_repeats(text)
    if not pieces.repeats and (lasting := _LASTING.search(text)):
        pieces.repeats.append(Repeat(Rule("DAILY"), *lasting.span("said")))
    text = _find_bounds(text, pieces)
    pieces.clocks = clock_times(text)
    if any(_needs_day(repeat) for repeat in pieces.repeats) and (nth := find_nth_weekday(text)) is not None:
        pieces.nth = nth
        text = mask(text, *nth[1:])
    text = _find_days(text, pieces, now)
    if not pieces.repeats and (workday := find_workday(text, now.date())) is not None:
        pieces.days.append(NamedDay(*workday, workday[0]))
    _find_parts(text, pieces)
    _find_clocks_beside(text, pieces)
    pieces.vague = [match.span() for pattern in _VAGUE for match in pattern.finditer(plain)]
    if not pieces.clocks:
        pieces.vague += [match.span() for match in _HOURLESS.finditer(text)]
        pieces.vague += [match.span() for pattern in _HOURLESS_LENGTHS for match in pattern.finditer(text)]
    pieces.vague += pieces.odd
    if pieces.days or pieces.repeats:
        pieces.labels = [match.span() for match in _LABELS.finditer(text)]
    if pieces.same_hour and not (pieces.days or pieces.repeats) and not _ASKING.search(plain):
        pieces.same_hour = None
    if not pieces.spans():
        pieces.vague = [match.span() for match in _ALONE.finditer(text)]
    return pieces


def _needs_day(repeat: Repeat) -> bool:
    rule = repeat.rule
    return rule is not None and rule.freq in ("MONTHLY", "YEARLY") and not (rule.days or rule.month_days)


def _find_durations(plain: str, pieces: Pieces) -> str:
    text = plain
    words = frozenset(_WORD.findall(plain))
    for pattern, sign, anchored in _DURATIONS if not words.isdisjoint(_LENGTHS) else _SHORT_DURATIONS:
        for match in pattern.finditer(text):
            length = _read_length({name: value for name, value in match.groupdict().items() if value})
            start, end = match.span("said" if "said" in pattern.groupindex else 0)
            pieces.durations.append(Duration(sign * length, start, end, anchored))
            text = mask(text, start, match.start("link") if "link" in pattern.groupindex else end)
    pieces.durations.sort(key=lambda piece: piece.start)
    return text


def _read_length(groups: Mapping[str, str]) -> timedelta:
    fixed = {"half_hour": 30, "hour_half": 90, "quarter": 15, "three": 45, "quarters_past": 75}
    minutes = next((count for name, count in fixed.items() if name in groups), 0)
    minutes += 60 * (read_number(groups.get("h", "")) + read_number(groups.get("h2", "")))
    more = {"and_half": 30, "half_dot": 30, "h2": 30, "and_quarter": 15, "and_three": 45}
    minutes += sum(count for name, count in more.items() if name in groups)
    minutes += int(groups.get("m3", 0)) + read_number(groups.get("m", "")) + read_number(groups.get("m2", ""))
    minutes += 60 * int(groups.get("hh", 0)) + int(groups.get("hm", 0))
    return timedelta(minutes=minutes, seconds=read_number(groups.get("s", "")))


def _find_bounds(plain: str, pieces: Pieces) -> str:
    text = plain
    for match in [*_HOURS.finditer(text), *_SHORT_HOURS.finditer(text)]:
        if any(match.start() < hours.end and hours.start < match.end() for hours in pieces.hours):
            continue
        first, last = (clock_times(f"at {match[name]}") for name in ("a", "b"))
        if first and last and text[max(0, match.start() - 3) : match.start()] != "at ":
            pieces.hours.append(HourRange(first[0], last[0], match.start(), match.end()))
            text = mask(text, match.start(), match.end())
    if not pieces.repeats:
        return text
    for pattern, name in _BOUNDS:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            count = read_number(groups.get("n") or groups.get("many") or groups.get("behind") or "1")
            if name == "doses" and count < (_MANY_DOSES if groups.get("behind") else 2):
                continue  # so many each time
            unit = (
                "times"
                if name in ("times", "doses")
                else groups.get("unit") or "this " + next(filter(None, groups.values()))
            )
            pieces.bounds.append(Bound(match.start(), match.end(), count, unit))
            text = mask(text, match.start(), match.end())
    pieces.odd += [match.span() for match in _DOSES.finditer(text) if read_number(match["n"]) > 1]
    return text


def _find_days(plain: str, pieces: Pieces, now: datetime) -> str:
    text = plain
    same = _SAME_HOUR.search(text)
    if same:
        pieces.same_hour = same.span()
        text = mask(text, *same.span())
    named_in = days_named(text, now.date())
    if any(_overlaps(day, pieces.clocks) for day in named_in):  # "at 8 until the 30th of June" is no range of days
        bare = text
        for said in pieces.clocks:
            bare = mask(bare, said.start, said.end)
        named_in = days_named(bare, now.date())
    named_in += [*_find_beside_clocks(text, named_in, pieces.clocks, now)]
    named_in.sort(key=lambda day: day.start)
    found = [day for day in named_in if not _overlaps(day, pieces.clocks) and not _is_left_out(text, day)]
    for named in found:
        clock = clock_behind(text, named.end)
        if clock and not any(other.start < clock.end and clock.start < other.end for other in pieces.clocks):
            pieces.clocks = sorted([*pieces.clocks, clock], key=lambda piece: piece.start)
    for named in found:
        numbers = _NUMBERS.search(text, named.start, named.end)
        tail = _TAIL.match(text, named.end)
        pieces.days.append(replace(named, end=tail.end()) if tail else named)
        if _is_odd(text, named, now):
            pieces.odd.append((named.start, named.end))
        if _NEXT.match(text, named.start, named.end) and named.day - now.date() < timedelta(days=7 - now.weekday()):
            pieces.other_days[named.start] = named.day + timedelta(days=7)
        alone = _BARE_WEEKDAY.fullmatch(text, named.start, named.end)
        if alone and (pieces.clocks or alone["this"]) and named.day - now.date() == timedelta(days=7):
            pieces.other_days[named.start] = now.date()
        if named.last - named.day == timedelta(days=1) and _WEEKEND.search(text, named.start, named.end):
            pieces.other_days[named.start] = named.last
        if numbers:
            _read_numbers(numbers, named, pieces, now)
    return text


def _find_beside_clocks(
    plain: str, named: Sequence[NamedDay], clocks: Sequence[ClockTime], now: datetime
) -> Iterator[NamedDay]:
    """Find what is a day because it stands beside a time: "dentist 3/5 at 10", "9pm Wednesday"."""
    for match in _BESIDE.finditer(plain):
        start, end = match.span()
        if any(start < day.end and day.start < end for day in named):
            continue
        asked = _ASKED_ON.search(plain, max(0, start - _LONGEST_NAME), start)
        if not asked and not any(
            0 <= clock.start - end <= _BESIDE_CLOCK or 0 <= start - clock.end <= _BESIDE_CLOCK for clock in clocks
        ):
            continue
        if match["weekday"]:
            day: date | None = now.date() + timedelta(
                days=(WEEKDAY_NAMES[match["weekday"]] - now.weekday() - 1) % 7 + 1
            )
        else:
            day = _next_day(int(match["month"]), int(match["n"]), 0, now) or _next_day(
                int(match["n"]), int(match["month"]), 0, now
            )
        if day is not None:
            yield NamedDay(day, start, end, day)


def _is_odd(plain: str, named: NamedDay, now: datetime) -> bool:
    """Return whether a day is not of the day of the week that is said with it, or far off: "Sunday 14 March"."""
    match = _WEEKDAY_AND_DAY.match(plain, named.start, named.end)
    if match is None:
        return False
    far = named.day - now.date() > timedelta(days=31) and match.end() == named.end
    return WEEKDAY_NAMES[match["weekday"]] != named.day.weekday() or far


def _is_left_out(plain: str, day: NamedDay) -> bool:
    """Return whether a day is not meant: "not tomorrow", or a part of a name of a street, a person or a film."""
    before = plain[max(0, day.start - _LONGEST_NAME) : day.start]
    return any(cue.search(before) for cue in _LEFT_BEFORE) or any(cue.match(plain, day.end) for cue in _LEFT_BEHIND)


def _overlaps(day: NamedDay, clocks: list[ClockTime]) -> bool:
    return any(day.start < clock.end and clock.start < day.end for clock in clocks)


def _read_numbers(match: re.Match[str], named: NamedDay, pieces: Pieces, now: datetime) -> None:
    """Read 3/5 by the language of the text: the fifth of March in English, the third of May in Spanish."""
    first, second = int(match[1]), int(match[2])
    if first > 12 or second > 12 or first == second:
        return
    spanish, english = (len(pattern.findall(pieces.plain)) for pattern in (_SPANISH, _ENGLISH))
    year = (2000 + int(match[3]) % 100) if match[3] else 0
    day_first, month_first = _next_day(second, first, year, now), _next_day(first, second, year, now)
    if day_first is None or month_first is None:
        return
    meant, other = (month_first, day_first) if english > spanish else (day_first, month_first)
    pieces.days[-1] = NamedDay(meant, named.start, named.end, meant, named.has_year)
    if english >= spanish:
        pieces.other_days[named.start] = other


def _find_clocks_beside(plain: str, pieces: Pieces) -> None:
    """Find the times right before and behind days and parts of a day: "11.45 tomorrow morning"."""
    sure = [(part.start, part.end, True) for part in pieces.parts]
    sure += [(day.start, day.end, not _CALENDAR.search(plain[day.start : day.end])) for day in pieces.days]
    others = [(repeat.start, repeat.end, False) for repeat in pieces.repeats]
    for start, end, may_count in [*sure, *others]:
        found = clock_ahead(plain, start)
        if found and found[1] and not may_count:
            pieces.odd.append((found[0].start, found[0].end))
            continue
        for clock in filter(None, (found and found[0], clock_behind_part(plain, end))):
            if not any(other.start < clock.end and clock.start < other.end for other in pieces.clocks):
                pieces.clocks = sorted([*pieces.clocks, clock], key=lambda piece: piece.start)


def _next_day(month: int, day: int, year: int, now: datetime) -> date | None:
    if year:
        return valid_day(year, month, day)
    days = (valid_day(now.year + ahead, month, day) for ahead in range(9))
    return next((found for found in days if found and found >= now.date()), None)


def _find_parts(plain: str, pieces: Pieces) -> None:
    taken = [(clock.start, clock.end) for clock in pieces.clocks]
    for name, hour, pattern in _DAY_PARTS:
        for match in pattern.finditer(plain):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            if match["bare"] and not any(day.end + 1 == start for day in pieces.days):
                continue
            if match[0].endswith(" of") and not any(0 < day.start - end <= _BESIDE_PART for day in pieces.days):
                continue
            taken.append((start, end))
            pieces.parts.append(DayPart(name, hour, start, end))
    pieces.parts.sort(key=lambda part: part.start)


# ── the tables ────────────────────────────────────────────────────────────────────────────────────────────────────

_TABLES = load_tables(__package__, "pieces.toml")
CUES = frozenset(_TABLES["words"]["cues"].split())
"""Words of a text that may name a time, beside days, hours and what comes again."""
_FILL = dict(_TABLES["parts"]) | {"count": COUNT, "units": UNIT_WORDS, "hour": HOUR_WORDS}
_FILL |= {"month": f"(?:{'|'.join(MONTHS)})", "weekday": f"(?:{'|'.join(WEEKDAYS)})"}
_FILL = {"long": _FILL["long"], "clock": _TABLES["bounds"]["clock"], **_FILL}


def _fill(pattern: str) -> re.Pattern[str]:
    for _ in range(3):  # parts stand in parts
        pattern = fill_parts(pattern, _FILL)
    return lazy.regex(pattern)


_DURATIONS = tuple(
    (_fill(pattern), sign, kind in ("before", "after"))
    for kind, sign in (("ago", -1), ("before", -1), ("after", 1), ("ahead", 1), ("short", 1))
    for pattern in _TABLES["durations"][kind]
)
_SHORT_DURATIONS = tuple((_fill(pattern), 1, False) for pattern in _TABLES["durations"]["short"])
_LENGTHS = frozenset(_TABLES["durations"]["words"].split())
_WORD = lazy.regex(r"[^\W\d_]+")
_BOUNDS = tuple(
    (_fill(_TABLES["bounds"][name]), name)
    for name in ("times", "doses", "last", "last_one", "last_next", "this_period")
)
_MANY_DOSES = 3  # which are hardly taken at once
_DOSES = _fill(r"(?<!\w)(?P<n>{count}) (?:doses|dosis|tomas)(?!\w)")
_LASTING = _fill(_TABLES["bounds"]["lasting"])
_HOURS = _fill(_TABLES["bounds"]["hours"])
_SHORT_HOURS = _fill(_TABLES["bounds"]["short_hours"])
_SAME_HOUR = _fill(_TABLES["bounds"]["same_hour"])
UNTIL, BEFORE, SINCE = (
    lazy.regex(rf"(?<!\w){_TABLES['bounds'][name]}\s*\Z") for name in ("until", "until_before", "since")
)
"""Words before a day or time that make it an end, the end of what is left out, or a beginning."""
_DAY_PARTS = tuple(
    (row["name"], row["hour"], _fill(rf"(?<!\w)(?:{row['pattern']}|(?P<bare>{row.get('bare', '(?!)')}))(?!\w)"))
    for row in _TABLES["part"]
)
_ASKING = _fill(r"(?<!\w){asking}(?!\w)")
_ASKED_ON = lazy.regex(
    r"(?<!\w)(?:(?:remind|ping|nudge|tell|wake|rmd|text|call) me(?: again)?|recuerdame|recordame|avisame) \Z"
)
_BESIDE_CLOCK = 2  # characters between
_BESIDE_PART = 5
_BESIDE = lazy.regex(
    rf"(?<![\w/.,-])(?:(?P<weekday>{'|'.join(sorted(WEEKDAY_NAMES, key=len, reverse=True))})"
    r"|(?P<n>\d{1,2})/(?P<month>\d{1,2}))(?![\w/-])(?! pasado)"
)
_WEEKDAY_AND_DAY = lazy.regex(
    rf"(?:(?:on|by|the|el|para) )*(?P<weekday>{'|'.join(sorted(WEEKDAY_NAMES, key=len, reverse=True))}),? "
    r"(?:(?:the|el|dia) )*(?:\d{1,2}(?:st|nd|rd|th)?)"
)
_BARE_WEEKDAY = lazy.regex(
    rf"(?:(?:on|by|el|al|para el|(?P<this>this|este)) )*(?:{'|'.join(sorted(WEEKDAY_NAMES, key=len, reverse=True))})"
)
_CALENDAR = lazy.regex(rf"\d|(?<!\w)(?:{'|'.join(sorted(WEEKDAY_NAMES, key=len, reverse=True))})(?!\w)")
_WEEKEND = lazy.regex(r"(?<!\w)(?:fin de semana|finde|weekend|wkend|w/e)(?!\w)")
_LONGEST_NAME = 20  # characters
_LEFT_BEFORE, _LEFT_BEHIND = (
    tuple(_fill(_TABLES["names"][name]) for name in (side, f"not_{side}")) for side in ("before", "behind")
)
_NEXT = _fill(
    r"(?:(?:on|by|for|el|al|para el|del|del?) )*(?:next|proximo) {weekday}|(?:el |para el )?{weekday} proximo"
)
_TAIL = lazy.regex(
    r"'? time(?!\w)| (?:(?:que|q|k) viene|proximo|entrante|(?:de|of) (?:esta semana|this week)|this week)(?!\w)"
)
_VAGUE = tuple(map(_fill, _TABLES["vague"]["patterns"]))
_HOURLESS_LENGTHS = tuple(map(_fill, _TABLES["vague"]["hourless_lengths"]))
_HOURLESS, _ALONE, _LABELS = (_fill(_TABLES["vague"][name]) for name in ("hourless", "alone", "labels"))
_NUMBERS = lazy.regex(r"(?<![\d/-])(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4}|\d\d))?(?!\d)")
_SPANISH = lazy.regex(
    r"(?<!\w)(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo|el|la|los|las|a|de|del|para|pal?|que|en|y|con|mi|al|por|cita|vence|dia|hasta|un|una)"
    r"(?!\w)"
)
_ENGLISH = lazy.regex(
    r"(?<!\w)(?:[a-z]+day|the|at|on|to|by|of|in|and|my|for|due|is|with|call|am|pm|until|from|before)(?!\w)"
)
