"""Tell what each day and time of a text is for: it begins, ends, or is what is meant itself."""

from dataclasses import dataclass, field
from datetime import date, datetime

from kenobot.core import lazy
from kenobot.language.clock_times import ClockTime
from kenobot.language.named_days import NamedDay
from kenobot.language.when.pieces import BEFORE, SINCE, UNTIL, Pieces


@dataclass(slots=True)
class Roles:
    """The days and times of a text by what they are for."""

    now: datetime
    days: list[NamedDay] = field(default_factory=list)  # bounded: of one text; turn
    clocks: list[ClockTime] = field(default_factory=list)  # bounded: of one text; turn
    since_day: date | None = None
    since_clock: ClockTime | None = None
    until_day: date | None = None
    until_clock: ClockTime | None = None
    until_excluded: bool = False
    part: str = ""
    part_hour: str = ""
    only_until: bool = False


def assign_roles(pieces: Pieces, now: datetime) -> Roles:
    """Tell which days and times begin or end a recurrence, and which are of its moments."""
    roles = Roles(now)
    repeated = bool(pieces.repeats)
    for named in pieces.days:
        cue = find_cue(pieces.plain, named.start, named.end)
        if cue in ("until", "before") and repeated:
            roles.until_day, roles.until_excluded = named.last, cue == "before"
        elif cue == "since" and repeated:
            roles.since_day = named.day
        else:
            roles.days.append(named)
            roles.only_until |= cue == "until"
    apart = any(repeat.rule and not repeat.rule.by_day for repeat in pieces.repeats)
    for clock in pieces.clocks:
        cue = find_cue(pieces.plain, clock.start, clock.end)
        if apart and roles.until_day and any(day.end <= clock.start <= day.end + 2 for day in pieces.days):
            cue = "until"
        if cue in ("until", "before") and repeated:
            roles.until_clock = clock
        elif cue == "since" and repeated:
            roles.since_clock = clock
        else:
            roles.clocks.append(clock)
    names = [part.name for part in pieces.parts]
    roles.part = names[0] if names else ""
    roles.part_hour = pieces.parts[0].hour if pieces.parts else ""
    return roles


def find_cue(plain: str, start: int, end: int) -> str:
    """Return whether the words before a day or time make it a beginning or an end: "since", "until", "before"."""
    lead = _LEAD.match(plain, start, end)
    core = lead.end() if lead else start
    before = plain[max(0, core - _LONGEST_CUE) : core]
    found = next((name for name, cue in _CUES if cue.search(before)), "")
    return found or ("since" if _INCLUDED.match(plain, end) else "")


_LONGEST_CUE = 40  # characters
_INCLUDED = lazy.regex(r",? (?:included|inclusive|incluid[oa]|inclusive)(?!\w)")
_CUES = (("before", BEFORE), ("until", UNTIL), ("since", SINCE))
_LEAD = lazy.regex(
    r"[ ,]*(?:(?:del|de|al|a|el|la|las|los|the|on|at|by|until|till|til|before|from|hasta|antes|desde|para|starting"
    r"|since|a partir de) )+"
)
