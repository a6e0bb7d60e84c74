"""People, their platform and a model around a real KenoBot that may die at any moment, for the mail machine.

Each life is a process of its own: it is assembled anew over the files that the one before left on disk.
"""

import asyncio
import re
import shutil
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

from kenobot.app.app import App
from kenobot.app.plugin_instances import PluginInstances, load_plugins
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, load_settings
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Sink
from kenobot.ports.errors import RateLimited, Rejected, StoreError, Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.postprocessor import PostProcessor
from kenobot.ports.provider import Delta, Request
from kenobot_testing.clock import EagerClock
from tests.property.mail.power import AT_ONCE, Crash, Power

CHANNEL = "fake"
CHATS = ("1", "2", "3")
PATIENCE = 120.0  # seconds of real time, after which a test says that it hangs

Answer = Literal["ok", "long", "memory", "limited", "for long", "down", "rejected", "cut", "half", "bug", "held"]
Line = Literal["ok", "limited", "down", "rejected", "bug"]

_SUSPECT = 2  # attempts that came to no end, after which the loop tries no two such messages at once
_HALF = "goes on"
_ASKED = re.compile(r"⟦(\d+)⟧")
_ANSWER = re.compile(r"⟨(\d+)\.(\d+)\.(\d+)⟩")


@dataclass
class Said:
    """One message of a person, and what became of it as far as the people outside can tell.

    plan: what the model will do, asked for it once and again; then it answers. took: how often KenoBot called it new.
    """

    number: int
    chat: str
    plan: deque[Answer]
    at: datetime
    acknowledged: bool = False
    took: int = 0
    answers: int = 0
    bugs: int = 0
    refusals: int = 0
    crashes: int = 0
    overtaken: int = 0

    @property
    def is_suspect(self) -> bool:
        """Whether a process may have died of it: while the model keeps one waiting, all others like it wait."""
        return self.bugs + self.crashes + self.overtaken >= _SUSPECT

    @property
    def inbound(self) -> Inbound:
        return Inbound(CHANNEL, str(self.number), self.chat, self.chat, f"question ⟦{self.number}⟧", self.at)


@dataclass
class World:
    """What outlives a crash: people, platform and model. `faults`: what was seen that must never be."""

    clock: EagerClock = field(default_factory=EagerClock)
    said: dict[int, Said] = field(default_factory=dict)
    lines: dict[str, deque[Line]] = field(default_factory=lambda: defaultdict(deque))
    taken: list[Outbound] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    repeatable: Counter[int] = field(default_factory=Counter)
    paid: set[int] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def new(self, chat: str, plan: Iterable[Answer]) -> Said:
        """A person writes."""
        said = Said(len(self.said) + 1, chat, deque(plan), self.clock.now())
        self.said[said.number] = said
        return said


class Brain:
    """The model, as one process knows it."""

    name = "scripted"
    rule_based = True  # it cannot read turns for memories

    def __init__(self, world: World, alive: Callable[[], bool]) -> None:
        self._world = world
        self._alive = alive
        self.held: dict[str, asyncio.Event] = {}

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """What the plan of the message asks for."""
        if not self._alive():
            raise Rejected("nobody listens")
        found = _ASKED.findall(request.messages[-1].text)
        if not found and request.messages[-2:-1] and _HALF in request.messages[-2].text:
            yield Delta("and the rest.", stop_reason="end_turn", model=self.name)
            return
        if not found:  # a harmless question, to find out whether the model is back
            yield Delta("ok", stop_reason="end_turn", model=self.name)
            return
        said = self._world.said[int(found[-1])]
        if len(found) != 1:
            self._world.faults.append(f"messages {found} were asked as one")
        if said.number in self._world.paid:
            self._world.faults.append(f"the answer to {said.number} was paid for twice")
        answer = said.plan.popleft() if said.plan else "ok"
        if answer == "held" and not said.is_suspect:
            await self._hold(said.chat)
        said.bugs += answer == "bug"
        said.refusals += answer in ("limited", "for long", "down", "cut")
        _raise_for(answer)
        said.answers += 1
        mark = f"{said.number}.{said.answers}"
        parts = [f"answer ⟨{mark}.{part}⟩" for part in range(3 if answer == "long" else 1)]
        if answer == "memory":
            parts.append(f"<memory>fact {mark}</memory>")
            self._world.facts.add(f"fact {mark}")
        if answer == "half":
            parts[0] += f" {_HALF} <memory>half of fact {mark}"
        yield Delta("\n\n".join(parts))
        if answer != "cut":
            yield Delta(stop_reason="max_tokens" if answer == "half" else "end_turn", model=self.name)

    async def _hold(self, chat: str) -> None:
        self.held[chat] = asyncio.Event()
        try:
            await self.held[chat].wait()
        finally:
            self.held.pop(chat, None)

    def let_go(self) -> None:
        """Whoever was kept waiting gets an answer."""
        while self.held:
            self.held.popitem()[1].set()


class Platform:
    """The channel, as one process knows it. A reply goes out in as many parts as it has paragraphs."""

    name = CHANNEL

    def __init__(self, world: World, alive: Callable[[], bool]) -> None:
        self._world = world
        self._alive = alive

    async def run(self, sink: Sink) -> None:
        """What people say is handed in by the machine itself."""
        await asyncio.Event().wait()

    def render(self, text: str) -> Sequence[MessagePart]:
        """See `kenobot.ports.channel.Channel`."""
        return [MessagePart(piece) for piece in text.split("\n\n")]

    async def send(self, outbound: Outbound) -> str:
        """See `kenobot.ports.channel.Channel`."""
        if not self._alive():
            raise Rejected("nobody listens")
        line = self._world.lines[outbound.chat]
        outcome = line.popleft() if line else "ok"
        if outcome in ("rejected", "bug"):
            self._world.refused.add(outbound.id)
        _raise_for(outcome)
        await asyncio.sleep(0)
        if self._alive():
            self._world.taken.append(outbound)
        return f"sent {outbound.id}"


def _raise_for(outcome: Answer | Line) -> None:
    match outcome:
        case "limited":
            raise RateLimited("slow down", 5)
        case "for long":
            raise RateLimited("slow down", 5000)
        case "down":
            raise Unavailable("down")
        case "rejected":
            raise Rejected("no")
        case "bug":
            raise ValueError("a bug")
        case _:
            return


class Life:
    """One process, from its start to its end."""

    def __init__(self, folder: Path, heir: Path, world: World, power: Power) -> None:
        self.home = Home(folder)
        self.heir = heir
        self.world = world
        self.power = power
        self.ended = asyncio.Event()
        self.orphaned: set[str] = set()
        self._loop = asyncio.get_running_loop()
        self.brain = Brain(world, self.alive)
        self.home.prepare()
        self.home.seed_identity()
        (self.home.identity / "BOOTSTRAP.md").unlink(missing_ok=True)
        loaded, processors = _settings()
        roster = Roster.of(CHATS[:1], CHATS[1:])
        given = PluginInstances(self.brain, {CHANNEL: Platform(world, self.alive)}, {CHANNEL: roster}, processors)
        self.app: App = App(self.home, loaded, world.clock, given, Random(7))

    def alive(self) -> bool:
        return not self.power.dead.is_set()

    def doom(self, crash: Crash) -> None:
        """Die as `crash` says; the life in the folder `heir` takes over."""
        self.power.cut(crash, Home(self.heir).database, lambda: self._loop.call_soon_threadsafe(self.ended.set))

    async def start(self) -> None:
        """Take up what the life before left, and what the platform still holds."""
        await self._until_dead(self.app.start())
        await self.deliver()

    async def deliver(self, *more: Said) -> None:
        """The platform hands in what nobody took yet, and `more`."""
        waiting = [said for said in self.world.said.values() if not said.acknowledged]
        await self._until_dead(self.hand_in(*waiting, *more))

    async def hand_in(self, *said: Said) -> None:
        """The platform hands these in, all at once; what a process that stops does not take, it keeps."""
        for fault in await asyncio.gather(*map(self._hand_in, said), return_exceptions=True):
            if isinstance(fault, BaseException) and not isinstance(fault, StoreError | asyncio.CancelledError):
                raise fault

    async def _hand_in(self, said: Said) -> None:
        new = await self.app.loop(said.inbound)
        if self.alive():
            said.acknowledged = True
            said.took += new

    async def quiet(self) -> None:
        """Return once nothing moves: every message has its end or stands behind one that the model keeps waiting."""
        await self._until_dead(self._quiet())

    async def _quiet(self) -> None:
        before = None
        while (now := await self._newest_if_quiet()) is None or now != before:
            before = now
            await asyncio.sleep(0.0005)

    async def _newest_if_quiet(self) -> int | None:
        """The newest part of the outbox, None while something moves. What is heard of may make another."""
        await self.app.bus.drain()
        await self.app.owner_alerts.under_way.wait_idle()
        held = {f"{CHANNEL}-{chat}" for chat in self.brain.held}
        busy = set(await self.app.inbox.open_sessions()) - held - self.orphaned
        sending = await self.app.outbox.open_chats(CHANNEL)
        newest = await self.app.database.read(lambda c: c.execute("SELECT max(id) FROM outbox").fetchone()[0])
        quiet = not sending and self.app.delivery.queue.idle and (self.app.loop.idle or bool(held)) and not busy
        return (newest or 0) if quiet else None

    async def _under_way(self) -> str:
        """What waits and what works, for the message of a failure."""
        queries = (
            "SELECT id, chat, state, attempts FROM inbox WHERE state IN ('pending', 'claimed')",
            "SELECT id, chat, state FROM outbox WHERE state = 'pending'",
        )
        rows = await self.app.database.read(lambda c: [c.execute(query).fetchall() for query in queries])
        return (
            f"open {rows}, held {[*self.brain.held]}, tasks {sorted(each.get_name() for each in asyncio.all_tasks())}"
        )

    async def kill(self) -> None:
        """It dies now, if it has not died already. Then what it held in memory is put away where nobody sees it."""
        if self.alive():
            self.doom(AT_ONCE)
            await self.app.database.write(lambda _: None)
        self.brain.let_go()
        await self.app.loop.stop(0)
        await self.app.delivery.queue.stop(0)
        await self.app.stop()

    async def stop(self) -> None:
        """SIGTERM, with no time to finish what is under way."""
        await self.app.loop.stop(0)
        await self.app.stop()
        inherit(self.home.path, self.heir)

    async def _until_dead(self, work: Awaitable[object]) -> None:
        task = asyncio.ensure_future(work)
        death = asyncio.ensure_future(self.ended.wait())
        await asyncio.wait({task, death}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        death.cancel()
        assert task.done() or death.done(), f"it hangs: {await self._under_way()}"
        if task.done():
            task.result()
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@cache
def _settings() -> tuple[ResolvedSettings, tuple[PostProcessor, ...]]:
    """The shipped settings and post-processors: the same for every life, and slow to look up."""
    nowhere = Home(Path("/nonexistent"))
    loaded = load_settings(nowhere, {})
    return loaded, tuple(load_plugins(nowhere, loaded, EagerClock(), ["console"]).processors)


def inherit(old: Path, new: Path) -> None:
    """A clean stop leaves its database where the next life finds it."""
    new.mkdir(parents=True, exist_ok=True)
    shutil.copy(Home(old).database, Home(new).database)


def marks(text: str) -> list[tuple[int, int, int]]:
    """Which answers stand in `text`: to which message, which one, which part."""
    return [(int(a), int(b), int(c)) for a, b, c in _ANSWER.findall(text)]
