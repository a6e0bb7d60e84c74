"""Who hears what the tests of the bus send."""

from typing import Any

from kenobot.core.bus import Bus
from kenobot.ports.signals import STARTED, Envelope, Signal


class Ear:
    """A receiver that remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def __call__(self, envelope: Envelope) -> None:
        self.heard.append(envelope.payload.get("number", envelope.signal.name))

    async def method(self, envelope: Envelope) -> None:
        await self(envelope)


async def fire(bus: Bus, number: int = 1, signal: Signal = STARTED) -> Envelope | None:
    return await bus.emit(signal, "test", "trace", number=number)
