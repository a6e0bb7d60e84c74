"""A KenoBot in this process, with a channel and a provider that cost nothing, to see what the rest costs."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Self

from kenobot.app.app import App
from kenobot.app.plugin_instances import PluginInstances, load_plugins
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Sink
from kenobot.ports.clock import SystemClock
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.provider import Delta, Provider, Request, Usage

CHANNEL = "bench"
OWNERS = [str(number) for number in range(50)]


class InstantProvider:
    """Answers at once. Asked to remember, it tags what it was told."""

    name = "instant"
    rule_based = True  # it cannot read turns for memories

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        said = next(block.text for block in request.messages[-1].text_blocks if not block.text.startswith("<kenobot"))
        tag = f" <memory>{said}</memory>" if "remember" in said else ""
        yield Delta(f"Answer to it, in a sentence of usual length.{tag}", "end_turn", Usage(1000, 20, 900, 0), "none")


class InstantChannel:
    """Takes every answer at once and notes when."""

    name = CHANNEL

    def __init__(self) -> None:
        self.answered: dict[str, asyncio.Future[float]] = {}

    async def run(self, sink: Sink) -> None:
        await asyncio.Event().wait()

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),)

    async def send(self, outbound: Outbound) -> str:
        waiting = self.answered.pop(outbound.chat, None)  # nobody waits for a notice
        if waiting is not None:
            waiting.set_result(time.perf_counter())
        return "1"


class BenchApp:
    """A whole KenoBot in a folder."""

    def __init__(self, folder: Path, provider: Provider | None = None, channel: InstantChannel | None = None) -> None:
        self.home = Home(folder / "home")
        self.channel = channel or InstantChannel()
        self._provider = provider or InstantProvider()
        self.app: App
        self._number = 0

    async def __aenter__(self) -> Self:
        self.home.prepare()
        self.home.seed_identity()
        (self.home.identity / "BOOTSTRAP.md").unlink()
        loaded = load_settings(self.home, {})
        clock = SystemClock()
        parts = load_plugins(self.home, loaded, clock, ["console"])
        given = PluginInstances(self._provider, {CHANNEL: self.channel}, {CHANNEL: Roster.of(OWNERS)}, parts.processors)
        self.app = App(self.home, loaded, clock, given, Random(1))
        await self.app.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.app.stop()

    async def say(self, chat: str, text: str, *, forwarded: bool = False) -> float:
        """One turn; returns its seconds."""
        self._number += 1
        answered = self.channel.answered[chat] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        number, now = str(self._number), datetime.now(UTC)
        await self.app.loop(Inbound(CHANNEL, number, chat, chat, text, now, forwarded=forwarded))
        done: float = await answered
        return done - began
