"""Compute the recurrence that the pieces of a text mean."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import product

from kenobot.language.dates import MONTHS
from kenobot.language.named_days import NamedDay
from kenobot.language.when.meaning import Meaning, Moment, Recurrence
from kenobot.language.when.moments import at_hour, choose, find_moments, hour_options
from kenobot.language.when.pieces import Bound, HourRange, Pieces
from kenobot.language.when.repeats import ONCE_OR_AGAIN, Repeat
from kenobot.language.when.roles import Roles
from kenobot.language.when.rules import Rule

Times = tuple[tuple[int, int], ...]
_WEEK = frozenset(range(7))
_FORTNIGHT = (14, 15)  # days
_MOST_TIMES = 100  # of a day


def read_recurrence(pieces: Pieces, roles: Roles, now: datetime) -> Meaning | None:
    """Read the recurrence that the pieces mean; None where it is not surely one."""
    merged = _merge(pieces.repeats)
    if merged is None or merged.rule is None:
        return None
    rule = _with_days(merged, pieces, roles)
    if rule is None:
        return None
    if not rule.by_day:
        return _read_interval(merged, rule, pieces, roles, now)
    options = _time_options(merged, pieces, roles)
    if options is None:
        return None
    if rule.freq in ("WEEKLY", "MONTHLY", "YEARLY") and not (rule.days or rule.month_days or roles.since_day):
        return None  # on which day?
    begin = roles.since_day or now.date()
    found = [_build(rule, times, begin, pieces.bounds, roles, now) for times in options]
    if merged.once in (1, 2):
        coming = [each and replace(each, rule=f"{each.rule};COUNT={len(rule.days)}") for each in found]
        found = coming if merged.once == 2 else [*found, *coming]
    if None in found:
        return None
    known = [each for each in found if each]
    if merged.once == ONCE_OR_AGAIN:
        return choose([*(Moment(each.start, each.has_time) for each in known), *known])
    if rule == Rule("DAILY", _FORTNIGHT[1]):  # "cada 15 días" is every two weeks as well
        weekly = replace(rule, freq="WEEKLY", interval=2)
        known += [replace(each, rule=weekly.write()) for each in known if each.rule == rule.write()]
    return choose(known)


def _merge(repeats: Sequence[Repeat]) -> Repeat | None:
    """Join what several words say of one recurrence; None where they say different things."""
    without = tuple(day for repeat in repeats for day in repeat.without)
    said = [repeat for repeat in repeats if not repeat.without]
    if not said or any(repeat.rule is None for repeat in said):
        return None
    first = said[0]
    for other in said[1:]:
        joined = _join(first.rule, other.rule)
        if joined is None or (first.part and other.part and first.part != other.part):
            return None
        first = replace(first, rule=joined, part=first.part or other.part, times=first.times or other.times, once=0)
    return _leave_out(first, without) if without else first


def _join(one: Rule | None, other: Rule | None) -> Rule | None:
    if one is None or other is None:
        return None
    for spaced, weekly in ((one, other), (other, one)):
        if (
            spaced.freq == "DAILY"
            and spaced.interval in _FORTNIGHT
            and weekly.freq == "WEEKLY"
            and weekly.interval == 1
        ):
            return replace(weekly, interval=2)
    if other in (one, Rule("DAILY")):
        return one
    if one == Rule("DAILY"):
        return other
    for fine, coarse in ((one, other), (other, one)):
        if not fine.by_day and coarse.by_day and coarse.interval == 1 and coarse.freq == "WEEKLY":
            return replace(fine, days=coarse.days)
        if fine.freq == "WEEKLY" and fine.days and coarse == Rule("WEEKLY", coarse.interval):
            return replace(fine, interval=max(fine.interval, coarse.interval))
    return None


def _leave_out(repeat: Repeat, without: Sequence[int]) -> Repeat | None:
    rule = repeat.rule
    if rule is None or any(place for _, place in rule.days) or (rule.interval > 1 and rule.by_day):
        return None
    days = {day for day, _ in rule.days} or _WEEK
    left = tuple((day, 0) for day in sorted(days - {*without}))
    freq = "WEEKLY" if rule.freq == "DAILY" else rule.freq
    return replace(repeat, rule=replace(rule, freq=freq, days=left)) if left else None


def _with_days(repeat: Repeat, pieces: Pieces, roles: Roles) -> Rule | None:
    """Return the rule with the days that are said beside it: "every month on the 15th"."""
    rule = repeat.rule
    days = roles.days
    if rule is None:
        return None
    if pieces.nth is not None and rule.freq in ("MONTHLY", "YEARLY") and not days:
        nth = pieces.nth[0]
        return replace(
            rule, days=nth.days, month_days=nth.month_days, setpos=nth.setpos, months=nth.months or rule.months
        )
    if not days:
        return rule
    if rule.days or rule.month_days:
        return None
    if not rule.by_day and all(day.day == roles.now.date() for day in days):
        return rule
    if rule == Rule("DAILY") and len(days) == 1 and days[0].last > days[0].day:
        roles.since_day, roles.until_day = days[0].day, days[0].last
        return rule
    return _put_days(rule, days, pieces, roles)


def _put_days(rule: Rule, days: Sequence[NamedDay], pieces: Pieces, roles: Roles) -> Rule | None:
    """Put days of the calendar that are said beside a rule into it."""
    if rule.freq == "WEEKLY":
        return replace(rule, freq="WEEKLY", days=tuple((day, 0) for day in sorted({day.day.weekday() for day in days})))
    if rule.freq == "DAILY" and rule.interval in _FORTNIGHT and len(days) == 1:
        return replace(rule, freq="WEEKLY", interval=2, days=((days[0].day.weekday(), 0),))
    if rule.freq == "MONTHLY" and any(_names_month(pieces.plain, day) for day in days):
        roles.since_day = days[0].day
        return replace(rule, month_days=(days[0].day.day,)) if len(days) == 1 and rule.interval > 1 else None
    if rule.freq == "MONTHLY":
        return replace(rule, month_days=tuple(dict.fromkeys(day.day.day for day in days)))
    if rule.freq == "YEARLY" and len(days) == 1:
        return replace(rule, months=(days[0].day.month,), month_days=(days[0].day.day,))
    return None


def _names_month(plain: str, named: NamedDay) -> bool:
    return any(word in MONTHS for word in plain[named.start : named.end].split())


def _time_options(repeat: Repeat, pieces: Pieces, roles: Roles) -> list[Times] | None:
    """Return the times of a day that may be meant.

    One row of them, two to be asked, an empty one where no time is said.
    """
    part = roles.part or repeat.part
    clocks = roles.clocks
    if repeat.times:
        if len(clocks) == 1 and repeat.times == 2 and clocks[0].split is not None:
            first = replace(clocks[0], minute=0)
            clocks = [first, replace(first, hour=clocks[0].split, sure=clocks[0].split > 12)]
        if len(clocks) != repeat.times and repeat.rule == Rule("DAILY"):
            return None
        rule = repeat.rule
        said = max(len(roles.days), len(rule.days if rule else ()), len(rule.month_days if rule else ()))
        if rule != Rule("DAILY") and said != repeat.times:
            return None
    if pieces.hours and not clocks:
        clocks = [pieces.hours[0].begin()]
    if any(clock.joined == "o" for clock in clocks):
        return None
    if clocks:
        return hour_options(clocks, part)
    if pieces.same_hour:
        return [((roles.now.hour, roles.now.minute),)]
    if not part and not pieces.parts:
        return [()]
    hour = roles.part_hour or _DEFAULTS.get(part, "")
    return [((int(hour[:2]), int(hour[3:])),)] if hour else None


_DEFAULTS = {"morning": "09:00", "afternoon": "16:00", "evening": "19:00", "night": "21:00"}


def _build(
    rule: Rule, times: Times, begin: date, bounds: Sequence[Bound], roles: Roles, now: datetime
) -> Recurrence | None:
    rule = with_times(rule, times)
    start = _find_start(rule, times, begin, now)
    if start is None:
        return None
    bounded = _with_bounds(rule, start, bounds, roles, now)
    return Recurrence(bounded.write(), start, bool(times)) if bounded else None


def _find_start(rule: Rule, times: Times, begin: date, now: datetime) -> datetime | None:
    """Find the first moment of a rule that is not over."""
    for _ in range(2):  # the times of its first day may be over
        day = rule.find_first_day(begin)
        if day is None:
            return None
        moments = (at_hour(day, hour, minute) for hour, minute in sorted(times) or ((0, 0),))
        start = next((moment for moment in moments if moment >= now), None)
        if start is not None:
            return start
        begin = day + timedelta(days=1)
    return None


def with_times(rule: Rule, times: Times) -> Rule:
    """Put the times of a day into a rule; one alone is told by its start."""
    if len(times) < 2:
        return rule
    times = tuple(sorted(times))
    hours, minutes = (tuple(sorted({time[place] for time in times})) for place in (0, 1))
    grid = list(product(hours, minutes))
    places = tuple(number for number, time in enumerate(grid, 1) if time in times)
    if len(places) == len(grid):
        return replace(rule, hours=hours, minutes=minutes)
    freq = "DAILY" if rule.freq == "WEEKLY" and rule.interval == 1 else rule.freq
    return replace(rule, freq=freq, hours=hours, minutes=minutes, time_setpos=places)


def _with_bounds(rule: Rule, start: datetime, bounds: Sequence[Bound], roles: Roles, now: datetime) -> Rule | None:
    until = _read_until(roles, start, rule)
    for bound in bounds:
        if bound.unit == "times":
            rule = replace(rule, count=bound.count)
        else:
            end = _end_of(bound, start if rule.by_day else now, now)
            until = min(until, end) if until and end else until or end
            if end is None:
                return None
    return None if until and until < start else replace(rule, until=until)


def _read_until(roles: Roles, start: datetime, rule: Rule) -> datetime | None:
    if roles.until_day is not None:
        end = datetime.combine(roles.until_day, time(23, 59, 59))
        if not rule.by_day and roles.until_clock is not None:
            ends = find_moments(roles.until_day, roles.until_clock, "", start)
            return ends[0] if len(ends) == 1 else start - _MOMENT
        return end - timedelta(days=1) if roles.until_excluded else end
    return None


_MOMENT = timedelta(seconds=1)
_LENGTHS = {"day": 1, "dia": 1, "wee": 7, "wk": 7, "sem": 7, "for": 14, "qui": 15}


def _end_of(bound: Bound, start: datetime, now: datetime) -> datetime | None:
    """Return the last moment of a length of time that begins at the start."""
    unit = bound.unit.removeprefix("this ")
    if bound.unit.startswith("this "):
        if unit in ("week", "semana"):
            return datetime.combine(now.date() + timedelta(days=6 - now.weekday()), time(23, 59, 59))
        following = (now.replace(day=1) + timedelta(days=32)).replace(day=1)
        return datetime.combine(following.date(), time()) - timedelta(seconds=1)
    if unit[0] == "h":
        return start + timedelta(hours=bound.count)
    if unit.startswith("min"):
        return start + timedelta(minutes=bound.count)
    if unit.startswith(("month", "mes", "year", "año")):
        months = bound.count * (1 if unit[0] == "m" else 12) + start.month - 1
        first = start.replace(year=start.year + months // 12, month=months % 12 + 1, day=1)
        return first + timedelta(days=start.day - 1) - _MOMENT
    days = next((days for name, days in _LENGTHS.items() if unit.startswith(name) and not unit.startswith("semes")), 0)
    return start + timedelta(days=days * bound.count) - _MOMENT if days else None


# ── hours and minutes apart ───────────────────────────────────────────────────────────────────────────────────────


def _read_interval(repeat: Repeat, rule: Rule, pieces: Pieces, roles: Roles, now: datetime) -> Meaning | None:
    """Read "every 2 hours", counted from now or from a time, until another, or between two of each day."""
    step = timedelta(hours=rule.interval) if rule.freq == "HOURLY" else timedelta(minutes=rule.interval)
    if pieces.hours:
        return _read_hours(rule, pieces.hours[0], step, pieces, roles, now)
    begin = now.replace(second=0, microsecond=0)
    if roles.since_clock is not None or len(roles.clocks) == 1:
        clock = roles.since_clock or roles.clocks[0]
        starts = find_moments(roles.since_day, clock, roles.part, now)
    elif roles.since_day is not None and roles.since_day > now.date():
        return None
    else:
        starts = [begin + step]
    if roles.clocks[1:] or any(day.day != now.date() for day in roles.days) or len(starts) != 1:
        return None
    start = starts[0].replace(minute=0) if repeat.part == "whole" else starts[0]
    bounded = _with_bounds(
        rule, start, pieces.bounds, roles, start if roles.since_clock or start > begin + step else now
    )
    if bounded is None or rule.days:
        return None
    if roles.until_clock is not None and roles.until_day is None:
        ends = find_moments(None, roles.until_clock, "", start)
        if len(ends) > 1:
            ends = [end for end in ends if end.date() == start.date()][-1:]
        if len(ends) != 1 or ends[0].date() > start.date() + timedelta(days=1):
            return None
        bounded = replace(bounded, until=ends[0])
    return Recurrence(bounded.write(), start)


def _read_hours(
    rule: Rule, hours: HourRange, step: timedelta, pieces: Pieces, roles: Roles, now: datetime
) -> Meaning | None:
    """Read "every hour from 9 to 17"."""
    if roles.clocks:
        return None
    first = hours.first.hours_of("")[0] * 60 + hours.first.minute
    last = next(
        (each for hour in hours.last.hours_of("") if (each := hour * 60 + hours.last.minute) > first),
        None,
    )
    if last is None or last >= 24 * 60 + 1:
        return None
    minutes = range(first, min(last, 24 * 60 - 1) + 1, int(step.total_seconds() // 60))
    times = tuple(divmod(minute, 60) for minute in minutes)
    if len(times) > _MOST_TIMES:
        return None
    daily = Rule("WEEKLY" if rule.days else "DAILY", days=rule.days)
    return _build(daily, times, roles.since_day or now.date(), pieces.bounds, roles, now)
