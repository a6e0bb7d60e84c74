"""Dates as three numbers, of which a whole file tells which is the day. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from kenobot_importers.talk import AmbiguousDates

_Order = Literal["dmy", "mdy", "ymd"]
_BUDDHIST, _FROM_BUDDHIST = 543, 2400  # years
_CENTURY = 2000


class WrittenDate(NamedTuple):
    """Three numbers in the order in which they stand, and a time of day. dotted: written as 1.5.26."""

    numbers: tuple[int, int, int]
    year_first: bool
    dotted: bool
    time: tuple[int, int, int]


@dataclass(slots=True)
class _Reading:
    """Measure how well an order fits the dates of a file. backwards: how often one is before the one above."""

    order: _Order
    impossible: int = 0
    backwards: int = 0
    last: date | None = None

    def add(self, numbers: tuple[int, int, int], latest: date) -> None:
        """Try it on a date."""
        day = _day(numbers, self.order)
        if day is None or day > latest:
            self.impossible += 1
            return
        self.backwards += self.last is not None and day < self.last
        self.last = day


def find_day_first(dates: Iterable[WrittenDate], now: datetime, told: bool | None = None) -> bool:
    """Find out whether days come before months: by numbers above 12, by the order of the lines, by what is to come.

    told: what a person says, which holds unless only the other order gives days at all. Raises AmbiguousDates.
    """
    readings = [_Reading("dmy"), _Reading("mdy")]
    last: tuple[int, int, int] | None = None
    differ = False
    latest = (now + timedelta(days=1)).date()
    for found in dates:
        if found.year_first or found.dotted or found.numbers == last:
            continue
        last, differ = found.numbers, differ or found.numbers[0] != found.numbers[1]
        for reading in readings:
            reading.add(found.numbers, latest)
    if last is None or not differ:
        return True
    if told is not None:
        chosen, other = readings if told else readings[::-1]
        return told if not chosen.impossible or other.impossible else not told
    days, months = ((reading.impossible, reading.backwards) for reading in readings)
    if days == months:
        raise AmbiguousDates("/".join(map(str, last)))
    return days < months


def to_moment(found: WrittenDate, zone: ZoneInfo, *, day_first: bool) -> datetime | None:
    """Turn a date into a moment in UTC; None when there is no such day."""
    order: _Order = "ymd" if found.year_first else "dmy" if day_first or found.dotted else "mdy"
    day = _day(found.numbers, order)
    if day is None:
        return None
    try:
        return datetime.combine(day, time(*found.time), tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _day(numbers: tuple[int, int, int], order: _Order) -> date | None:
    day, month, year = (numbers[order.index(part)] for part in "dmy")
    year += _CENTURY if year < 100 else 0
    year -= _BUDDHIST if year > _FROM_BUDDHIST else 0
    try:
        return date(year, month, day)
    except ValueError:
        return None
