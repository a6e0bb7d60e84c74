"""Write rules of recurrences as RFC 5545 says, and find their first days."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from kenobot.ports.frozen import dataclass

DAY_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_MOST_DAYS = 366 * 9  # ahead in which the first day of a rule is looked for: February 29


@dataclass(frozen=True, slots=True)
class Rule:
    """The parts of a recurrence rule.

    days: days of the week, each with its place among those of the period, 0 for any. setpos: the places of the days
    that count, among those of the period. clock: hours and minutes of the day.
    """

    freq: str = "DAILY"
    interval: int = 1
    months: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    days: tuple[tuple[int, int], ...] = ()
    setpos: tuple[int, ...] = ()
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    time_setpos: tuple[int, ...] = ()
    count: int = 0
    until: datetime | None = None

    @property
    def by_day(self) -> bool:
        """Return whether it counts in days or longer."""
        return self.freq not in ("HOURLY", "MINUTELY")

    def write(self) -> str:
        """Write the rule as the value of an RRULE."""
        pieces = [f"FREQ={self.freq}"]
        if self.interval > 1:
            pieces.append(f"INTERVAL={self.interval}")
        named = {
            "BYMONTH": self.months,
            "BYMONTHDAY": self.month_days,
            "BYDAY": tuple(f"{place or ''}{DAY_CODES[day]}" for day, place in self.days),
            "BYHOUR": self.hours,
            "BYMINUTE": self.minutes,
            "BYSETPOS": self.setpos or self.time_setpos,
        }
        pieces += [f"{name}={','.join(map(str, values))}" for name, values in named.items() if values]
        if self.count:
            pieces.append(f"COUNT={self.count}")
        if self.until:
            pieces.append(f"UNTIL={self.until:%Y%m%dT%H%M%S}")
        return ";".join(pieces)

    def find_first_day(self, begin: date) -> date | None:
        """Find the first day on or after one that the rule may fall on."""
        days = (begin + timedelta(days=ahead) for ahead in range(_MOST_DAYS))
        return next((day for day in days if self.fits(day)), None)

    def fits(self, day: date) -> bool:
        """Return whether a day is one of the rule, leaving its interval aside."""
        if self.months and day.month not in self.months:
            return False
        last = monthrange(day.year, day.month)[1]
        if self.month_days and not {day.day, day.day - last - 1} & {*self.month_days}:
            return False
        if self.setpos:
            month = [each for each in _month(day) if self._is_weekday(each)]
            places = {month[place - 1 if place > 0 else place] for place in self.setpos if abs(place) <= len(month)}
            return day in places
        return self._is_weekday(day)

    def _is_weekday(self, day: date) -> bool:
        return not self.days or any(_is_nth(day, weekday, place) for weekday, place in self.days)


def _month(day: date) -> Iterator[date]:
    return (day.replace(day=number) for number in range(1, monthrange(day.year, day.month)[1] + 1))


def _is_nth(day: date, weekday: int, place: int) -> bool:
    if day.weekday() != weekday:
        return False
    last = monthrange(day.year, day.month)[1]
    return place in (0, (day.day - 1) // 7 + 1, -((last - day.day) // 7 + 1))


def parse_rule(text: str) -> Rule:
    """Parse a rule of the tables: its frequency, interval and days of the week."""
    said = dict(piece.split("=") for piece in text.split(";"))
    days = tuple((DAY_CODES.index(code), 0) for code in said.get("BYDAY", "").split(",") if code)
    return Rule(said["FREQ"], int(said.get("INTERVAL", 1)), days=days)
