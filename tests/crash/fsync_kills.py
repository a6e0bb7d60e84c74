"""`kill -9` at the Nth fsync of each thread, N = 1, 2, … until a run comes to a clean end.

strace counts for each thread by itself, so a new home, where the main thread syncs most, and a used one, where only the
writer does, are played apart; so are the syncs of memory files and of their folder, which other threads make.
"""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.crash.checker import check
from tests.crash.table import Line
from tests.crash.tools import no_strace, side_by_side
from tests.crash.world import Lab, World, until

_MOST = 60
_CONVERSATION = 4  # messages; the last of them has something to remember


@dataclass(frozen=True)
class Series:
    """One row of kills: of which calls, in what home, and only where they touch `below` the home."""

    name: str
    calls: str = "fsync,fdatasync"
    used: bool = False
    below: str = ""


SERIES = (
    Series("every sync, new home"),
    Series("every sync, used home", used=True),
    Series("memory files", "fsync", used=True),
    Series("the folder of memory files", "fsync", used=True, below="memory"),
    Series("identity files and their folder", "fsync"),
)


async def play(lab: Lab, series: tuple[Series, ...] = SERIES, most: int = _MOST, workers: int = 3) -> Line:
    """Kill at every sync there is, then start again in peace and look."""
    line = Line("`kill -9` at the Nth fsync and fdatasync, N = 1, 2, … until a clean end", missing=no_strace())
    if line.missing:
        return line
    async with lab.world("used home") as world:
        await world.bot.start()
        await world.bot.terminate()
        template = world.home

    async def row(each: Series) -> None:
        async for outcome in _until_clean(lab, each, template, line, most):
            line.times += outcome
            lab.progress(f"{line.times} kills, {each.name}")

    await side_by_side(series, row, workers)
    return line


async def _until_clean(lab: Lab, series: Series, template: Path, line: Line, most: int) -> AsyncIterator[int]:
    for number in count(1):
        if number > most:
            if most == _MOST:
                line.broken.append(f"{series.name}: no clean end after {most} kills")
            return
        async with lab.world(f"fsync {series.name} {number}", chats=2) as world:
            killed = await _one(world, series, number, template, line)
        if not killed:
            return
        yield 1


async def _one(world: World, series: Series, number: int, template: Path, line: Line) -> bool:
    """One short conversation, killed at the `number`-th sync; whether it was."""
    where = f"{series.name}, N={number}"
    if series.used:
        config = (world.home / "kenobot.toml").read_bytes()
        shutil.rmtree(world.home)
        shutil.copytree(template, world.home, ignore=shutil.ignore_patterns("*.sock"))
        (world.home / "kenobot.toml").write_bytes(config)
    world.bot.wrap = (
        *("strace", "-f", "-o", "/dev/null", "-e", f"trace={series.calls}"),
        *(("-P", str(world.home / series.below)) if series.below else ()),
        *("-e", f"inject={series.calls}:signal=KILL:when={number}"),
    )
    await world.say(_CONVERSATION)
    await world.bot.spawn()
    if await world.bot.comes_up():
        await world.settles(30, patient=False)
        await until(lambda: world.ended or any((world.home / "memory").glob("2*.md")), 2)
    world.bot.signal(15)
    killed = await world.bot.ended() == -9
    world.bot.wrap = ()
    await world.say()
    await world.bot.start()
    if not await world.settles():
        line.broken.append(f"{where}: no answer to {sorted(world.unanswered())}")
    if code := await world.bot.terminate():
        line.broken.append(f"{where}: exit code {code}")
    line.add(check(world), where)
    return killed
