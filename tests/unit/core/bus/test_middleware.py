"""The signal bus: middleware, which may enrich, stop and fail."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from kenobot.core.bus import Bus
from kenobot.ports.signals import MESSAGE_IN, MESSAGE_OUT, STARTED, Envelope
from tests.unit.core.bus.ears import Ear, fire


async def test_middleware_enriches_what_is_sent(bus: Bus) -> None:
    """Each sees what the one before made of it, and receivers hear the last."""
    heard: list[Envelope] = []

    async def receiver(envelope: Envelope) -> None:
        heard.append(envelope)

    def adding(mark: str) -> Callable[[Envelope], Awaitable[Envelope]]:
        async def middleware(envelope: Envelope) -> Envelope:
            return replace(envelope, payload={**envelope.payload, "text": f"{envelope.payload['text']}{mark}"})

        return middleware

    bus.add_middleware(adding("b"))
    bus.add_middleware(adding("c"))
    bus.subscribe(MESSAGE_OUT, receiver)
    sent = await bus.emit(MESSAGE_OUT, "test", "", text="a")
    await bus.drain()
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

    bus.add_middleware(stop)
    bus.add_middleware(after)
    bus.wake_on(STARTED, tapped.append)
    bus.subscribe(STARTED, ear)
    assert await fire(bus) is None
    await bus.drain()
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

    bus.deadline = 0.1
    for middleware in (broken, hangs, waits_for_the_cancelled):
        bus.add_middleware(middleware)
    bus.subscribe(STARTED, ear)
    assert await fire(bus) is not None
    await bus.drain()
    assert ear.heard == [1]
    assert caplog.text.count("middleware") >= 3


async def test_a_sender_that_is_cancelled_in_middleware_is_cancelled(bus: Bus) -> None:
    """A stop is not swallowed."""
    begun = asyncio.Event()

    async def hangs(envelope: Envelope) -> Envelope:
        begun.set()
        await asyncio.Event().wait()
        return envelope

    bus.add_middleware(hangs)
    sender = asyncio.create_task(fire(bus))
    await begun.wait()
    sender.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sender


async def test_middleware_that_returns_something_else_is_left_out(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    """What was sent goes on as it was."""

    async def wrong(envelope: Envelope) -> Any:
        return "nonsense"

    bus.add_middleware(wrong)
    sent = await bus.emit(MESSAGE_IN, "test", "")
    assert sent is not None and sent.signal is MESSAGE_IN
    assert "not an envelope" in caplog.text
