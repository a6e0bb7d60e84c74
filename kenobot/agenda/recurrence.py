"""Recurrences: RRULEs of RFC 5545 and cron lines, expanded in naive local time and converted to UTC. Pure.

A local time that a zone skips in spring is taken as the first moment after the gap; one that comes twice in autumn, as
the first of both. Only rules by the hour or the minute count both.
"""

import functools
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from kenobot.ports.sentences import Sentence

if TYPE_CHECKING:
    from dateutil.rrule import rrule

CRON = "cron:"
"""Stands before a cron line."""

_STEPS: Final = {
    "MINUTELY": timedelta(minutes=1),
    "HOURLY": timedelta(hours=1),
    "DAILY": timedelta(days=1),
    "WEEKLY": timedelta(weeks=1),
}
_BY_CALENDAR: Final = frozenset({"MONTHLY", "YEARLY"})
_PARTS: Final = frozenset(
    "FREQ INTERVAL COUNT UNTIL WKST BYMONTH BYMONTHDAY BYDAY BYHOUR BYMINUTE BYSECOND "
    "BYSETPOS BYYEARDAY BYWEEKNO".split()
)
_WINDOWS = tuple(timedelta(days=days) for days in (0.1, 2, 60, 800, 40_000))  # tried in turn
_LONGEST_RULE = 300
_MOST_COUNT = 10_000
_LONGEST_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LAST_YEAR = 9990


class RuleError(ValueError):
    """A recurrence cannot be read, or never comes."""


def check_rule(rule: str, start: datetime, zone: ZoneInfo) -> None:
    """Raise RuleError for a rule that cannot be read, or has no instance from `start` on."""
    if next(instances(rule, start, zone, start - timedelta(seconds=1)), None) is None:
        raise RuleError(Sentence("recurrence.no_such_day"))


def to_utc(local: datetime, zone: ZoneInfo, *, second: bool = False) -> datetime:
    """Convert a naive local time to UTC. second: take the later one of a time that comes twice."""
    moment = local.replace(tzinfo=zone, fold=1 if second else 0).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == local:
        return moment
    return _gap_end(local, zone)


def to_local(moment: datetime, zone: ZoneInfo) -> datetime:
    """Convert an aware moment to naive local time."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _gap_end(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment at which the clocks skip over `local`."""
    # By the offset before the gap it lies after it, by the one after it before it: the clocks change in between.
    early = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    late = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    before = early.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + (late - early) // 2
        if middle.astimezone(zone).utcoffset() == before:
            early = middle
        else:
            late = middle
    return late.replace(microsecond=0)


def next_due(rule: str, start_local: datetime, zone: ZoneInfo, after: datetime) -> datetime | None:
    """Return the first moment of a recurrence later than `after`, in UTC; None without. rule: '' for once."""
    found = next_instance(rule, start_local, zone, after)
    return None if found is None else found[1]


def next_instance(
    rule: str, start_local: datetime, zone: ZoneInfo, after: datetime
) -> tuple[datetime, datetime] | None:
    """Return the first instance whose moment is later than `after`, as its local time and its moment."""
    begin = to_local(after, zone) - timedelta(hours=3)  # of two clock changes, none is longer
    found = []
    for second in (False, True) if is_by_the_hour(rule) else (False,):
        for local in instances(rule, start_local, zone, begin):
            if (moment := to_utc(local, zone, second=second)) > after:
                found.append((local, moment))
                break
    return min(found, key=lambda each: each[1], default=None)


def latest_instance(
    rule: str, start_local: datetime, zone: ZoneInfo, now: datetime
) -> tuple[datetime, datetime] | None:
    """Return the last instance whose moment is not later than `now`, as its local time and its moment."""
    local_now = to_local(now, zone)
    for window in _WINDOWS:
        begin = max(local_now - window, start_local - timedelta(seconds=1))
        last = None
        for local in instances(rule, start_local, zone, begin):
            if (moment := to_utc(local, zone)) > now:
                break
            last = (local, moment)
        if last is not None or begin < start_local:
            return last
    return None


def count_between(
    rule: str, start_local: datetime, zone: ZoneInfo, after: datetime, through: datetime, most: int
) -> int:
    """Count the instances later than `after` up to and with `through`, both local times, at most so many."""
    if through <= after:
        return 0
    times = itertools.islice(instances(rule, start_local, zone, after), most)
    return sum(1 for _ in itertools.takewhile(lambda local: local <= through, times))


def list_moments_between(
    rule: str, start_local: datetime, zone: ZoneInfo, begin: datetime, end: datetime, most: int = 1000
) -> list[datetime]:
    """Return the moments of a recurrence from `begin` up to and without `end`, in UTC, at most so many."""
    found: list[datetime] = []
    after = begin - timedelta(microseconds=1)
    while len(found) < most and (due := next_due(rule, start_local, zone, after)) is not None and due < end:
        found.append(after := due)
    return found


def instances(rule: str, start: datetime, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the naive local times of a recurrence later than the local time `after`, in order. Raises RuleError."""
    if not rule:
        return iter((start,) if start > after else ())
    if rule.startswith(CRON):
        begin = max(start - timedelta(seconds=1), after).replace(microsecond=0)
        return _cron_times(rule.removeprefix(CRON), begin)
    found = _rrule(rule, _skip_ahead(_parse(rule), start, after), zone)
    return itertools.dropwhile(lambda each: each <= after, _expand(found))


def is_by_the_hour(rule: str) -> bool:
    """Return whether a recurrence counts hours or minutes, so that an hour that comes twice counts twice."""
    if rule.startswith(CRON):
        fields = rule.removeprefix(CRON).split()
        return any(field.startswith("*") for field in fields[:2])
    return bool(rule) and _parse(rule)["FREQ"] in ("HOURLY", "MINUTELY")


def is_cron_line(line: str) -> bool:
    """Return whether `line` is a cron line of five fields that names a time which exists."""
    try:
        next(_cron_times(line, datetime.fromisoformat("2026-01-01")))
    except (RuleError, StopIteration):
        return False
    return True


def _expand(found: "rrule") -> Iterator[datetime]:
    try:
        for local in found:
            if local.year > _LAST_YEAR:
                return
            yield local
    except (ValueError, TypeError) as error:  # a combination whose emptiness shows only here
        raise RuleError(Sentence("recurrence.never")) from error


def _cron_times(line: str, after: datetime) -> Iterator[datetime]:
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - most homes have no rule

    if len(line.split()) != 5:
        raise RuleError(Sentence("recurrence.five_fields"))
    try:
        return CronSim(line, after)
    except CronSimError as error:
        raise RuleError(str(error)) from error


@functools.lru_cache(512)
def _parse(rule: str) -> dict[str, str]:
    """Split an RRULE into its parts, and check what would take forever to expand. Raises RuleError."""
    if len(rule) > _LONGEST_RULE or "\n" in rule:
        raise RuleError(Sentence("recurrence.too_long"))
    pairs = [part.partition("=") for part in rule.upper().removeprefix("RRULE:").strip(";").split(";")]
    parts = {name.strip(): value.strip() for name, _, value in pairs}
    unknown = parts.keys() - _PARTS
    if unknown:
        raise RuleError(Sentence("recurrence.unknown_part", names=", ".join(sorted(unknown))))
    if not all(parts.values()):
        raise RuleError(Sentence("recurrence.no_value"))
    if parts.get("FREQ") not in {*_STEPS, *_BY_CALENDAR}:
        raise RuleError(Sentence("recurrence.bad_frequency"))
    _check_parts(parts)
    return parts


def _check_parts(parts: dict[str, str]) -> None:
    frequency = parts["FREQ"]
    if "BYSETPOS" in parts and frequency not in _BY_CALENDAR:
        raise RuleError(Sentence("recurrence.position_of_months"))
    if ("BYYEARDAY" in parts or "BYWEEKNO" in parts) and frequency != "YEARLY":
        raise RuleError(Sentence("recurrence.days_of_years"))
    if ("BYMONTH" in parts or "BYMONTHDAY" in parts) and frequency in ("HOURLY", "MINUTELY"):
        raise RuleError(Sentence("recurrence.days_of_months"))
    if frequency not in _BY_CALENDAR and "BYDAY" in parts and any(map(str.isdecimal, parts["BYDAY"])):
        raise RuleError(Sentence("recurrence.numbered_days"))
    if not all(0 < _number(parts.get(name, "1")) <= _MOST_COUNT for name in ("INTERVAL", "COUNT")):
        raise RuleError(Sentence("recurrence.bad_count", most=_MOST_COUNT))
    for name, most in (("BYHOUR", 23), ("BYMINUTE", 59), ("BYSECOND", 59)):
        if not all(0 <= _number(each) <= most for each in parts.get(name, "0").split(",")):
            raise RuleError(Sentence("recurrence.bad_time", name=name, most=most))
    months = [_number(each) for each in parts.get("BYMONTH", "").split(",") if each] or range(1, 13)
    days = [abs(_number(each)) for each in parts.get("BYMONTHDAY", "1").split(",")]
    if not all(1 <= month <= 12 for month in months) or min(days) > max(_LONGEST_MONTH[each - 1] for each in months):
        raise RuleError(Sentence("recurrence.no_such_day"))


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RuleError(Sentence("recurrence.no_number", text=text)) from None


def _skip_ahead(parts: dict[str, str], start: datetime, after: datetime) -> datetime:
    """Return a later start with the same instances after `after`, so that years gone by need not be counted through."""
    step = _STEPS.get(parts["FREQ"])
    if step is None or "COUNT" in parts or after <= start:
        return start
    step *= _number(parts.get("INTERVAL", "1"))
    return start + max(0, (after - start) // step - 1) * step


def _rrule(rule: str, start: datetime, zone: ZoneInfo) -> "rrule":
    from dateutil.rrule import rrule, rrulestr  # noqa: PLC0415 - most homes have no rule

    parts = dict(_parse(rule))
    if "UNTIL" in parts:
        parts["UNTIL"] = _local_until(parts["UNTIL"], zone)
    try:
        found = rrulestr(";".join(f"{name}={value}" for name, value in parts.items()), dtstart=start)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise RuleError(str(error)) from error
    assert isinstance(found, rrule)
    return found


def _local_until(until: str, zone: ZoneInfo) -> str:
    """Write UNTIL as a naive local time: RFC 5545 gives it in UTC where the start has a zone, a day counts whole."""
    if until.endswith("Z"):
        try:
            moment = datetime.strptime(until, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError as error:
            raise RuleError(str(error)) from error
        return f"{to_local(moment, zone):%Y%m%dT%H%M%S}"
    return until if "T" in until else f"{until}T235959"
