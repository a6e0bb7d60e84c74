"""Compute the moments that days and times of a day may mean."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta

from kenobot.language.clock_times import ClockTime
from kenobot.language.when.meaning import Choice, Meaning, Moment, Recurrence

_MOST_OPTIONS = 3
_EARLIEST, _LATEST = 7, 11  # hours that are rather of the morning where nothing else is said
_NOON = 12  # from then on "at 12" may be midnight


def at_hour(day: date, hour: int, minute: int = 0) -> datetime:
    """Return a time of a day; its hour may be one of the day after, from 24."""
    return datetime.combine(day, time()) + timedelta(hours=hour, minutes=minute)


def find_moments(day: date | None, clock: ClockTime, part: str, now: datetime) -> list[datetime]:
    """Find what a time of a day means, on a day or where none is said: one moment, two to be asked, or none."""
    hours = clock.hours_of(part)
    if day is not None and day < now.date():
        return []
    if day is not None and day > now.date():
        if hours[0] >= 24:  # of the night before it, or after it
            return [at_hour(day, hours[0] - 24, clock.minute), at_hour(day, hours[0], clock.minute)]
        return _choose_likely([at_hour(day, hour, clock.minute) for hour in hours], hours)
    early = [hour - 24 for hour in hours if hour >= 24 and now.hour < hour - 24]
    today = [at_hour(now.date(), hour, clock.minute) for hour in (*early, *hours)]
    ahead = [moment for moment in today if moment > now]
    if ahead:
        return ahead[:1] if early else _choose_likely(ahead, hours)
    if day is not None:
        return []
    tomorrow = now.date() + timedelta(days=1)
    if clock.hour == 12 and not (clock.sure or clock.part or part) and now.hour >= _NOON:
        return [at_hour(tomorrow, 0, clock.minute), at_hour(tomorrow, 12, clock.minute)]
    return _choose_likely([at_hour(tomorrow, hour, clock.minute) for hour in hours], hours)


def _choose_likely(moments: list[datetime], hours: Sequence[int]) -> list[datetime]:
    """Return the moments, or only the first, which is of the morning, where that is what people mean."""
    return moments[:1] if _EARLIEST <= hours[0] <= _LATEST else moments


def hour_options(clocks: Sequence[ClockTime], part: str) -> list[tuple[tuple[int, int], ...]]:
    """Find the hours and minutes that times of a day mean on any day: one row of them, or two to be asked."""
    options: list[tuple[tuple[int, int], ...]] = []
    first = clocks[0].hours_of(part)
    for hour in first[:1] if _EARLIEST <= first[0] <= _LATEST else first:
        row = [(hour % 24, clocks[0].minute)]
        for clock in clocks[1:]:
            hours = [(each % 24, clock.minute) for each in clock.hours_of(part)]
            row.append(next((each for each in hours if each > row[-1]), hours[0]))
        options.append(tuple(row))
    return options


def choose(options: Iterable[Moment | Recurrence]) -> Meaning | None:
    """Return the one reading there is, a choice between two or three, None for none or more."""
    found = list(options)
    moments = [option for option in found if isinstance(option, Moment)]
    if len(moments) == len(found):
        found = [*sorted(moments, key=lambda moment: moment.at)]
    different = tuple(dict.fromkeys(found))
    if len(different) == 1:
        return different[0]
    return Choice(different) if 1 < len(different) <= _MOST_OPTIONS else None
