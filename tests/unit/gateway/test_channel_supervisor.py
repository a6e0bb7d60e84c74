"""Channels are kept running, systemd is told, SIGTERM ends in order."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from kenobot.core.bus import Bus
from kenobot.gateway import channel_supervisor
from kenobot.gateway.channel_supervisor import keep_running, stop_signals
from kenobot.ports.channel import Sink
from kenobot.ports.errors import ConfigError, StreamFailed
from kenobot.ports.signals import CHANNEL_DOWN, HEALTH_DEGRADED, Envelope
from kenobot_testing.clock import EagerClock
from kenobot_testing.fake_channel import FakeChannel, RecordingSink
from tests.waiting import until


class Flaky(FakeChannel):
    """A channel that runs for some seconds, then fails; when its script is over the conversation ends."""

    def __init__(self, clock: EagerClock, *seconds: float, error: Exception | None = None) -> None:
        super().__init__("flaky")
        self._clock = clock
        self._seconds = list(seconds)
        self._error = error or OSError("the line is cut")
        self.runs = 0

    async def run(self, sink: Sink) -> None:
        self.runs += 1
        if not self._seconds:
            return
        self._clock.advance(self._seconds.pop(0))
        raise self._error


class House:
    """A bus, a clock whose sleeps are over at once, and a note of what was announced."""

    def __init__(self) -> None:
        self.clock = EagerClock()
        self.bus = Bus(self.clock)
        self.down: list[str] = []
        self.degraded: list[str] = []
        self.bus.wake_on(CHANNEL_DOWN, self._note_down)
        self.bus.wake_on(HEALTH_DEGRADED, self._note_degraded)

    def _note_down(self, envelope: Envelope) -> None:
        self.down.append(str(envelope.payload["error"]))

    def _note_degraded(self, envelope: Envelope) -> None:
        self.degraded.append(str(envelope.payload["reason"]))

    async def run(self, channel: FakeChannel) -> list[float]:
        await keep_running(channel, RecordingSink(), self.bus, self.clock)
        return self.clock.slept


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """Everything a supervisor needs."""
    made = House()
    yield made
    await made.bus.close()


async def test_a_channel_that_returns_is_done(house: House) -> None:
    """The person ended the conversation; nobody starts it again."""
    channel = Flaky(house.clock)
    assert await house.run(channel) == []
    assert (channel.runs, house.down) == (1, [])


async def test_a_channel_that_wants_to_end_the_process_is_started_again(house: House) -> None:
    """It is somebody else's code, and the other channels go on."""
    channel = Flaky(house.clock, 0, error=SystemExit(3))  # type: ignore[arg-type]
    await house.run(channel)
    assert (channel.runs, len(house.down)) == (2, 1)
    assert "SystemExit: 3" in house.down[0]


async def test_a_channel_whose_output_failed_is_not_started_again(house: House) -> None:
    """The same would happen at every further try."""
    channel = Flaky(house.clock, 0, error=StreamFailed("the disk is full"))
    with pytest.raises(StreamFailed):
        await house.run(channel)
    assert (channel.runs, house.down) == (1, [])


async def test_a_channel_that_fails_is_started_again(house: House) -> None:
    """With growing pauses, each failure announced."""
    channel = Flaky(house.clock, 0, 0, 0)
    assert await house.run(channel) == [2, 4, 8]
    assert channel.runs == 4
    assert house.down == ["the line is cut"] * 3
    assert house.degraded == []


async def test_five_failures_in_a_minute_degrade_the_health(house: House) -> None:
    """It is said once, and from then on the channel is tried once a minute."""
    channel = Flaky(house.clock, *[0] * 12)
    assert await house.run(channel) == [2, 4, 8, 16, *[60] * 8]
    assert house.degraded == ["channel flaky keeps failing"]


async def test_a_good_while_makes_up_for_earlier_failures(house: House) -> None:
    """After more than a minute of running, pauses are short again and a new storm is announced again."""
    channel = Flaky(house.clock, 0, 0, 0, 0, 0, 3600, 0, 0, 0, 0)
    assert await house.run(channel) == [2, 4, 8, 16, 60, 2, 4, 8, 16, 60]
    assert len(house.degraded) == 2


async def test_failures_far_apart_degrade_nothing(house: House) -> None:
    """A line that is cut once a day is not a sick one."""
    assert await house.run(Flaky(house.clock, *[86_400] * 10)) == [2] * 10
    assert house.degraded == []


async def test_what_only_a_person_can_mend_is_raised(house: House) -> None:
    """At once, without another try."""
    channel = Flaky(house.clock, 0, error=ConfigError("the token is wrong"))
    with pytest.raises(ConfigError):
        await house.run(channel)
    assert (channel.runs, house.down) == (1, [])


async def test_a_stop_is_not_a_failure(house: House) -> None:
    """A cancelled channel is not started again."""
    channel = FakeChannel()
    task = asyncio.create_task(house.run(channel))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert house.down == []


# ── stalls ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Mute(FakeChannel):
    """A channel that shows life: `lives` says for each run how often it is heard before it falls silent for ever.

    After the last one the conversation ends.
    """

    def __init__(self, *lives: int, patience: float = 0.04) -> None:
        super().__init__("mute")
        self.last_answer_at: float | None = None
        self.stall_seconds = patience
        self.runs = 0
        self.cancelled = 0
        self._lives = list(lives)

    async def run(self, sink: Sink) -> None:
        self.runs += 1
        if not self._lives:
            return
        for _ in range(self._lives.pop(0)):
            await asyncio.sleep(self.stall_seconds / 4)
            self.last_answer_at = (self.last_answer_at or 0) + 1
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled += 1


async def test_a_channel_that_falls_silent_is_started_again(house: House) -> None:
    """It is cancelled first; the stall is announced, and is no matter for the owner yet."""
    channel = Mute(12)
    await house.run(channel)
    assert (channel.runs, channel.cancelled) == (2, 1)
    assert channel.last_answer_at == 12, "it was cancelled while it was alive"
    assert house.down == ["mute has not answered for 0.04 seconds; its connection is opened anew"]
    assert house.degraded == []


async def test_a_second_stall_within_an_hour_is_for_the_owner_to_know(house: House) -> None:
    """Whether the channel was heard in between or not."""
    await house.run(Mute(0, 3))
    assert house.degraded == ["channel mute keeps falling silent"]


async def test_stalls_far_apart_degrade_nothing(house: House) -> None:
    """What happens once an hour mends itself."""
    channel = Mute(0, 0)
    original = channel.run

    async def late(sink: Sink) -> None:
        house.clock.advance(3600)
        await original(sink)

    channel.run = late  # type: ignore[method-assign]
    await house.run(channel)
    assert (len(house.down), house.degraded) == (2, [])


async def test_a_process_that_was_frozen_does_not_blame_its_channel(house: House) -> None:
    """However long it slept, by whatever clock: the channel gets its patience after that."""
    channel, loop = Mute(0, patience=0.4), asyncio.get_running_loop()
    original = loop.time
    task = asyncio.create_task(house.run(channel))
    await _rounds(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "time", lambda: original() + 3600)
        house.clock.advance(3600)
        await _rounds(3)
        assert (channel.cancelled, house.down) == (0, [])
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_channel_that_ends_or_fails_by_itself_is_no_stall(house: House) -> None:
    """Watching changes nothing about what a channel's own end means."""

    class Frail(Mute):
        async def run(self, sink: Sink) -> None:
            self.runs += 1
            if self.runs == 1:
                raise OSError("the line is cut")

    channel = Frail()
    assert await house.run(channel) == [2]
    assert house.down == ["the line is cut"]


async def test_a_channel_that_is_cancelled_from_within_is_started_again(house: House) -> None:
    """A request that was cancelled under it is no stop: nobody wants the bot to be deaf from then on."""

    class Broken(Mute):
        async def run(self, sink: Sink) -> None:
            self.runs += 1
            if self.runs == 1:
                raise asyncio.CancelledError

    channel = Broken()
    assert await house.run(channel) == [2]
    assert house.down == ["the intake of mute was broken off"]


async def test_a_channel_that_will_not_end_is_left_behind(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its clean-up may hang on the same dead connection; the next run does not wait for it."""
    monkeypatch.setattr(channel_supervisor, "_CLOSE_SECONDS", 0.02)
    release = asyncio.Event()

    class Stubborn(Mute):
        async def run(self, sink: Sink) -> None:
            try:
                await super().run(sink)
            finally:
                await release.wait()

    channel = Stubborn(0)
    task = asyncio.create_task(house.run(channel))
    await until(lambda: channel.runs >= 2)
    assert "is left behind" in caplog.text
    release.set()
    await task


async def _rounds(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


# ── signals ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_asks_to_stop(number: signal.Signals) -> None:
    """The first one; a second one of its kind would end the process as it always did."""
    stop = asyncio.Event()
    before = signal.getsignal(number)
    with stop_signals(stop):
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        async with asyncio.timeout(60):
            await stop.wait()
        assert signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)
    assert signal.getsignal(number) in (before, signal.SIG_DFL, signal.default_int_handler)
