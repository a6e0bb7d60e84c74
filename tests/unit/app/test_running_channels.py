"""Channels of a running bot are started, stopped and restarted one by one; one that fails leaves the others alone."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kenobot.app import running_channels
from kenobot.app.running_channels import ChannelServices, RunningChannels
from kenobot.core.bus import Bus
from kenobot.gateway.access import Access, Roster
from kenobot.ports.channel import Channel, Sink
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.ports.signals import HEALTH_DEGRADED, Envelope
from kenobot_testing.clock import EagerClock
from kenobot_testing.fake_channel import FakeChannel, RecordingSink
from tests.waiting import until


class Breaking(FakeChannel):
    """A channel whose run raises once `error` is set."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.broken = asyncio.Event()
        self.error: Exception = ConfigError("The token was revoked.")

    async def run(self, sink: Sink) -> None:
        await self.broken.wait()
        raise self.error


class House:
    """Two channels, and a third that can be built."""

    def __init__(self) -> None:
        self.clock = EagerClock()
        self.bus = Bus(self.clock)
        self.one, self.two = Breaking("one"), Breaking("two")
        self.channels: dict[str, Channel] = {"one": self.one, "two": self.two}
        self.access = Access({})
        self.sink = RecordingSink()
        self.built: list[FakeChannel] = []
        self.failure: Exception | None = None
        self.swept = 0
        self.alerts: list[str] = []
        self.bus.wake_on(HEALTH_DEGRADED, self._note)
        self.stop = asyncio.Event()
        self.run: asyncio.Task[None]
        services = ChannelServices(
            self.sink, self.bus, self.clock, self.build, self.names, self.access.set_roster, self.send_waiting
        )
        self.running = RunningChannels(self.channels, services, fixed="console")

    def _note(self, envelope: Envelope) -> None:
        self.alerts.append(str(envelope.payload["reason"]))

    def build(self, name: str) -> tuple[Channel, Roster]:
        if self.failure is not None:
            raise self.failure
        self.built.append(FakeChannel(name))
        return self.built[-1], Roster.of(owners=["ana"])

    def names(self) -> tuple[str, ...]:
        return "console", "one", "telegram"

    async def send_waiting(self) -> None:
        self.swept += 1

    def state(self, name: str) -> str:
        return next(row.state for row in self.running.states() if row.name == name)


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    made = House()
    made.run = asyncio.create_task(made.running.run(made.stop))
    await until(lambda: made.state("two") == "serving")
    yield made
    made.stop.set()
    await asyncio.gather(made.run, return_exceptions=True)
    await made.running.close()
    await made.bus.close()


async def test_a_stopped_channel_takes_nothing_in_and_the_others_go_on(house: House) -> None:
    """What would be sent there waits: delivery does not see it."""
    rows = {row.name: row.state for row in await house.running.carry_out("stop", "one")}
    assert (rows["one"], rows["two"], rows["telegram"]) == ("stopped", "serving", "off")
    assert list(house.channels) == ["two"]


async def test_a_restarted_channel_is_a_new_one_by_the_settings_of_now(house: House) -> None:
    """Its roster is replaced, and what waited for it is sent."""
    await house.running.carry_out("restart", "one")
    (built,) = house.built
    assert house.channels["one"] is built
    assert house.access.is_owner("one", "ana")
    assert house.swept == 1
    built.say("hello")
    assert [inbound.text for inbound in await house.sink.until_accepted(1)] == ["hello"]


async def test_a_channel_that_was_not_enabled_can_be_started(house: House) -> None:
    """By its name among the installed ones."""
    await house.running.carry_out("start", "telegram")
    assert house.state("telegram") == "serving"


@pytest.mark.parametrize("failure", [ConfigError("token is missing"), ValueError("a plugin's own")])
async def test_what_cannot_be_built_stops_nothing(house: House, failure: Exception) -> None:
    """The one before goes on, and the reason is told."""
    house.failure = failure
    with pytest.raises((ConfigError, PluginError), match=str(failure)):
        await house.running.carry_out("restart", "one")
    assert house.state("one") == "serving"
    assert house.channels["one"] is house.one


@pytest.mark.parametrize(
    ("action", "name", "reason"),
    [("start", "one", "is running"), ("stop", "oen", "no channel called"), ("stop", "console", "terminal's own")],
)
async def test_what_makes_no_sense_is_refused(house: House, action: str, name: str, reason: str) -> None:
    """With what to do instead."""
    house.channels["console"] = FakeChannel("console")
    with pytest.raises(ConfigError, match=reason):
        await house.running.carry_out(action, name)


async def test_a_channel_that_cannot_go_on_is_off_and_the_owner_is_told(house: House) -> None:
    """The others run on; mended, it is started again."""
    house.one.broken.set()
    await until(lambda: bool(house.alerts))
    assert (house.state("one"), house.state("two")) == ("failed", "serving")
    assert "The token was revoked" in house.alerts[0]
    assert "kenobot channels start one" in house.alerts[0]
    assert "one" not in house.channels
    await house.running.carry_out("start", "one")
    assert house.state("one") == "serving"


async def test_the_last_channel_that_cannot_go_on_ends_the_run(house: House) -> None:
    """With its error, which the command prints."""
    house.one.broken.set()
    await until(lambda: house.state("one") == "failed")
    house.two.broken.set()
    with pytest.raises(ConfigError, match="revoked"):
        await house.run


async def test_a_bot_whose_channels_were_all_stopped_goes_on(house: House) -> None:
    """Each can be started again."""
    for name in ("one", "two"):
        await house.running.carry_out("stop", name)
    await house.running.carry_out("start", "two")
    assert (house.state("one"), house.state("two")) == ("stopped", "serving")


async def test_the_end_does_not_wait_for_a_channel_that_swallows_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is named and left behind."""
    monkeypatch.setattr(running_channels, "_CLOSE_SECONDS", 0.01)
    house = House()
    begun, released = asyncio.Event(), asyncio.Event()

    async def stubborn(sink: Sink) -> None:
        begun.set()
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    monkeypatch.setattr(house.one, "run", stubborn)
    run = asyncio.create_task(house.running.run(house.stop))
    await begun.wait()
    await house.running.close()
    assert "channel one does not end" in caplog.text
    released.set()
    house.stop.set()
    await run
