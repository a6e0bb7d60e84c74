"""The signal bus: who may subscribe, and how one leaves."""

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from kenobot.core.bus import Bus
from kenobot.ports.signals import STARTED, Envelope
from tests.unit.core.bus.ears import Ear, fire
from tests.waiting import until


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
    await fire(bus)
    await bus.drain()


@pytest.mark.parametrize(
    "receiver",
    [_sync, lambda envelope: None, _Deaf(), _Deaf().method, functools.partial(_sync), _generator, Ear, 7, None],
)
async def test_nothing_else_may_listen(bus: Bus, receiver: Any) -> None:
    """It is refused when it subscribes, not when it is first rung."""
    with pytest.raises(TypeError, match="async"):
        bus.subscribe(STARTED, receiver)
    with pytest.raises(TypeError, match="async"):
        bus.add_middleware(receiver)


async def test_who_unsubscribed_hears_no_more(bus: Bus) -> None:
    """Neither what is sent later nor what was waiting; saying it twice does no harm."""
    ear, other = Ear(), Ear()
    unsubscribe = bus.subscribe(STARTED, ear)
    bus.subscribe(STARTED, other)
    await fire(bus, 1)
    await bus.drain()
    await fire(bus, 2)
    unsubscribe()
    unsubscribe()
    await fire(bus, 3)
    await bus.drain()
    assert (ear.heard, other.heard) == ([1], [1, 2, 3])


async def test_unsubscribing_leaves_no_task_behind(bus: Bus) -> None:
    """A plugin that comes and goes leaves nothing running."""
    before = asyncio.all_tasks()
    for _ in range(10):
        unsubscribe = bus.subscribe(STARTED, Ear())
        await fire(bus)
        await bus.drain()
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
    await fire(bus, 1)
    await fire(bus, 2)
    await until(lambda: bool(heard))
    await bus.drain()
    assert heard == [1]
