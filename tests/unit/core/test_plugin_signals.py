"""A plugin that fails again and again is turned off, and named; one that fails now and then is not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kenobot.core import plugin_signals
from kenobot.core.bus import Bus
from kenobot.core.plugin_signals import PluginSignals
from kenobot.ports.signals import MESSAGE_IN, MESSAGE_OUT, Envelope
from kenobot_testing.clock import ManualClock


@pytest_asyncio.fixture
async def bus() -> AsyncIterator[Bus]:
    made = Bus(ManualClock(), deadline=0.01)
    yield made
    await made.close()


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(1), TimeoutError()])
async def test_it_hears_nothing_after_five_failures_in_a_row(bus: Bus, error: BaseException) -> None:
    """The reason names the signal and the error; the bus and the others go on."""
    heard: list[str] = []
    reasons: list[str] = []

    async def broken(envelope: Envelope) -> None:
        heard.append(envelope.signal.name)
        raise error

    PluginSignals(bus, reasons.append).subscribe(MESSAGE_IN, broken)
    for _ in range(8):
        await bus.emit(MESSAGE_IN, "test", "")
        await bus.drain()
    assert len(heard) == 5
    (reason,) = reasons
    assert "5 times in a row" in reason and "message:in" in reason and type(error).__name__ in reason


async def test_its_middleware_lets_everything_through_from_then_on(bus: Bus) -> None:
    """Messages come in as if it were not there."""
    reasons: list[str] = []

    async def broken(envelope: Envelope) -> Envelope | None:
        raise ValueError("broken")

    PluginSignals(bus, reasons.append).add_middleware(broken)
    for _ in range(7):
        assert await bus.emit(MESSAGE_IN, "test", "") is not None
    assert len(reasons) == 1


async def test_one_that_works_again_stays_on(bus: Bus) -> None:
    """Failures count in a row."""
    heard: list[str] = []
    reasons: list[str] = []

    async def moody(envelope: Envelope) -> None:
        heard.append(envelope.signal.name)
        if envelope.signal is MESSAGE_IN:
            raise ValueError("not now")

    PluginSignals(bus, reasons.append).subscribe([MESSAGE_IN, MESSAGE_OUT], moody)
    for _ in range(3):
        for signal in (MESSAGE_IN, MESSAGE_IN, MESSAGE_IN, MESSAGE_OUT):
            await bus.emit(signal, "test", "")
            await bus.drain()
    assert (len(heard), reasons) == (12, [])


async def test_one_that_swallows_its_end_is_left_behind(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its first deadline: the bus is drained, and nothing waits for it any more."""
    monkeypatch.setattr(plugin_signals, "_GRACE_SECONDS", 0.01)
    reasons: list[str] = []
    released = asyncio.Event()

    async def stubborn(envelope: Envelope) -> None:
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    PluginSignals(bus, reasons.append).subscribe(MESSAGE_IN, stubborn)
    for _ in range(3):
        await bus.emit(MESSAGE_IN, "test", "")
    await bus.drain()
    (reason,) = reasons
    assert "does not end when it is told to, at message:in" in reason
    released.set()


async def test_a_function_that_would_block_every_chat_is_refused(bus: Bus) -> None:
    """As on the bus itself."""
    with pytest.raises(TypeError, match="async"):
        PluginSignals(bus, print).subscribe(MESSAGE_IN, print)  # type: ignore[arg-type]
