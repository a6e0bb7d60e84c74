"""When reminders should come, worked out in the plainest way: day by day, and minute by minute over gaps."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Plan:
    """At these times of the day, on these days of the week; without any, once on a day."""

    times: tuple[time, ...]
    weekdays: frozenset[int]
    first: date

    @property
    def rule(self) -> str:
        """The same as an RRULE; "" for once."""
        if not self.weekdays:
            return ""
        days = ",".join("MO TU WE TH FR SA SU".split()[each] for each in sorted(self.weekdays))
        (minute,) = {each.minute for each in self.times}
        hours = ",".join(str(each.hour) for each in self.times)
        return f"FREQ=WEEKLY;BYDAY={days};BYHOUR={hours};BYMINUTE={minute}"

    @property
    def cron(self) -> str:
        """The same as a cron line."""
        (minute,) = {each.minute for each in self.times}
        hours = ",".join(str(each.hour) for each in self.times)
        return f"cron:{minute} {hours} * * {','.join(str((each + 1) % 7) for each in sorted(self.weekdays))}"

    def instances(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the local times after `after`, up to and with `until`."""
        day = max(self.first, after.date()) if self.weekdays else self.first
        while day <= until.date():
            if not self.weekdays or day.weekday() in self.weekdays:
                yield from (local for each in self.times if after < (local := datetime.combine(day, each)) <= until)
            if not self.weekdays:
                return
            day += timedelta(days=1)


@dataclass
class Expected:
    """What is known of a job. floor: local times up to it need not come. settled: those told or left out."""

    plan: Plan
    zone: ZoneInfo | None
    floor: datetime
    settled: set[datetime] = field(default_factory=set)
    stood_for: set[datetime] = field(default_factory=set)
    snoozed: set[datetime] = field(default_factory=set)
    state: str = "active"
    told: int = 0

    def pending(self, zone: ZoneInfo, now: datetime) -> list[datetime]:
        """Return the local times that are due and were not told."""
        zone = self.zone or zone
        until = now.astimezone(zone).replace(tzinfo=None) + timedelta(hours=2)
        return [
            local
            for local in self.plan.instances(self.floor, until)
            if local not in self.settled and local not in self.stood_for and moment_of(local, zone) <= now
        ]

    def set_back(self, zone: ZoneInfo, now: datetime) -> None:
        """Have the local times from now on come again, but for those that were told themselves."""
        if not self.plan.weekdays:
            return
        here = now.astimezone(self.zone or zone).replace(tzinfo=None)
        self.floor = min(self.floor, here)
        self.stood_for = {each for each in self.stood_for if each <= here}


def moment_of(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the first moment that shows a local time, or the first one after a gap that it lies in."""
    while True:
        moment = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None) == local:
            return moment
        local += timedelta(minutes=1)
