"""SIGTERM at every stage: the process ends by itself within ten seconds, and nothing is lost. And a second instance."""

import asyncio
import contextlib
import signal
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tests.crash.checker import check
from tests.crash.table import Line
from tests.crash.tools import side_by_side
from tests.crash.world import Lab, World, until
from tests.integration.process import Bot, execute

LONGEST_STOP = 10.0  # seconds, promised
_EARLY = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # seconds after a new interpreter was started


@dataclass(frozen=True)
class Stage:
    """When SIGTERM comes: `delay` seconds a call the model takes, `sending` seconds a message Telegram takes.

    notes: new lines of a memory file that the bot finds at its start. locked: another program holds the database.
    """

    name: str
    delay: float = 0.0
    sending: float = 0.0
    notes: int = 0
    locked: bool = False


STAGES = (
    Stage("idle"),
    Stage("the model answers in time", delay=1),
    Stage("the model would take a minute", delay=60),
    Stage("Telegram takes a message in time", sending=1),
    Stage("Telegram would take half a minute", sending=30),
    Stage("both hang", delay=60, sending=30),
    Stage("in the middle of a burst"),
    Stage("a large memory file is taken in", notes=16_000),
    Stage("another program holds the database", locked=True),
)


@dataclass(frozen=True)
class Plan:
    """What to try: the stages, the seconds after a start, how many second instances, all within `longest` seconds."""

    stages: tuple[Stage, ...] = STAGES
    early: tuple[float, ...] = _EARLY
    seconds: int = 3
    longest: float = LONGEST_STOP


WHOLE = Plan()
SHORT = Plan(STAGES[:4], (0.3,), 1, longest=30)  # a busy machine may hold up an end that is in good order


async def play(lab: Lab, plan: Plan = WHOLE) -> list[Line]:
    """Stop at every stage, and right at the start; and start a second instance in a home that is in use."""
    stops = Line("SIGTERM when idle, while the model writes, while Telegram takes a message, in a burst")
    starts = Line("SIGTERM right at the start, at one moment after another")
    second = Line("a second instance in the same home")

    async def at(stage: Stage) -> None:
        async with lab.world(f"stop {stage.name}") as world:
            await _stop(world, stage, stops, plan.longest)
        lab.progress(f"SIGTERM: {stage.name}")

    async def early() -> None:
        async with lab.world("stop early", starter=execute) as world:
            for moment in plan.early:
                await _stop_early(world, moment, starts)
                lab.progress(f"SIGTERM {moment:g} s after the start")
            await world.bot.start()
            await _finish(world, "early", starts)

    async def twice() -> None:
        async with lab.world("second") as world:
            await _second(world, second, plan.seconds)

    stories: list[Callable[[], Awaitable[None]]] = [early, *(partial(at, stage) for stage in plan.stages), twice]
    await side_by_side(stories, lambda story: story(), workers=4)
    return [stops, starts, second]


async def _stop(world: World, stage: Stage, line: Line, longest: float) -> None:
    world.model.script = [{"match": "m0000", "times": 1, "delay": stage.delay}] if stage.delay else []
    world.telegram.faults.send_seconds = stage.sending
    if stage.notes:
        _write_notes(world, stage.notes)
    await world.bot.start()
    if stage.notes:
        await asyncio.sleep(world.rng.uniform(0.5, 3))
    elif stage.delay or stage.sending:
        await world.say(1)
        await until(lambda: world.model.calls, 20)
        await asyncio.sleep(0.3 if stage.sending else 0.0)
    elif stage.name != "idle":
        await world.say(30)
        await asyncio.sleep(world.rng.uniform(0.05, 0.3))
    with _locked(world) if stage.locked else contextlib.nullcontext():
        if stage.locked:
            await world.say(3)
            await asyncio.sleep(0.5)
        began = time.monotonic()
        code = await world.bot.terminate()
        took = time.monotonic() - began
    line.times += 1
    if code or took > longest:
        line.broken.append(f"{stage.name}: exit code {code} after {took:.1f} s")
    if stage.delay == 1 or stage.sending == 1:
        if world.unanswered():
            line.broken.append(f"{stage.name}: the answer did not go out before the end")
        if world.model.calls.total() != 1:
            line.broken.append(f"{stage.name}: the model was asked {world.model.calls.total()} times")
    world.telegram.faults.send_seconds = 0
    await world.say(2)
    await world.bot.start()
    await _finish(world, stage.name, line)


def _write_notes(world: World, count: int) -> None:
    """Leave a large file of notes, as a person may who brings their own."""
    lines = (
        f"- note {number} on {world.rng.randrange(count)} and {world.rng.randrange(99)}\n" for number in range(count)
    )
    memory = world.home / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    (memory / "MEMORY.md").write_text("".join(lines), "utf-8")


@contextlib.contextmanager
def _locked(world: World) -> Iterator[None]:
    """Hold the lock to write, as a program that looks into the database may."""
    with contextlib.closing(sqlite3.connect(world.home / "kenobot.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


async def _stop_early(world: World, moment: float, line: Line) -> None:
    """Before it can listen to signals, it ends the way any program does; afterwards in good order."""
    await world.say(2)
    await world.bot.spawn()
    await asyncio.sleep(moment)
    code = await world.bot.terminate()
    line.times += 1
    if code not in (0, -signal.SIGTERM):
        line.broken.append(f"{moment:g} s after the start: exit code {code}: {world.bot.log[-1:]}")


async def _second(world: World, line: Line, times: int) -> None:
    """It is refused, and the first one does not notice."""
    await world.bot.start()
    await world.say(5)
    assert world.bot.process is not None
    other = Bot(world.home, world.telegram, world.model.url, starter=world.bot.starter)
    for _ in range(times):
        await other.spawn()
        if await other.comes_up():
            line.broken.append("a second instance came up")
            await other.kill()
        elif (code := await other.ended()) != 78:
            line.broken.append(f"exit code {code}")
        line.times += 1
    if not all(f"already running in this home (process {world.bot.process.pid})" in text for text in other.log):
        line.broken.append(f"not said plainly: {other.log[:2]}")
    await world.say(5)
    await _finish(world, "the first instance", line)


async def _finish(world: World, where: str, line: Line) -> None:
    if not await world.settles():
        line.broken.append(f"{where}: no answer to {sorted(world.unanswered())[:3]}")
    if code := await world.bot.terminate():
        line.broken.append(f"{where}: exit code {code} after SIGTERM")
    if any(text.startswith("Traceback") for text in world.bot.log):
        line.broken.append(f"{where}: a traceback on stderr: {''.join(world.bot.log)[-300:]}")
    line.add(check(world), where)
