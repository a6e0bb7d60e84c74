"""Read the moment or recurrence that a text names."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise

from kenobot.core import lazy
from kenobot.language.clock_times import HOUR_WORDS, ClockTime
from kenobot.language.dates import end_of_month, valid_day
from kenobot.language.named_days import DAY_WORDS, TOMORROW_WORDS, NamedDay
from kenobot.language.when.leftovers import has_leftovers, hides_clock, join_spans
from kenobot.language.when.meaning import Choice, Meaning, Moment, Recurrence, When
from kenobot.language.when.moments import at_hour, choose, find_moments, hour_options
from kenobot.language.when.pieces import CUES as PIECE_CUES
from kenobot.language.when.pieces import Pieces, find_pieces
from kenobot.language.when.plain import PlainText
from kenobot.language.when.recurring import read_recurrence, with_times
from kenobot.language.when.repeats import CUES as REPEAT_CUES
from kenobot.language.when.roles import Roles, assign_roles
from kenobot.language.when.rules import DAY_CODES, Rule
from kenobot.language.when.select import select_pieces
from kenobot.language.words import fold

_LONGEST = 1000  # characters of a text that are read


def read_when(text: str, now: datetime) -> When | None:
    """Read the moment or recurrence that a text names; None where it names no time. now: naive, local."""
    text = text[:_LONGEST]
    if not _may_name_time(text):
        return None
    plain = PlainText(text)
    pieces = find_pieces(plain.plain, now)
    named = [*pieces.spans(), *pieces.labels]
    select_pieces(pieces)
    spans = pieces.spans()
    if not spans:
        return None
    places = [plain.find_span(*span) for span in join_spans(plain.plain, spans)]
    unread = has_leftovers(plain.plain, spans, named) or (not pieces.clocks and hides_clock(plain.plain, spans, named))
    meaning = None if unread else _read_at_night(pieces, now)
    return When(meaning, tuple(places))


def _may_name_time(text: str) -> bool:
    """Return whether a text has a digit, or a word of those by which times are named."""
    if _DIGIT.search(text):
        return True
    plain = fold(text)
    return not _WORDS.isdisjoint(_WORD.findall(plain)) or _AT_ONE.search(plain) is not None


def _read_at_night(pieces: Pieces, now: datetime) -> Meaning | None:
    """Read the pieces; in the small hours "tomorrow" may mean the day that has begun as well."""
    meaning = _read(pieces, now)
    days = [_set_back(named) if _says_tomorrow(pieces.plain, named) else named for named in pieces.days]
    if now.hour >= _MORNING or days == pieces.days or meaning is None:
        return meaning
    other = _read(replace(pieces, days=days), now)
    found = [each.options if isinstance(each, Choice) else (each,) for each in (other, meaning) if each]
    return choose(option for options in found for option in options)


def _says_tomorrow(plain: str, named: NamedDay) -> bool:
    return not TOMORROW_WORDS.isdisjoint(_WORD.findall(plain[named.start : named.end])) and named.day == named.last


def _set_back(named: NamedDay) -> NamedDay:
    return replace(named, day=named.day - timedelta(days=1), last=named.last - timedelta(days=1))


def _read(pieces: Pieces, now: datetime) -> Meaning | None:
    roles = assign_roles(pieces, now)
    if pieces.vague or len({part.name for part in pieces.parts}) > 1:
        return None
    if pieces.repeats:
        return None if pieces.durations else read_recurrence(pieces, roles, now)
    if pieces.durations:
        return _read_duration(pieces, roles, now)
    return _read_moments(pieces, roles, now)


def _read_duration(pieces: Pieces, roles: Roles, now: datetime) -> Meaning | None:
    if len(pieces.durations) > 1:
        return None
    duration = pieces.durations[0]
    if not duration.anchored:
        if roles.clocks or roles.days or duration.length < timedelta(0):
            return None
        return Moment(now + duration.length, exact=True)
    meaning = _read_moments(pieces, roles, now)
    moments = meaning.options if isinstance(meaning, Choice) else (meaning,)
    found = [each for each in moments if isinstance(each, Moment) and each.has_time]
    shifted = [Moment(each.at + duration.length) for each in found if each.at + duration.length > now]
    return choose(shifted) if len(found) == len(moments) else None


def _read_moments(pieces: Pieces, roles: Roles, now: datetime) -> Meaning | None:
    days, clocks = _days_meant(pieces, roles), roles.clocks
    if pieces.same_hour:
        days = [_same_day(named, now) for named in days]
    if roles.only_until or any(_is_wide(pieces, named) for named in days):
        return None
    if pieces.hours and not clocks:
        clocks = [pieces.hours[0].begin()]
        if not days and not clocks[0].part and len(clocks[0].hours_of(roles.part)) > 1:
            return None
    if len(days) > 1 and not _join_by_or(pieces.plain, days):
        return _read_both(days, clocks, pieces, roles, now)
    if len(clocks) > 1 and not all(clock.joined == "o" for clock in clocks[1:]):
        return _read_both(days, clocks, pieces, roles, now) if all(clock.joined for clock in clocks[1:]) else None
    found: list[Moment] = []
    meant: Sequence[NamedDay | None] = days or (None,)
    for named in meant:
        options = _moments_of(named, clocks, pieces, roles, now)
        if not options:
            return None
        found += options
    return choose(found)


def _moments_of(
    named: NamedDay | None, clocks: Sequence[ClockTime], pieces: Pieces, roles: Roles, now: datetime
) -> list[Moment]:
    day = named.day if named else None
    days = [day]
    if named and named.start in pieces.other_days:
        days.append(pieces.other_days[named.start])
    if day is not None and day < now.date():
        return []
    if clocks:
        return [Moment(at) for day in days for clock in clocks for at in find_moments(day, clock, roles.part, now)]
    if pieces.same_hour:
        return [Moment(at_hour(day, now.hour, now.minute)) for day in days if day]
    if not pieces.parts:
        return [Moment(datetime.combine(day, time()), has_time=False) for day in days if day]
    if not roles.part_hour:
        return []
    hour, minute = map(int, roles.part_hour.split(":"))
    moments = [at_hour(day or now.date(), hour, minute) for day in days]
    if days == [None] and moments[0] <= now:
        moments = [moments[0] + timedelta(days=1)]
    return [Moment(at) for at in moments if at > now]


def _days_meant(pieces: Pieces, roles: Roles) -> list[NamedDay]:
    """Return days, each once, and both of two such as "the 5th and the 12th of March"."""
    days: list[NamedDay] = []
    for named in roles.days:
        link = _TWO.search(pieces.plain, named.start, named.end)
        if named.last > named.day and link:
            days += [
                replace(named, last=named.day, end=link.start(1)),
                replace(named, day=named.last, start=link.end()),
            ]
        elif not any(named.day == other.day for other in days):
            days.append(named)
    return days


def _same_day(named: NamedDay, now: datetime) -> NamedDay:
    """Return the day of a week or month named as such that is as today: "same time next week"."""
    if named.last - named.day == _WEEK:
        day: date | None = named.day + timedelta(days=now.weekday())
    elif named.last == end_of_month(named.day) and named.day.day == 1:
        day = valid_day(named.day.year, named.day.month, now.day)
    else:
        return named
    return replace(named, day=day, last=day) if day else named


def _is_wide(pieces: Pieces, named: NamedDay) -> bool:
    """Return whether words name a week, month or year, none of whose days is surely meant."""
    wide = named.last - named.day > timedelta(days=1) or _YEAR.search(pieces.plain, named.start, named.end)
    return bool(wide) and _ONE_DAY.search(pieces.plain, named.start, named.end) is None


def _join_by_or(plain: str, days: Sequence[NamedDay]) -> bool:
    return all(_OR.search(plain, one.end, other.start) for one, other in pairwise(days))


def _read_both(
    days: Sequence[NamedDay], clocks: Sequence[ClockTime], pieces: Pieces, roles: Roles, now: datetime
) -> Meaning | None:
    """Read several moments that are all meant, such as "tomorrow at 9 and at 17", as a recurrence that ends."""
    if not days or not all(_AND.search(pieces.plain, one.end, other.start) for one, other in pairwise(days)):
        return None
    rows = hour_options(clocks, roles.part) if clocks else [((0, 0),)]
    dates = [named.day for named in days]
    moments = [at_hour(day, hour, minute) for day in dates for hour, minute in rows[0]]
    if len(rows) != 1 or dates != sorted(dates) or dates[0] < now.date() or moments[0] < now:
        return None
    bare = [_BARE_DAY.fullmatch(pieces.plain, named.start, named.end) for named in days]
    if len(days) > 1 and (len(clocks) > 1 or (all(bare) and dates[0].month != now.month)):
        return None  # the 1st and the 15th may be of other months
    span = (dates[-1] - dates[0]).days
    if span == len(dates) - 1:
        rule = Rule("DAILY", count=len(moments))
    elif span < len(DAY_CODES):
        rule = Rule("WEEKLY", days=tuple((day.weekday(), 0) for day in dates), count=len(moments))
    elif dates[0].month == dates[-1].month:
        rule = Rule("MONTHLY", month_days=tuple(day.day for day in dates), count=len(moments))
    else:
        return None
    return Recurrence(with_times(rule, rows[0]).write(), moments[0], bool(clocks))


_WEEK = timedelta(days=6)  # from its first day to its last
_DIGIT = lazy.regex(r"\d")
_WORD = lazy.regex(r"[^\W\d_]+")
_MORNING = 4  # the hour from which a night is over
_YEAR = lazy.regex(r"(?<!\w)(?:next year|(?:proximo |el )?año(?: que viene| proximo)?)\Z")
_ONE_DAY = lazy.regex(
    r"\d|nuevo|(?<!\w)(?:fin|end|lunes|martes|miercoles|jueves|viernes|sabado|domingo|[a-z]+day)(?!\w)"
)
_TWO = lazy.regex(r"(?<=\d)(?:st|nd|rd|th)?( )(?:y|o|and|or|&) ")
_BARE_DAY = lazy.regex(r"(?:(?:on|by|the|el|del|al|para|dia) )*\d{1,2}(?:st|nd|rd|th)?")
_AND = lazy.regex(r"(?<!\w)(?:y|e|and)(?!\w)|,|&")
_OR = lazy.regex(r"(?<!\w)(?:o|u|or)(?!\w)")
_WORDS = frozenset({*REPEAT_CUES, *PIECE_CUES, *DAY_WORDS, *HOUR_WORDS.split("|")} - {"una", "one"})
_AT_ONE = lazy.regex(r"\b(?:la una|(?:at|by|until|before|after) one)\b")
