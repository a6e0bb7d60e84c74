"""Reminders leave by the outbox when they are due: once each, late ones in few words, to nobody else."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.delivery import ReminderDelivery
from kenobot.agenda.job import Job, MissedPolicy, NewJob, Place
from kenobot.agenda.zones import set_zone
from kenobot.core.bus import Bus
from kenobot.gateway.access import Access, Roster
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.gateway.delivery import Delivery
from kenobot.language.when.meaning import Moment, Recurrence
from kenobot.ports.channel import Capabilities
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Outbox
from kenobot_testing.clock import ManualClock
from kenobot_testing.fake_channel import FakeChannel
from tests.samples import rows, scalar

MADRID, MEXICO = ZoneInfo("Europe/Madrid"), ZoneInfo("America/Mexico_City")
START = datetime(2026, 11, 29, 9, 0, tzinfo=UTC)  # a Sunday, 10:00 in Madrid
PLACE = Place("fake", "1", "", True, "en", "owner", "owner")
GUEST = Place("fake", "2", "", True, "es", "fake:2", "user:fake-2")
ONCE = Moment(datetime.fromisoformat("2026-11-30T08:00"))
DAILY = Recurrence("FREQ=DAILY", datetime.fromisoformat("2026-11-29T08:00"))


class House:
    """Reminders with a real outbox, a channel with buttons, and a clock that a test moves."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = ManualClock(START)
        self.channel = FakeChannel(capabilities=Capabilities(buttons=True))
        self.access = Access({"fake": Roster.of(["1"], ["2"])})
        self.restart()

    def restart(self) -> None:
        channels = {self.channel.name: self.channel}
        outbox = Outbox(self.database, self.clock)
        self.delivery = Delivery(channels, outbox, Bus(self.clock), self.clock, Random(1))
        messenger = BotMessenger(self.database, self.clock, channels, self.delivery)
        self.reminders = ReminderDelivery(self.database, self.clock, MADRID, messenger, self.access)

    async def add(
        self,
        meaning: Moment | Recurrence = ONCE,
        text: str = "call Luis",
        place: Place = PLACE,
        missed: MissedPolicy = "late",
    ) -> Job:
        new = NewJob(text, place, meaning, missed=missed)
        return await self.database.write(lambda c: jobs.add_job(c, new, MADRID, self.clock.now()))

    async def at(self, moment: str) -> list[str]:
        """Let it be so late, in UTC, and return what is told then."""
        before = len(self.channel.sent)
        wanted = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        self.clock._now = wanted
        await self.reminders.tick()
        await self.delivery.queue.wait_idle()
        return [each.part.text for each in self.channel.sent[before:]]

    async def job(self, job: Job) -> Job:
        found = await self.database.read(lambda c: job_rows.get_job(c, job.id))
        assert found is not None
        return found


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    made = House(database)
    yield made
    await made.delivery.queue.stop(0)


async def test_a_reminder_is_told_when_it_is_due_and_once(house: House) -> None:
    """Not before, and not again."""
    job = await house.add()
    assert await house.at("2026-11-30T06:59:59") == []
    assert await house.at("2026-11-30T07:00:00") == ["⏰ call Luis"]
    assert await house.at("2026-11-30T07:00:05") == []
    assert (await house.job(job)).state == "done"
    assert house.channel.sent[0].chat == "1"


async def test_its_buttons_name_the_occurrence(house: House) -> None:
    """A recurring one can be cancelled as well."""
    await house.add()
    await house.add(DAILY, "pill")
    await house.at("2026-11-30T07:00")
    labels = [[button.label for row in each.part.buttons for button in row] for each in house.channel.sent]
    assert labels == [
        ["Done", "In 10 min", "In 1 h", "Tomorrow"],
        ["Done", "In 10 min", "In 1 h", "Tomorrow", "Cancel"],
    ]
    [(choices, owner), *_] = await rows(house.database, "SELECT choices, owner FROM keyboard ORDER BY id")
    assert owner == 1
    assert str(choices).startswith('[["reminder", "done 1"], ["reminder", "snooze 1 10m"]')


async def test_a_guest_hears_in_their_language_and_chat(house: House) -> None:
    """And nobody else may press their buttons."""
    await house.add(place=GUEST, text="llamar a Ana")
    assert await house.at("2026-11-30T09:00") == ["⏰ llamar a Ana\n(previsto: 8:00; no he podido avisarte antes)"]
    assert house.channel.sent[0].chat == "2"
    assert await rows(house.database, "SELECT accounts, owner FROM keyboard") == [('["2"]', 0)]


async def test_who_may_no_longer_talk_here_hears_nothing(house: House) -> None:
    """Their reminders are paused."""
    job = await house.add(place=replace(GUEST, person="fake:3"))
    assert await house.at("2026-11-30T07:00") == []
    assert (await house.job(job)).state == "paused"


async def test_what_was_missed_is_told_late_and_says_so(house: House) -> None:
    """Yesterday's too."""
    await house.add()
    await house.add(Moment(datetime.fromisoformat("2026-12-01T01:00")), "bins")
    assert await house.at("2026-12-01T06:00") == [
        "⏰ call Luis\n(planned for Monday 30 November, 8:00; I could not tell you then)",
        "⏰ bins\n(planned for 1:00; I could not tell you then)",
    ]


async def test_a_recurring_one_that_was_missed_often_is_told_once(house: House) -> None:
    """With how often."""
    job = await house.add(DAILY, "pill")
    assert await house.at("2026-12-03T07:30") == ["⏰ pill\n(planned for 8:00; the 4 last times I could not tell you)"]
    assert await scalar(house.database, "SELECT covers FROM occurrence") == 4
    assert (await house.job(job)).next_due == datetime(2026, 12, 4, 7, tzinfo=UTC)


async def test_much_that_was_missed_comes_as_one_summary_a_chat(house: House) -> None:
    """What was missed a moment ago is told by itself."""
    for number in range(4):
        await house.add(Moment(datetime(2026, 11, 30, 8, number)), f"thing {number}")  # noqa: DTZ001
    await house.add(Moment(datetime.fromisoformat("2026-11-30T11:55")), "soup")
    await house.add(place=GUEST, text="Ana")
    assert sorted(await house.at("2026-11-30T11:00")) == [
        "I could not tell you these reminders in time:\n\n"
        "- thing 0 (8:00)\n- thing 1 (8:01)\n- thing 2 (8:02)\n- thing 3 (8:03)",
        "⏰ Ana\n(previsto: 8:00; no he podido avisarte antes)",
        "⏰ soup\n(planned for 11:55; I could not tell you then)",
    ]
    states = await rows(house.database, "SELECT state, count(*) FROM occurrence GROUP BY state ORDER BY state")
    assert states == [("missed", 4), ("sent", 2)]


async def test_what_helps_no_more_comes_in_a_summary(house: House) -> None:
    """What is a day old, and what its policy says."""
    await house.add()
    await house.add(Moment(datetime.fromisoformat("2026-12-01T08:00")), "news", missed="summary")
    [told] = await house.at("2026-12-01T12:00")
    assert told.splitlines()[2:] == ["- call Luis (Monday 30 November, 8:00)", "- news (8:00)"]


async def test_a_snoozed_one_comes_again(house: House) -> None:
    """With buttons of its own; one of the same moment as the recurrence comes once."""
    job = await house.add(DAILY, "pill")
    await house.at("2026-11-30T07:00")
    tomorrow = datetime(2026, 12, 1, 7, tzinfo=UTC)
    await house.database.write(lambda c: jobs.snooze(c, 1, tomorrow, house.clock.now()))
    assert await house.at("2026-12-01T07:00") == ["⏰ pill"]
    assert await house.at("2026-12-01T07:01") == []
    found = await rows(house.database, "SELECT due, planned, state FROM occurrence ORDER BY due")
    assert found[1] == ("2026-12-01T07:00:00+00:00", "2026-12-01T08:00", "sent")
    assert (await house.job(job)).next_due == datetime(2026, 12, 2, 7, tzinfo=UTC)


async def test_a_clock_set_back_repeats_nothing(house: House) -> None:
    """Neither in this run nor in the next."""
    await house.add(DAILY, "pill")
    assert len(await house.at("2026-11-30T07:00")) == 1
    assert await house.at("2026-11-30T05:00") == []
    assert await house.at("2026-11-30T07:00") == []
    house.restart()
    assert await house.at("2026-11-30T06:00") == []
    assert await house.at("2026-11-30T07:10") == []
    assert await house.at("2026-12-01T07:00") == ["⏰ pill"]


async def test_a_clock_set_forward_by_mistake_loses_nothing(house: House) -> None:
    """Once it is right again, the days in between have their reminders, across a restart as well."""
    await house.add(DAILY, "pill")
    assert len(await house.at("2027-11-30T07:00")) == 1
    house.restart()
    assert await house.at("2026-11-29T09:30") == []
    assert await house.at("2026-11-30T07:00") == ["⏰ pill"]
    assert await house.at("2026-12-01T07:00") == ["⏰ pill"]


async def test_what_a_wrong_clock_told_already_is_left_out_of_what_comes_again(house: House) -> None:
    """After a downtime within the days that come twice: the others are told once, and all of them are settled."""
    job = await house.add(DAILY, "pill")
    assert len(await house.at("2026-12-13T12:00")) == 1
    assert await house.at("2026-12-10T12:00") == []
    house.restart()
    [told] = await house.at("2026-12-13T12:00")
    assert told.endswith("\n\n- pill (Saturday 12 December, 8:00; 2 times)")
    assert (await house.job(job)).next_due == datetime(2026, 12, 14, 7, tzinfo=UTC)


async def test_a_reminder_follows_its_owner_to_another_zone_and_back(house: House) -> None:
    """Until the day they named."""
    await house.add(DAILY, "pill")
    until = datetime(2026, 12, 2, 23, tzinfo=UTC)

    def travel(connection: Connection) -> int:
        return set_zone(connection, MEXICO, MADRID, house.clock.now(), until=until)

    await house.at("2026-11-29T10:00")
    assert await house.database.write(travel) == 1
    assert await house.at("2026-11-30T07:00") == []
    assert await house.at("2026-11-30T14:00") == ["⏰ pill"]
    assert await house.at("2026-12-01T14:00") == ["⏰ pill"]
    assert await house.at("2026-12-02T14:00") == ["⏰ pill"]
    assert await house.at("2026-12-03T07:00") == ["⏰ pill"]


async def test_a_morning_word_says_nothing_in_the_evening(house: House) -> None:
    """Nor when its composer has nothing to say; the next one comes all the same."""
    words = iter(["Good morning.", None, "Good morning again."])
    house.reminders._compose = {"morning": lambda connection, job, at: next(words)}
    new = NewJob("", PLACE, DAILY, kind="morning")
    await house.database.write(lambda c: jobs.add_job(c, replace(new, text="morning"), MADRID, house.clock.now()))
    assert await house.at("2026-11-30T07:00") == ["Good morning."]
    assert await house.at("2026-12-01T07:00") == []
    assert await house.at("2026-12-02T19:00") == []
    assert await house.at("2026-12-03T09:00") == ["Good morning again."]
    assert house.channel.sent[0].part.buttons == ()


async def test_a_reminder_waits_for_its_channel(house: House) -> None:
    """Until that is there; then it says how late it is."""
    await house.add(place=replace(PLACE, channel="console"))
    assert await house.at("2026-11-30T07:00") == []
    console = FakeChannel("console")
    house.channel = console
    house.restart()
    assert await house.at("2026-11-30T07:30") == ["⏰ call Luis\n(planned for 8:00; I could not tell you then)"]


async def test_one_that_cannot_be_worked_out_holds_up_no_other(house: House) -> None:
    """It is paused."""
    broken = await house.add(DAILY, "broken")
    await house.add()
    await house.database.write(lambda c: job_rows.update_job(c, broken.id, {"rule": "FREQ=NEVER"}))
    assert await house.at("2026-11-30T07:00") == ["⏰ call Luis"]
    assert (await house.job(broken)).state == "paused"


async def test_many_at_once_are_all_told(house: House) -> None:
    """In several transactions."""
    for number in range(120):
        await house.add(place=replace(GUEST, scope=f"user:{number}"), text=f"thing {number}")
    assert len(await house.at("2026-11-30T07:00:01")) == 120
    assert await house.at("2026-11-30T07:00:06") == []


async def test_it_looks_by_itself_while_it_runs(house: House) -> None:
    """Every few seconds, also when the wall clock was set back."""
    await house.add(Moment(datetime.fromisoformat("2026-11-29T10:00:04")))
    house.reminders.begin()
    for _ in range(3):
        while not house.clock.pending_sleeps:
            await _turn()
        house.clock.advance(5)
    while not house.channel.sent:
        await _turn()
    await house.reminders.stop()
    assert house.reminders.idle
    assert len(house.channel.sent) == 1
    assert timedelta() < house.clock.now() - START < timedelta(seconds=30)


async def _turn() -> None:
    await asyncio.sleep(0)
