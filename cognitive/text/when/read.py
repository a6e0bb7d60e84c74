"""Read the moment or recurrence that a text names."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from itertools import pairwise

from kenobot.cognitive.text.clock_times import HOUR_WORDS, ClockTime
from kenobot.cognitive.text.named_days import DAY_WORDS, NamedDay
from kenobot.cognitive.text.when.meaning import Meaning, Moment, When
from kenobot.cognitive.text.when.moments import at_hour, choose, find_moments
from kenobot.cognitive.text.when.pieces import CUES as PIECE_CUES
from kenobot.cognitive.text.when.pieces import Pieces, Span, find_pieces
from kenobot.cognitive.text.when.plain import PlainText
from kenobot.cognitive.text.when.recurring import read_recurrence
from kenobot.cognitive.text.when.repeats import CUES as REPEAT_CUES
from kenobot.cognitive.text.when.roles import Roles, assign_roles
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy

_LONGEST = 2000  # characters of a text that are read


def read_when(text: str, now: datetime) -> When | None:
    """Read the moment or recurrence that a text names; None where it names no time. now: naive, local."""
    text = text[:_LONGEST]
    if not _may_name_time(text):
        return None
    plain = PlainText(text)
    pieces = find_pieces(plain.plain, now)
    spans = pieces.spans()
    if not spans:
        return None
    places = [plain.find_span(*span) for span in _join_spans(plain.plain, spans)]
    return When(_read(pieces, now), tuple(places))


def _may_name_time(text: str) -> bool:
    """Return whether a text has a digit, or a word of those by which times are named."""
    if _DIGIT.search(text):
        return True
    plain = fold(text)
    return not _WORDS.isdisjoint(_WORD.findall(plain)) or _AT_ONE.search(plain) is not None


def _read(pieces: Pieces, now: datetime) -> Meaning | None:
    roles = assign_roles(pieces, now)
    if pieces.vague:
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
        if roles.clocks or roles.days:
            return None
        return Moment(now + duration.length, exact=True)
    meaning = _read_moments(pieces, roles, now)
    if not isinstance(meaning, Moment) or not meaning.has_time:
        return None
    at = meaning.at + duration.length
    return Moment(at) if at > now else None


def _read_moments(pieces: Pieces, roles: Roles, now: datetime) -> Meaning | None:
    days, clocks = _days_meant(pieces, roles), roles.clocks
    if days is None:
        return None
    if pieces.hours and not clocks:
        clocks = [pieces.hours[0].first]
    if len(days) > 1 and not _joined_by_or(pieces.plain, days):
        return _read_both(days, clocks, roles, now)
    if len(clocks) > 1 and not all(clock.joined == "o" for clock in clocks[1:]):
        return None
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


def _days_meant(pieces: Pieces, roles: Roles) -> list[NamedDay] | None:
    """The days without those that name the same again; None where it is not known which is meant."""
    days: list[NamedDay] = []
    for named in roles.days:
        if not any(named.day == other.day for other in days):
            days.append(named)
    return days


def _joined_by_or(plain: str, days: Sequence[NamedDay]) -> bool:
    return all(_OR.search(plain, one.end, other.start) for one, other in pairwise(days))


def _read_both(days: Sequence[NamedDay], clocks: Sequence[ClockTime], roles: Roles, now: datetime) -> Meaning | None:
    return None


def _join_spans(plain: str, spans: Sequence[Span]) -> list[Span]:
    """Join the pieces that only small words stand between, and take those before them."""
    joined: list[Span] = []
    for place, end in spans:
        cue = _LEAD.search(plain, max(0, place - _LONGEST_LEAD), place)
        start = cue.start() if cue else place
        if joined and (start <= joined[-1][1] or _GAP.fullmatch(plain, joined[-1][1], start)):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


_DIGIT = lazy.regex(r"\d")
_WORD = lazy.regex(r"[^\W\d_]+")
_OR = lazy.regex(r"(?<!\w)(?:o|u|or)(?!\w)")
_LINK = r"(?:y|and|o|or|at|on|by|in|from|for|the|a|el|la|los|las|al|de|del|en|por|para|que|of|this|u)"
_LONGEST_LEAD = 40  # characters
_LEAD = lazy.regex(
    r"(?<!\w)(?:on|at|by|from|for|this|para|desde|hasta|until|till|starting|a partir de|antes de|before|el|la|en|a"
    r"|de|del|the|empezando|,)"
    r"(?: (?:the|el|la|los|las|next))? ?\Z"
)
_GAP = lazy.regex(rf"[\s,]*(?:{_LINK}[\s,]+)*(?:{_LINK})?[\s,]*")
_WORDS = frozenset({*REPEAT_CUES, *PIECE_CUES, *DAY_WORDS, *HOUR_WORDS.split("|")} - {"una", "one"})
_AT_ONE = lazy.regex(r"\b(?:la una|(?:at|by|until|before|after) one)\b")
