"""Reminders over kills, downtime, clocks that are set, nights of changed clocks, and journeys: none lost or doubled.

Each round of the delivery is compared with what a plain oracle says is due.
"""

from datetime import UTC, datetime, time, timedelta
from random import Random
from typing import cast
from zoneinfo import ZoneInfo

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.delivery import ReminderDelivery
from kenobot.agenda.job import Job, NewJob, Place
from kenobot.agenda.zones import set_zone, zone_in_force
from kenobot.core.bus import Bus
from kenobot.gateway.access import Access, Roster
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.gateway.delivery import Delivery
from kenobot.language.when.meaning import Moment, Recurrence
from kenobot.storage.database import Database
from kenobot.storage.outbox import Outbox
from kenobot_testing.clock import ManualClock
from kenobot_testing.fake_channel import FakeChannel
from tests.memory_rows import new_memory
from tests.property.agenda.oracle import Expected, Plan, moment_of
from tests.property.effort import effort

HOME = ZoneInfo("Europe/Madrid")
_ZONES = ["Europe/Madrid", "America/Mexico_City", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "UTC"]
_PLACE = Place("fake", "1", "", True, "en", "owner", "owner")
_STARTS = [  # before nights in which clocks change, and a quiet one
    datetime(2026, 10, 23, 12, tzinfo=UTC),
    datetime(2027, 3, 26, 12, tzinfo=UTC),
    datetime(2026, 11, 29, 9, tzinfo=UTC),
]
_HOURS = st.lists(st.integers(0, 23), min_size=1, max_size=3, unique=True)
_SPANS = st.sampled_from([1, 5, 30, 60, 90, 300, 720, 1440, 4000, 20_000])  # minutes
_WEEK = st.frozensets(st.integers(0, 6), max_size=7)


class Reminders(RuleBasedStateMachine):
    """A bot whose clock, zone and life are at the mercy of Hypothesis."""

    def __init__(self) -> None:
        super().__init__()
        self.connection = new_memory()
        self.clock = ManualClock(_STARTS[0])
        self.expected: dict[int, Expected] = {}
        self.boot()

    def teardown(self) -> None:
        self.connection.close()

    def boot(self) -> None:
        """Begin another life of the bot, with nothing in mind."""
        channels = {"fake": FakeChannel()}
        database = cast("Database", None)  # nothing is sent
        outbox = Outbox(database, self.clock)
        delivery = Delivery(channels, outbox, Bus(self.clock), self.clock, Random(1))
        messenger = BotMessenger(database, self.clock, channels, delivery)
        access = Access({"fake": Roster.of(["1"])})
        self.reminders = ReminderDelivery(database, self.clock, HOME, messenger, access)

    @property
    def now(self) -> datetime:
        return self.clock.now().replace(microsecond=0)

    @property
    def zone(self) -> ZoneInfo:
        return zone_in_force(self.connection, HOME, self.now)

    def local(self, zone: ZoneInfo | None = None) -> datetime:
        return self.now.astimezone(zone or self.zone).replace(tzinfo=None, fold=0)

    def job(self, number: int) -> Job:
        found = job_rows.get_job(self.connection, number)
        assert found is not None
        return found

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────

    @initialize(start=st.sampled_from(_STARTS))
    def begin(self, start: datetime) -> None:
        self.clock._now = start
        self.look()

    @rule(
        hours=_HOURS, minute=st.sampled_from([0, 10, 30]), weekdays=_WEEK, days=st.integers(0, 3),
        zone=st.sampled_from(["", "", "", *_ZONES]), by_cron=st.booleans(),
    )  # fmt: skip
    def add(
        self, hours: list[int], minute: int, weekdays: frozenset[int], days: int, zone: str, *, by_cron: bool
    ) -> None:
        here = self.local(ZoneInfo(zone) if zone else None)
        times = tuple(time(hour, minute) for hour in sorted(hours if weekdays else hours[:1]))
        plan = Plan(times, weekdays, (here + timedelta(days=days)).date())
        meaning: Moment | Recurrence
        start = datetime.combine(plan.first, time(0, 0) if weekdays else times[0])
        if weekdays:
            meaning = Recurrence(plan.cron if by_cron else plan.rule, start)
        elif moment_of(start, ZoneInfo(zone) if zone else self.zone) <= self.now:
            return
        else:
            meaning = Moment(start)
        job = jobs.add_job(self.connection, NewJob("x", _PLACE, meaning, zone), self.zone, self.now)
        floor = here if weekdays else start - timedelta(minutes=1)
        self.expected[job.id] = Expected(plan, ZoneInfo(zone) if zone else None, floor)

    @rule(minutes=_SPANS)
    def pass_time(self, minutes: int) -> None:
        self.clock._now += timedelta(minutes=minutes)
        self.look()

    @rule(minutes=_SPANS)
    def be_down(self, minutes: int) -> None:
        self.clock._now += timedelta(minutes=minutes)
        self.boot()
        self.look()

    @rule(minutes=_SPANS)
    def die_while_telling(self, minutes: int) -> None:
        """Nothing of a transaction that is not committed stays."""
        self.clock._now += timedelta(minutes=minutes)
        self.connection.execute("BEGIN")
        self.reminders.tell(self.connection, self.now, ("fake",), was_set_back=False)
        self.connection.execute("ROLLBACK")
        self.boot()
        self.look()

    @rule(minutes=_SPANS, restarts=st.booleans())
    def set_back(self, minutes: int, *, restarts: bool) -> None:
        """The clock was wrong: noticed while the bot runs, and after a restart if anything was told before."""
        if restarts:
            self.boot()
        self.clock._now -= timedelta(minutes=minutes)
        self.look()

    @rule(name=st.sampled_from(_ZONES))
    def travel(self, name: str) -> None:
        set_zone(self.connection, ZoneInfo(name), HOME, self.now)
        self.look()

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), minutes=st.sampled_from([10, 60, 1440]))
    def snooze(self, data: st.DataObject, minutes: int) -> None:
        number = data.draw(st.sampled_from(sorted(self.expected)))
        each, told = self.expected[number], job_rows.last_told(self.connection, number)
        if told is None or each.state == "cancelled":
            return
        before = {found.due for found in job_rows.waiting_occurrences(self.connection, number)}
        jobs.snooze(self.connection, told.id, self.now + timedelta(minutes=minutes), self.now)
        after = {found.due for found in job_rows.waiting_occurrences(self.connection, number)}
        assert len(after - before) <= 1
        each.snoozed = after

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def skip(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.expected)))
        job, each = self.job(number), self.expected[number]
        if job.state != "active" or job.next_due is None:
            return
        if job.next_due == job.planned_due:
            each.settled.add(datetime.fromisoformat(job.planned))
        each.snoozed.discard(job.next_due)
        jobs.skip_next(self.connection, job, self.zone, self.now)

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def pause_or_resume(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.expected)))
        job, each = self.job(number), self.expected[number]
        if job.state == "active":
            jobs.pause_job(self.connection, job, self.now)
            each.state = "paused"
        elif job.state == "paused" and (job.rule or (job.next_due is not None and job.next_due > self.now)):
            jobs.resume_job(self.connection, job, self.zone, self.now)
            each.state = "active"
            each.snoozed = {due for due in each.snoozed if due > self.now}
            if job.rule:
                each.floor = max(each.floor, self.local(each.zone))

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), minutes=_SPANS)
    def move(self, data: st.DataObject, minutes: int) -> None:
        """One for once goes to another time, told or not; of a recurring one the next instance alone."""
        number = data.draw(st.sampled_from(sorted(self.expected)))
        job, each = self.job(number), self.expected[number]
        if job.state != "active" and (job.rule or job.state != "done"):
            return
        start = self.local(each.zone) + timedelta(minutes=minutes + 1)
        start = start.replace(second=0)
        if (due := moment_of(start, each.zone or self.zone)) <= self.now:
            return
        jobs.move_job(self.connection, job, Moment(start), self.zone, self.now)
        if job.rule:
            if job.next_due is not None and job.next_due == job.planned_due:
                each.settled.add(datetime.fromisoformat(job.planned))
            each.snoozed.discard(job.next_due or due)
            each.snoozed |= {found.due for found in job_rows.waiting_occurrences(self.connection, number)}
        else:
            each.plan, each.floor = Plan((start.time(),), frozenset(), start.date()), start - timedelta(minutes=1)
            each.settled, each.stood_for, each.snoozed = set(), set(), set()

    @precondition(lambda self: len(self.expected) > 2)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.expected)))
        if self.job(number).state != "cancelled":
            jobs.cancel_job(self.connection, self.job(number), self.now)
            self.expected[number].state = "cancelled"

    # ── what is told ─────────────────────────────────────────────────────────────────────────────────────────────

    def look(self) -> None:
        """Have the bot look at the clock, and compare what it tells with what is due."""
        zone, now = self.zone, self.now
        before = self.reminders.seen or job_rows.newest_moment(self.connection)
        if before is not None and now < before - timedelta(seconds=1):
            for each in self.expected.values():
                each.set_back(zone, now)
        due = {number: (each.pending(zone, now), {at for at in each.snoozed if at <= now})
               for number, each in self.expected.items() if each.state == "active"}  # fmt: skip
        was_set_back, is_due = self.reminders.look(self.connection, now, ("fake",))
        if was_set_back or is_due:
            self.reminders.tell(self.connection, now, ("fake",), was_set_back=was_set_back)
        self.reminders.seen = now
        for number, (instances, snoozed) in due.items():
            each, told = self.expected[number], self.told(number)
            assert told - each.told == (1 if instances or snoozed else 0), (number, instances, snoozed, each)
            each.told = told
            each.snoozed -= snoozed
            each.stood_for |= set(instances)
            for found in job_rows.last_occurrences(self.connection, number, 200):
                if found.planned:
                    each.settled.add(datetime.fromisoformat(found.planned))

    def told(self, number: int) -> int:
        """Count the messages that tell a job."""
        found = self.connection.execute(
            "SELECT count(*) FROM occurrence WHERE job = ? AND told_at != ''", (number,)
        ).fetchone()
        return int(found[0])

    @invariant()
    def each_occurrence_has_one_message(self) -> None:
        """Those of a summary share one; no message tells nothing."""
        told = self.connection.execute("SELECT outbox FROM occurrence WHERE told_at != ''").fetchall()
        sent = self.connection.execute("SELECT id FROM outbox").fetchall()
        assert {row[0] for row in told} == {row[0] for row in sent}

    @invariant()
    def nothing_waits_that_is_due(self) -> None:
        """After a look, whatever is planned lies ahead."""
        if self.reminders.seen == self.now:
            assert not job_rows.due_jobs(self.connection, self.now, ("fake",), 1)


TestReminders = Reminders.TestCase
TestReminders.settings = effort(25, 30)
