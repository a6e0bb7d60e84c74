"""Clocks that jump, between lives and in the middle of one, a clock that runs fast, and a process that stands still."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from tests.crash.checker import check
from tests.crash.table import Line
from tests.crash.tools import faketime, side_by_side
from tests.crash.world import Lab, World
from tests.integration.process import execute

_JUMPS = ("-1h", "+1h", "-1d", "+1d")
_FAST = "+0 x60"  # a minute a second
_STOPPED = 3.0  # seconds


async def play(lab: Lab) -> list[Line]:
    """Jump back and forth; run sixty times as fast; stop and go on."""
    missing, environ = faketime()
    between = Line("the clock jumps by an hour and by a day, both ways, between lives", missing=missing)
    within = Line("… in the middle of a life", missing=missing)
    fast = Line("a wall clock that runs sixty times as fast", missing=missing)
    still = Line(f"SIGSTOP for {_STOPPED:g} s in the middle of a burst, then SIGCONT")
    stories: list[Callable[[], Awaitable[None]]] = [partial(_still, lab, still)]
    if not missing:
        stories += [
            partial(_within, lab, within, environ),
            partial(_between, lab, between, environ),
            partial(_fast, lab, fast, environ),
        ]
    await side_by_side(stories, lambda story: story())
    return [between, within, fast, still]


async def _between(lab: Lab, line: Line, environ: Mapping[str, str]) -> None:
    """Each life dies with mail unanswered and the next one begins at another time."""
    async with lab.world("jumps between", starter=execute) as world:
        for jump in (*_JUMPS, "+0"):
            world.bot.environ = {**environ, "FAKETIME": jump, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
            await world.say(8)
            await world.bot.start()
            await world.say(8)
            await asyncio.sleep(world.rng.uniform(0.0, 0.3))
            await world.bot.kill()
            line.times += jump != "+0"
            lab.progress(f"a jump to {jump}")
        world.bot.environ = {}
        await world.bot.start()
        await _finish(world, line)


async def _within(lab: Lab, line: Line, environ: Mapping[str, str]) -> None:
    async with lab.world("jumps within", starter=execute) as world:
        hands = world.home.parent / "faketime"
        _set(hands, "+0")
        world.bot.environ = {
            **environ,
            "FAKETIME_TIMESTAMP_FILE": str(hands),
            "FAKETIME_CACHE_DURATION": "0",
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        await world.bot.start()
        for jump in (*_JUMPS, "+0"):
            await world.say(5)
            _set(hands, jump)
            await world.say(5)
            if not await world.settles(40):
                line.broken.append(f"no answer after the clock went to {jump}")
            line.times += jump != "+0"
            lab.progress(f"a jump to {jump}")
        await _finish(world, line)


def _set(hands: Path, to: str) -> None:
    draft = hands.with_suffix(".new")
    draft.write_text(f"{to}\n")
    draft.replace(hands)


async def _fast(lab: Lab, line: Line, environ: Mapping[str, str]) -> None:
    """By the date it reads, sixty seconds pass in one; what it waits for takes real seconds all the same."""
    async with lab.world("fast", starter=execute) as world:
        world.bot.environ = {**environ, "FAKETIME": _FAST, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        await world.bot.start()
        began = time.monotonic()
        for _ in range(4):
            await world.say(5)
            await asyncio.sleep(0.5)
        if not await world.settles(60):
            line.broken.append("no answer by a fast clock")
        line.times = 1
        line.notes.append(f"{time.monotonic() - began:.0f} minutes by its clock")
        await _finish(world, line, slack=15)


async def _still(lab: Lab, line: Line) -> None:
    async with lab.world("still") as world:
        await world.bot.start()
        for _ in range(3):
            await world.say(10)
            await asyncio.sleep(world.rng.uniform(0.02, 0.2))
            world.bot.signal(signal.SIGSTOP)
            await world.say(5)
            await asyncio.sleep(_STOPPED)
            world.bot.signal(signal.SIGCONT)
            if not await world.settles(30):
                line.broken.append("no answer after SIGCONT")
            line.times += 1
            lab.progress("stopped and continued")
        await _finish(world, line)


async def _finish(world: World, line: Line, slack: float = 0) -> None:
    if not await world.settles(60):
        line.broken.append(f"no answer to {sorted(world.unanswered())[:3]}")
    began = time.monotonic()
    if code := await world.bot.terminate():
        line.broken.append(f"exit code {code} after SIGTERM")
    if time.monotonic() - began > 10 + slack:
        line.broken.append(f"{time.monotonic() - began:.0f} s to stop")
    if any(text.startswith("Traceback") for text in world.bot.log):
        line.broken.append(f"a traceback on stderr: {''.join(world.bot.log)[-300:]}")
    line.add(check(world, told_is_fine=True))
