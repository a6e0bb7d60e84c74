"""The signal bus: order, isolation, and what is told of it."""

import asyncio
import contextlib

import pytest

from kenobot.core.bus import Bus
from kenobot.ports.signals import (
    ALL_SIGNALS,
    CONFIG_CHANGED,
    MEMORY_WRITTEN,
    MESSAGE_IN,
    STARTED,
    SUBSCRIBER_FAILED,
    Envelope,
)
from kenobot_testing.clock import START, ManualClock
from tests.unit.core.bus.ears import Ear, fire
from tests.waiting import until


async def test_an_envelope_says_everything(bus: Bus) -> None:
    """What, with what, from where, because of which message, when."""
    heard: list[Envelope] = []

    async def receiver(envelope: Envelope) -> None:
        heard.append(envelope)

    bus.subscribe(STARTED, receiver)
    sent = await bus.emit(STARTED, "here", "abc", number=1, text=None)
    await bus.drain()
    assert heard == [sent] == [Envelope(STARTED, {"number": 1, "text": None}, "here", "abc", START)]


async def test_each_receiver_hears_in_order(bus: Bus) -> None:
    """Signals reach a receiver one at a time, in the order they were sent, whatever it awaits in between."""
    heard: list[int] = []

    async def receiver(envelope: Envelope) -> None:
        for _ in range(3 - int(envelope.payload["number"] or 0) % 3):
            await asyncio.sleep(0)
        heard.append(int(envelope.payload["number"] or 0))

    bus.subscribe(STARTED, receiver)
    bus.subscribe(MESSAGE_IN, Ear())
    for number in range(1, 100):
        await fire(bus, number)
    await bus.drain()
    assert heard == list(range(1, 100))


async def test_receivers_are_rung_in_order_of_subscription(bus: Bus) -> None:
    """Who subscribed first is told first."""
    heard: list[int] = []
    for number in range(50):

        async def receiver(envelope: Envelope, number: int = number) -> None:
            heard.append(number)

        bus.subscribe(STARTED, receiver)
    await fire(bus)
    await bus.drain()
    assert heard == list(range(50))


async def test_a_receiver_hears_only_its_signal(bus: Bus) -> None:
    """Each signal has receivers of its own."""
    ear = Ear()
    bus.subscribe(STARTED, ear)
    await fire(bus, 1, CONFIG_CHANGED)
    await fire(bus, 2)
    await bus.drain()
    assert ear.heard == [2]


async def test_a_failing_receiver_harms_nobody(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged and announced; the others hear everything, and so does it the next time."""
    ear, failures, calls = Ear(), [], []

    async def broken(envelope: Envelope) -> None:
        calls.append(envelope)
        raise ValueError("words of a person")

    async def failed(envelope: Envelope) -> None:
        failures.append(dict(envelope.payload))

    bus.subscribe(STARTED, broken)
    bus.subscribe(STARTED, ear)
    bus.subscribe(SUBSCRIBER_FAILED, failed)
    for number in (1, 2):
        await fire(bus, number)
    await bus.drain()
    await bus.drain()
    assert (ear.heard, len(calls)) == ([1, 2], 2)
    assert [(told["signal"], told["error"]) for told in failures] == [("kenobot:started", "ValueError")] * 2
    assert "words" not in str(failures)
    assert "ValueError" in caplog.text


async def test_a_slow_receiver_delays_only_itself(bus: Bus) -> None:
    """The others hear while it hangs, and its time runs out."""
    ear, failures, hung = Ear(), Ear(), []

    async def slow(envelope: Envelope) -> None:
        hung.append(envelope.payload["number"])
        await asyncio.Event().wait()

    bus.deadline = 0.5
    bus.subscribe(STARTED, slow)
    bus.subscribe(STARTED, ear)
    bus.subscribe(SUBSCRIBER_FAILED, failures)
    for number in (1, 2):
        await fire(bus, number)
    await until(lambda: len(ear.heard) >= 2)
    assert (hung, failures.heard) == ([1], [])
    await bus.drain()
    await bus.drain()
    assert (hung, failures.heard) == ([1, 2], ["subscriber:failed"] * 2)


async def test_a_failure_to_hear_of_failures_is_not_announced(bus: Bus) -> None:
    """Or one broken receiver of `subscriber:failed` would ring for ever."""
    calls: list[Envelope] = []

    async def broken(envelope: Envelope) -> None:
        calls.append(envelope)
        raise ValueError

    bus.subscribe(STARTED, broken)
    bus.subscribe(SUBSCRIBER_FAILED, broken)
    await fire(bus)
    for _ in range(5):
        await bus.drain()
    assert [envelope.signal for envelope in calls] == [STARTED, SUBSCRIBER_FAILED]


async def test_a_receiver_whose_helper_was_cancelled_hears_on(bus: Bus) -> None:
    """A CancelledError from something it awaited is a failure like any other, not the end of the receiver."""
    heard: list[object] = []

    async def receiver(envelope: Envelope) -> None:
        heard.append(envelope.payload["number"])
        helper = asyncio.get_running_loop().create_future()
        helper.cancel()
        await helper

    bus.subscribe(STARTED, receiver)
    for number in (1, 2):
        await fire(bus, number)
    async with asyncio.timeout(60):
        await bus.drain()
    assert heard == [1, 2]


async def test_a_full_queue_drops_and_says_so(
    bus: Bus, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver that cannot keep up misses signals; its queue stays bounded and the sender is not held up."""
    monkeypatch.setattr("kenobot.core.bus._QUEUE", 3)
    ear = Ear()
    bus.subscribe(STARTED, ear)
    prepared = [await bus.prepare(STARTED, "test", "", number=number) for number in range(10)]
    for envelope in prepared:
        assert envelope is not None
        bus.deliver(envelope)
    await bus.drain()
    assert ear.heard == [0, 1, 2]
    assert "too slow" in caplog.text


async def test_a_bell_rings_at_once_and_misses_nothing(bus: Bus) -> None:
    """The house's own wake-ups have no queue: they have been called when `deliver` returns."""
    heard: list[object] = []
    bus.wake_on(STARTED, lambda envelope: heard.append(envelope.payload["number"]))
    for number in range(3000):
        envelope = await bus.prepare(STARTED, "test", "", number=number)
        assert envelope is not None
        bus.deliver(envelope)
    assert heard == list(range(3000))


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_one_receiver_hears_several_signals_in_order(bus: Bus) -> None:
    """In the order in which they were sent, until it unsubscribes from all of them."""
    heard: list[str] = []

    async def receiver(envelope: Envelope) -> None:
        heard.append(envelope.signal.name)

    unsubscribe = bus.subscribe(ALL_SIGNALS.values(), receiver)
    for signal in (STARTED, MEMORY_WRITTEN, STARTED):
        await fire(bus, 1, signal)
    await bus.drain()
    unsubscribe()
    await fire(bus, 1, MEMORY_WRITTEN)
    await bus.drain()
    assert heard == [STARTED.name, MEMORY_WRITTEN.name, STARTED.name]


async def test_settling_waits_for_what_was_sent(bus: Bus) -> None:
    """Every receiver has dealt with it, however many rounds of the loop that takes."""
    done: list[int] = []

    async def slow(envelope: Envelope) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        done.append(1)

    bus.subscribe(STARTED, slow)
    bus.subscribe(MESSAGE_IN, slow)
    await fire(bus)
    await fire(bus, 1, MESSAGE_IN)
    await bus.drain()
    assert len(done) == 2


async def test_close_stops_every_receiver(clock: ManualClock) -> None:
    """Those that hang included, and those that never heard anything."""
    bus = Bus(clock, deadline=60)
    begun = asyncio.Event()

    async def hangs(envelope: Envelope) -> None:
        begun.set()
        await asyncio.Event().wait()

    before = asyncio.all_tasks()
    bus.subscribe(STARTED, hangs)
    bus.subscribe(MESSAGE_IN, Ear())
    await fire(bus)
    await begun.wait()
    await bus.close()
    assert asyncio.all_tasks() == before


async def test_close_leaves_a_receiver_behind_that_swallows_its_end(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The end of the bot does not wait for it."""
    monkeypatch.setattr("kenobot.core.bus._CLOSE_SECONDS", 0.01)
    bus = Bus(clock, deadline=60)
    begun, released = asyncio.Event(), asyncio.Event()

    async def stubborn(envelope: Envelope) -> None:
        begun.set()
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    bus.subscribe(STARTED, stubborn)
    await fire(bus)
    await begun.wait()
    await bus.close()
    assert "is left behind" in caplog.text
    released.set()
