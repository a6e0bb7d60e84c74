"""A KenoBot in this process, with a channel and a provider that cost nothing, to see what the rest costs."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
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
from kenobot.ports.provider import Delta, Request, Usage
from kenobot.storage.connection import Connection

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

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.channel = InstantChannel()
        self.app: App
        self._number = 0

    async def __aenter__(self) -> Self:
        self.home.prepare()
        self.home.seed_identity()
        (self.home.identity / "BOOTSTRAP.md").unlink()
        loaded = load_settings(self.home, {})
        clock = SystemClock()
        parts = load_plugins(self.home, loaded, clock, ["console"])
        given = PluginInstances(
            InstantProvider(), {CHANNEL: self.channel}, {CHANNEL: Roster.of(OWNERS)}, parts.processors
        )
        self.app = App(self.home, loaded, clock, given, Random(1))
        await self.app.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.app.stop()

    async def say(self, chat: str, text: str) -> float:
        """One turn; returns its seconds."""
        self._number += 1
        answered = self.channel.answered[chat] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        await self.app.loop(Inbound(CHANNEL, str(self._number), chat, chat, text, datetime.now(UTC)))
        done: float = await answered
        return done - began


async def one_after_another(scene: BenchApp, turns: int) -> tuple[float, float, float]:
    """p50 and p99 in milliseconds, and turns a second, with one chat that waits for each answer."""
    began = time.perf_counter()
    times = [await scene.say("0", f"question number {number}") for number in range(turns)]
    rate = turns / (time.perf_counter() - began)
    return 1000 * statistics.median(times), 1000 * statistics.quantiles(times, n=100)[98], rate


async def in_parallel(scene: BenchApp, chats: int, turns: int, *, remember: bool = False) -> float:
    """Turns a second with `chats` chats at once, each of which waits for its answers."""

    async def talk(chat: str) -> None:
        for number in range(turns // chats):
            what = f"remember {chat} {number} {scene.home.path.name}" if remember else f"question number {number}"
            await scene.say(chat, what)

    began = time.perf_counter()
    await asyncio.gather(*(talk(str(chat)) for chat in range(chats)))
    return turns / (time.perf_counter() - began)


async def fill(scene: BenchApp, turns: int, memories: int) -> None:
    """Give every chat its share of a long past: `turns` turns and `memories` memories over two years."""
    now = datetime.now(UTC)

    def work(connection: Connection) -> None:
        for number in range(turns):
            at = (now - timedelta(minutes=turns - number)).isoformat()
            session = f"{CHANNEL}-0" if number % 2 else f"{CHANNEL}-{number % 50}"
            connection.executemany(
                "INSERT INTO message (session, role, text, at) VALUES (?, ?, ?, ?)",
                [(session, "user", f"question {number}", at), (session, "assistant", f"answer {number}", at)],
            )
        for number in range(memories):
            moment = now - timedelta(days=730 * (1 - number / memories))
            at = moment.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
            connection.execute(
                "INSERT INTO record (form, scope, text, source, trust, confidence, importance, stability, valid_from, "
                "created, updated, last_seen, day, key, changed_event) "
                "VALUES ('note', 'owner', ?, 'tag', 'owner', .9, .5, 1, ?, ?, ?, ?, ?, ?, 0)",
                (f"Fact {number} about a thing worth keeping", at, at, at, at, moment.date().isoformat(), f"k{number}"),
            )

    await scene.app.database.write(work)
    await scene.app.memory_files.start()
