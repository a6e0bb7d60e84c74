"""A channel and a model that cost nothing, inside a `kenobot run`: they say what the driver tells them to and time it.

Copied beside the bot's own modules and loaded by it as a plugin, so it imports nothing but the plugins' own API.
The driver sends one JSON line a request, and is sent one back: see `Asked` and `Told`.
"""

import asyncio
import contextlib
import json
import sys
import time
from asyncio import Handle
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import TypedDict

from pydantic import BaseModel

from kenobot.ports.channel import Sink
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.plugin import NoSettings, Plugin, PluginContext
from kenobot.ports.provider import Delta, Request, Usage

CHANNEL = "bench"
_RUNTIME = "<kenobot"
_TICK = 0.01
_COMMAND, _EVERY, _CHATS = "/help", 0.05, 50


_SENTENCES = (
    "I bought {} for the kitchen this morning.",
    "What did we say about {} last week?",
    "My sister called, she wants to talk about {}.",
    "Could you tell me how {} is written in Spanish?",
    "Ayer estuve mirando {} en la tienda de la esquina.",
    "The meeting about {} took longer than I thought.",
    "Is there anything I should know about {}?",
    "We will have {} on Saturday if the weather holds.",
    "Qué opinas de {} para el cumpleaños de Marta?",
    "I do not like {} any more, I think.",
    "Thanks, that is enough about {} for today.",
)
_THINGS = ("the blue lamp", "a new bicycle", "Lisbon", "la mesa grande", "the garden", "our tax letter", "cherry cake")


def sentence(number: int) -> str:
    """What a person may write, another one for each number."""
    return _SENTENCES[number % len(_SENTENCES)].format(_THINGS[number % len(_THINGS)])


class Asked(TypedDict):
    """A request: so many turns in so many chats, each reply with a `<memory>` or none. No turns: only look.

    most_seconds: begin no turn after that. as_people: sentences that differ, not numbers. rest_seconds: between an
    answer and the next message of its chat. watch: look at the event loop from now on, which takes some CPU itself.
    probe_seconds: instead of turns, for so long send a command every twentieth of a second. details: tell the functions
    called and the SQL, where they are counted.
    """

    turns: int
    chats: int
    remember: bool
    most_seconds: float
    as_people: bool
    rest_seconds: float
    watch: bool
    probe_seconds: float
    details: bool


class LoopFigures(TypedDict):
    """What the event loop went through since the last request, in milliseconds.

    pause: longest lateness of a tick; own_pause: the same, each at most the CPU of this process meanwhile. step: most
    CPU of one callback, step_of: its name. long_steps: callbacks of more than 2 ms of CPU, by name how many.
    """

    pause: float
    own_pause: float
    step: float
    step_of: str
    long_steps: dict[str, int]


class Told(LoopFigures):
    """What came of it: the milliseconds until each answer, and the seconds of all.

    counts: the totals of the process since its start, where `counted` runs it; details: the same, one by one.
    """

    times: list[float]
    seconds: float
    counts: dict[str, int]
    details: dict[str, int]


class _LoopWatch:
    """Measures how late the event loop comes to a tick, and how much CPU its callbacks take at a stretch."""

    def __init__(self) -> None:
        self._ticking: asyncio.Task[None] | None = None
        self._reset()

    def _reset(self) -> None:
        self._pause = self._own_pause = self._step = 0.0
        self._step_of = ""
        self._long: dict[str, int] = {}  # bounded: the callbacks there are; each reading

    def read(self) -> LoopFigures:
        """The figures since the last reading."""
        found: LoopFigures = {
            "pause": 1000 * self._pause,
            "own_pause": 1000 * self._own_pause,
            "step": 1000 * self._step,
            "step_of": self._step_of,
            "long_steps": self._long,
        }
        self._reset()
        return found

    def begin(self) -> None:
        """Look from now on."""
        if self._ticking is None:
            self._ticking = asyncio.create_task(self._tick())
            self._time_steps()

    def end(self) -> None:
        if self._ticking is not None:
            self._ticking.cancel()

    async def _tick(self) -> None:
        while True:
            due, computed = time.monotonic() + _TICK, time.process_time()
            await asyncio.sleep(_TICK)
            late = time.monotonic() - due
            self._pause = max(self._pause, late)
            self._own_pause = max(self._own_pause, min(late, time.process_time() - computed))

    def _time_steps(self) -> None:
        run = Handle._run

        def timed(handle: Handle) -> None:
            began = time.thread_time()
            run(handle)
            took = time.thread_time() - began
            if took > 0.002:
                name = step_name(handle)
                self._long[name] = self._long.get(name, 0) + 1
            if took > self._step:
                self._step, self._step_of = took, step_name(handle)

        Handle._run = timed  # type: ignore[assignment,method-assign]


def step_name(handle: Handle) -> str:
    """Name a callback; a task by its coroutine, and by the one in which it now waits."""
    callback = getattr(handle, "_callback", None)
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        waiting: object = owner.get_coro()
        names = []
        while hasattr(waiting, "cr_await"):
            names.append(str(getattr(waiting, "__qualname__", waiting)))
            waiting = waiting.cr_await
        return " … ".join(dict.fromkeys((names[0], names[-1]))) if names else str(owner)
    return str(getattr(callback, "__qualname__", callback))


class InstantProvider:
    """Answers at once. Asked to remember, it tags what it was told."""

    name = "instant"
    rule_based = by_rote = True  # it cannot read turns for memories; by_rote: as old revisions call it

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        blocks = (getattr(block, "text", "") for block in request.messages[-1].blocks)
        said = next((text for text in blocks if text and not text.startswith(_RUNTIME)), "")
        tag = f" <memory>{said}</memory>" if said.startswith("remember") else ""
        yield Delta(f"Answer to it, in a sentence of usual length.{tag}", "end_turn", Usage(1000, 20, 900, 0), "none")


class BenchSettings(BaseModel, extra="forbid"):
    """port: where the driver listens. owners: the chats, each of them the owner's."""

    port: int
    owners: tuple[str, ...]


class BenchChannel:
    """Says what the driver asks for, takes every answer at once and notes when."""

    name = CHANNEL

    def __init__(self, port: int) -> None:
        self._port = port
        self._number = time.time_ns()
        self._sentences = 0
        self._answered: dict[str, asyncio.Future[float]] = {}
        self._watch = _LoopWatch()

    async def run(self, sink: Sink) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while line := await reader.readline():
            asked: Asked = json.loads(line)
            if asked["watch"]:
                self._watch.begin()
            writer.write(json.dumps(await self._play(sink, asked)).encode() + b"\n")
            await writer.drain()
        self._watch.end()
        await asyncio.Event().wait()  # returning would mean that the conversation is over

    async def _play(self, sink: Sink, asked: Asked) -> Told:
        began = time.perf_counter()
        if asked["probe_seconds"]:
            times = await self._probe(sink, asked["probe_seconds"])
        else:
            times = await self._talk(sink, asked)
        seconds = time.perf_counter() - began
        counted = sys.modules.get("bench_counted")
        return {
            "times": times,
            "seconds": seconds,
            "counts": counted.read() if counted else {},
            "details": counted.details() if counted and asked["details"] else {},
            **self._watch.read(),
        }

    async def _talk(self, sink: Sink, asked: Asked) -> list[float]:
        times: list[float] = []
        began = time.perf_counter()

        async def talk(chat: str) -> None:
            for number in range(asked["turns"] // asked["chats"]):
                if time.perf_counter() - began > asked["most_seconds"]:
                    break
                text = self._text(asked, f"{chat} {number} of {began:.6f}", number)
                times.append(1000 * await self._say(sink, chat, text))
                if asked["rest_seconds"]:
                    await asyncio.sleep(asked["rest_seconds"])

        await asyncio.gather(*(talk(str(chat)) for chat in range(asked["chats"])))
        return times

    def _text(self, asked: Asked, told: str, number: int) -> str:
        if asked["as_people"]:
            self._sentences += 1
            told = sentence(self._sentences)
        if asked["remember"]:
            return f"remember {told}"
        return told if asked["as_people"] else f"question number {number}"

    async def _probe(self, sink: Sink, seconds: float) -> list[float]:
        """Commands in turn in all chats but the first, each counted from the moment at which it was due."""
        times: list[float] = []
        began = time.perf_counter()

        async def command(chat: str, due: float) -> None:
            await self._say(sink, chat, _COMMAND)
            times.append(1000 * (time.perf_counter() - due))

        async with asyncio.TaskGroup() as group:
            for number in range(int(seconds / _EVERY)):
                due = began + number * _EVERY
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                chat = str(1 + number % (_CHATS - 1))
                while chat in self._answered:  # a round of all chats ago, and unanswered still
                    await asyncio.sleep(_TICK)
                group.create_task(command(chat, due))
        return times

    async def _say(self, sink: Sink, chat: str, text: str) -> float:
        self._number += 1
        answered = self._answered[chat] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        await sink(Inbound(CHANNEL, str(self._number), chat, chat, text, datetime.now(UTC)))
        done: float = await answered
        return done - began

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),)

    async def send(self, outbound: Outbound) -> str:
        waiting = self._answered.pop(outbound.chat, None)  # nobody waits for a notice
        if waiting is not None:
            with contextlib.suppress(asyncio.InvalidStateError):
                waiting.set_result(time.perf_counter())
        return "1"


def _channel(settings: BenchSettings, _: PluginContext) -> BenchChannel:
    return BenchChannel(settings.port)


def _provider(_: NoSettings, __: PluginContext) -> InstantProvider:
    return InstantProvider()


channel = Plugin(BenchSettings, _channel)
provider = Plugin(NoSettings, _provider)
