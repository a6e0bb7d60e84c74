"""A year of two hundred reminders on a clock that a test moves: each comes as often as the calendar says."""

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import cast
from zoneinfo import ZoneInfo

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.delivery import ReminderDelivery
from kenobot.agenda.job import NewJob, Place
from kenobot.core.bus import Bus
from kenobot.gateway.access import Access, Roster
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.gateway.delivery import Delivery
from kenobot.language.when.meaning import Moment, Recurrence
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Outbox
from kenobot_testing.clock import ManualClock
from kenobot_testing.fake_channel import FakeChannel
from tests.property.agenda.oracle import Plan

_MADRID = ZoneInfo("Europe/Madrid")
_BEGIN, _END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
_PLACE = Place("fake", "1", "", True, "es", "owner", "owner")


def _year(rng: Random) -> list[tuple[Moment | Recurrence, int]]:
    """Make two hundred reminders, each with how often it comes in the year."""
    made: list[tuple[Moment | Recurrence, int]] = []
    first, last = datetime.combine(date(2026, 1, 1), time(1)), datetime.combine(date(2027, 1, 1), time(0, 59))
    for number in range(200):
        hour = time(rng.randrange(24), rng.choice([0, 15, 30]))
        start = datetime.combine(date(2026, 1, 1), hour)
        if number < 3:
            plan = Plan((hour,), frozenset(range(7)), start.date())
            made.append((Recurrence(plan.rule, start), len(list(plan.instances(first, last)))))
        elif number < 30:
            plan = Plan((hour,), frozenset({number % 7}), start.date())
            rule = plan.rule if number % 2 else plan.cron
            made.append((Recurrence(rule, start), len(list(plan.instances(first, last)))))
        elif number < 140:
            made.append((Recurrence("FREQ=MONTHLY;BYMONTHDAY=-1", start), 12))
        else:
            day = datetime.combine(date(2026, 1, 2) + timedelta(days=rng.randrange(360)), hour)
            made.append((Moment(day), 1))
    return made


def test_a_year_of_two_hundred_reminders(connection: Connection) -> None:
    """The bot looks only when something is due; both nights of changed clocks are among its days."""
    clock = ManualClock(_BEGIN)
    channels = {"fake": FakeChannel()}
    database = cast("Database", None)  # nothing is sent
    outbox = Outbox(database, clock)
    delivery = Delivery(channels, outbox, Bus(clock), clock, Random(1))
    messenger = BotMessenger(database, clock, channels, delivery)
    access = Access({"fake": Roster.of(["1"])})
    reminders = ReminderDelivery(database, clock, _MADRID, messenger, access)
    connection.execute("BEGIN")
    expected = {
        jobs.add_job(connection, NewJob(f"{number}", _PLACE, meaning), _MADRID, _BEGIN).id: often
        for number, (meaning, often) in enumerate(_year(Random(37)))
    }
    next_due = "SELECT min(next_due) FROM job WHERE state = 'active' AND next_due != ''"
    while (due := connection.execute(next_due).fetchone()[0]) < job_rows.stamp(_END):
        clock._now = datetime.fromisoformat(due)
        reminders.tell(connection, clock.now(), ("fake",), was_set_back=False)
    told = Counter(job for (job,) in connection.execute("SELECT job FROM occurrence WHERE state = 'sent'"))
    assert dict(told) == expected
    assert connection.execute("SELECT count(*) FROM outbox").fetchone() == (sum(expected.values()),)
    assert connection.execute("SELECT max(covers) FROM occurrence").fetchone() == (1,)
