"""The signal bus: order, isolation, middleware."""

import asyncio
import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from kenobot.bus import Bus
from kenobot.signals import (
    CONFIG_CHANGED,
    MEMORY_WRITTEN,
    MESSAGE_IN,
    MESSAGE_OUT,
    RECEIVER_FAILED,
    STARTED,
    Envelope,
    Signal,
)
from kenobot.testing.clock import START, ManualClock


@pytest.fixture
async def bus(clock: ManualClock) -> AsyncIterator[Bus]:
    """A bus whose receivers have a tenth of a second."""
    made = Bus(clock, deadline=0.1)
    yield made
    await made.close()


class Ear:
    """A receiver that remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def __call__(self, envelope: Envelope) -> None:
        self.heard.append(envelope.payload.get("number", envelope.signal.name))

    async def method(self, envelope: Envelope) -> None:
        await self(envelope)


async def _fire(bus: Bus, number: int = 1, signal: Signal = STARTED) -> Envelope | None:
    return await bus.fire(signal, "test", "trace", number=number)


async def test_an_envelope_says_everything(bus: Bus) -> None:
    """What, with what, from where, because of which message, when."""
    heard: list[Envelope] = []

    async def receiver(envelope: Envelope) -> None:
        heard.append(envelope)

    bus.subscribe(STARTED, receiver)
    sent = await bus.fire(STARTED, "here", "abc", number=1, text=None)
    await bus.settle()
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
        await _fire(bus, number)
    await bus.settle()
    assert heard == list(range(1, 100))


async def test_receivers_are_rung_in_order_of_subscription(bus: Bus) -> None:
    """Who subscribed first is told first."""
    heard: list[int] = []
    for number in range(50):

        async def receiver(envelope: Envelope, number: int = number) -> None:
            heard.append(number)

        bus.subscribe(STARTED, receiver)
    await _fire(bus)
    await bus.settle()
    assert heard == list(range(50))


async def test_a_receiver_hears_only_its_signal(bus: Bus) -> None:
    """Each signal has receivers of its own."""
    ear = Ear()
    bus.subscribe(STARTED, ear)
    await _fire(bus, 1, CONFIG_CHANGED)
    await _fire(bus, 2)
    await bus.settle()
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
    bus.subscribe(RECEIVER_FAILED, failed)
    for number in (1, 2):
        await _fire(bus, number)
    await bus.settle()
    await bus.settle()
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

    bus.subscribe(STARTED, slow)
    bus.subscribe(STARTED, ear)
    bus.subscribe(RECEIVER_FAILED, failures)
    for number in (1, 2):
        await _fire(bus, number)
    while len(ear.heard) < 2:
        await asyncio.sleep(0)
    assert (hung, failures.heard) == ([1], [])
    await bus.settle()
    await bus.settle()
    assert (hung, failures.heard) == ([1, 2], ["receiver:failed"] * 2)


async def test_a_failure_to_hear_of_failures_is_not_announced(bus: Bus) -> None:
    """Or one broken receiver of `receiver:failed` would ring for ever."""
    calls: list[Envelope] = []

    async def broken(envelope: Envelope) -> None:
        calls.append(envelope)
        raise ValueError

    bus.subscribe(STARTED, broken)
    bus.subscribe(RECEIVER_FAILED, broken)
    await _fire(bus)
    for _ in range(5):
        await bus.settle()
    assert [envelope.signal for envelope in calls] == [STARTED, RECEIVER_FAILED]


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
        await _fire(bus, number)
    async with asyncio.timeout(5):
        await bus.settle()
    assert heard == [1, 2]


async def test_a_full_queue_drops_and_says_so(
    bus: Bus, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver that cannot keep up misses signals; its queue stays bounded and the sender is not held up."""
    monkeypatch.setattr("kenobot.bus._QUEUE", 3)
    ear = Ear()
    bus.subscribe(STARTED, ear)
    prepared = [await bus.prepare(STARTED, "test", "", number=number) for number in range(10)]
    for envelope in prepared:
        assert envelope is not None
        bus.deliver(envelope)
    await bus.settle()
    assert ear.heard == [0, 1, 2]
    assert "too slow" in caplog.text


async def test_a_bell_rings_at_once_and_misses_nothing(bus: Bus) -> None:
    """The house's own wake-ups have no queue: they have been called when `deliver` returns."""
    heard: list[object] = []
    bus.bell(STARTED, lambda envelope: heard.append(envelope.payload["number"]))
    for number in range(3000):
        envelope = await bus.prepare(STARTED, "test", "", number=number)
        assert envelope is not None
        bus.deliver(envelope)
    assert heard == list(range(3000))


# ── who may subscribe ────────────────────────────────────────────────────────────────────────────────────────────


async def _function(envelope: Envelope) -> None: ...


async def _with_more(more: int, envelope: Envelope) -> None: ...


def _sync(envelope: Envelope) -> None: ...


async def _generator(envelope: Envelope) -> AsyncIterator[None]:
    yield


class _Deaf:
    def __call__(self, envelope: Envelope) -> None: ...

    def method(self, envelope: Envelope) -> None: ...


@pytest.mark.parametrize(
    "receiver",
    [
        _function,
        Ear().method,
        Ear(),
        functools.partial(_with_more, 1),
        functools.partial(functools.partial(_with_more), 1),
        functools.partial(Ear()),
    ],
)
async def test_async_callables_of_every_kind_may_listen(
    bus: Bus, receiver: Callable[[Envelope], Awaitable[None]]
) -> None:
    """Functions, bound methods, objects and partials of them."""
    bus.subscribe(STARTED, receiver)
    await _fire(bus)
    await bus.settle()


@pytest.mark.parametrize(
    "receiver",
    [_sync, lambda envelope: None, _Deaf(), _Deaf().method, functools.partial(_sync), _generator, Ear, 7, None],
)
async def test_nothing_else_may_listen(bus: Bus, receiver: Any) -> None:
    """It is refused when it subscribes, not when it is first rung."""
    with pytest.raises(TypeError, match="async"):
        bus.subscribe(STARTED, receiver)
    with pytest.raises(TypeError, match="async"):
        bus.use(receiver)


async def test_who_unsubscribed_hears_no_more(bus: Bus) -> None:
    """Neither what is sent later nor what was waiting; saying it twice does no harm."""
    ear, other = Ear(), Ear()
    unsubscribe = bus.subscribe(STARTED, ear)
    bus.subscribe(STARTED, other)
    await _fire(bus, 1)
    await bus.settle()
    await _fire(bus, 2)
    unsubscribe()
    unsubscribe()
    await _fire(bus, 3)
    await bus.settle()
    assert (ear.heard, other.heard) == ([1], [1, 2, 3])


async def test_unsubscribing_leaves_no_task_behind(bus: Bus) -> None:
    """A plugin that comes and goes leaves nothing running."""
    before = asyncio.all_tasks()
    for _ in range(10):
        unsubscribe = bus.subscribe(STARTED, Ear())
        await _fire(bus)
        await bus.settle()
        unsubscribe()
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_a_receiver_may_unsubscribe_itself(bus: Bus) -> None:
    """It finishes what it is doing and hears nothing more."""
    heard: list[object] = []

    async def once(envelope: Envelope) -> None:
        unsubscribe()
        await asyncio.sleep(0)
        heard.append(envelope.payload["number"])

    unsubscribe = bus.subscribe(STARTED, once)
    await _fire(bus, 1)
    await _fire(bus, 2)
    while not heard:
        await asyncio.sleep(0)
    await bus.settle()
    assert heard == [1]


# ── middleware ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_middleware_enriches_what_is_sent(bus: Bus) -> None:
    """Each sees what the one before made of it, and receivers hear the last."""
    heard: list[Envelope] = []

    async def receiver(envelope: Envelope) -> None:
        heard.append(envelope)

    def adding(mark: str) -> Callable[[Envelope], Awaitable[Envelope]]:
        async def middleware(envelope: Envelope) -> Envelope:
            return replace(envelope, payload={**envelope.payload, "text": f"{envelope.payload['text']}{mark}"})

        return middleware

    bus.use(adding("b"))
    bus.use(adding("c"))
    bus.subscribe(MESSAGE_OUT, receiver)
    sent = await bus.fire(MESSAGE_OUT, "test", "", text="a")
    await bus.settle()
    assert heard == [sent]
    assert heard[0].payload["text"] == "abc"


async def test_middleware_may_stop_a_signal(bus: Bus) -> None:
    """Nobody hears it then: no later middleware, no tap, no receiver."""
    ear, later = Ear(), Ear()
    tapped: list[Envelope] = []

    async def stop(envelope: Envelope) -> None:
        return None

    async def after(envelope: Envelope) -> Envelope:
        await later(envelope)
        return envelope

    bus.use(stop)
    bus.use(after)
    bus.tap(tapped.append)
    bus.subscribe(STARTED, ear)
    assert await _fire(bus) is None
    await bus.settle()
    assert (ear.heard, tapped, later.heard) == ([], [], [])


async def test_middleware_that_fails_or_hangs_is_left_out(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    """The signal goes on as it was; a broken plugin silences nobody."""
    ear = Ear()

    async def broken(envelope: Envelope) -> Envelope:
        raise ValueError("mine")

    async def hangs(envelope: Envelope) -> Envelope:
        await asyncio.Event().wait()
        return envelope

    async def waits_for_the_cancelled(envelope: Envelope) -> Envelope:
        helper = asyncio.get_running_loop().create_future()
        helper.cancel()
        await helper
        return envelope

    for middleware in (broken, hangs, waits_for_the_cancelled):
        bus.use(middleware)
    bus.subscribe(STARTED, ear)
    assert await _fire(bus) is not None
    await bus.settle()
    assert ear.heard == [1]
    assert caplog.text.count("middleware") >= 3


async def test_a_sender_that_is_cancelled_in_middleware_is_cancelled(bus: Bus) -> None:
    """A stop is not swallowed."""
    begun = asyncio.Event()

    async def hangs(envelope: Envelope) -> Envelope:
        begun.set()
        await asyncio.Event().wait()
        return envelope

    bus.deadline = 60
    bus.use(hangs)
    sender = asyncio.create_task(_fire(bus))
    await begun.wait()
    sender.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sender


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("signal", [MESSAGE_IN, MESSAGE_OUT])
async def test_a_doorbell_that_nobody_hears_is_reported_once(
    bus: Bus, signal: Signal, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a listener to these two nothing would ever be answered."""
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            await _fire(bus, number, signal)
    assert caplog.text.count("dead signal") == 1
    assert signal.name in caplog.text


async def test_other_signals_may_go_unheard(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    """Announcements need no listener."""
    await _fire(bus, 1, MEMORY_WRITTEN)
    assert caplog.text == ""


async def test_a_tap_sees_what_is_delivered_at_once(bus: Bus) -> None:
    """Before any receiver has run, also when there is none."""
    tapped: list[Envelope] = []
    bus.tap(tapped.append)
    sent = await _fire(bus)
    assert tapped == [sent]


async def test_settling_waits_for_what_was_sent(bus: Bus) -> None:
    """Every receiver has dealt with it, however many rounds of the loop that takes."""
    done: list[int] = []

    async def slow(envelope: Envelope) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        done.append(1)

    bus.subscribe(STARTED, slow)
    bus.subscribe(MESSAGE_IN, slow)
    await _fire(bus)
    await _fire(bus, 1, MESSAGE_IN)
    await bus.settle()
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
    await _fire(bus)
    await begun.wait()
    await bus.close()
    assert asyncio.all_tasks() == before
