"""Random seeded `kill -9` while the model calls tools, one of which may happen only once: in turns and in tasks."""

import asyncio
import contextlib
import itertools
import re
import sqlite3
from collections import Counter
from pathlib import Path

from kenobot.agent.turn.background import MOST_OPEN
from tests.crash import posting
from tests.crash.checker import check
from tests.crash.posting import POSTED
from tests.crash.table import Line
from tests.crash.world import Lab, World, has_work, until_still

_CHATS = 4
_LONGEST_LIFE = 0.9  # seconds after `ready`
_STILL = 60.0  # seconds in which nothing more comes: longer than what was killed often waits before it is tried again
_SETTINGS = '\n[plugins]\nenabled = ["posting"]\n'
_RESULT = re.compile(r"(?:Task|La tarea) \d+ .+\n\n(?P<answer>answer \d+ to (?P<tag>m\d+))(?:\n\n\(.+\))?")
_PROJECT = """
[project]
name = "posting"
[project.entry-points."kenobot.tools"]
post = "posting:post"
look = "posting:look"
"""


async def play(lab: Lab, kills: int = 30, burst: int = 6) -> Line:
    """Say `burst` things in each life, each of which has two tools called, and kill the bot after a random moment."""
    line = Line("`kill -9` at seeded random moments while the model calls tools, one of which may happen only once")
    async with lab.world("tool kills", _CHATS, extra=_SETTINGS) as world:
        world.model.calls_tools = True
        install(world.home / "plugins" / "posting")
        for life in range(kills):
            await world.say(burst)
            await world.bot.start()
            await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LIFE))
            await world.bot.kill()
            lab.progress(f"{life + 1} of {kills} kills with tools at work")
        await world.bot.start()
        if not await until_still(lambda: not world.unanswered(), lambda: len(world.telegram.sent), _STILL):
            line.broken.append(f"no answer to {sorted(world.unanswered())[:3]} … {''.join(world.bot.log[-5:])}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        line.times = kills
        line.add(await asyncio.to_thread(check, world))
        line.broken += await asyncio.to_thread(_wrong, world, kills)
        line.notes.append(f"{len(world.model.told_unknown)} calls broken off and told as such")
    return line


async def play_tasks(lab: Lab, kills: int = 20, burst: int = 3) -> Line:
    """Have `burst` things done in the background in each life, and kill the bot after a random moment.

    Nobody asks for more than they may have open: what is refused has no result.
    """
    line = Line("`kill -9` at seeded random moments while tasks in the background call tools")
    people, settings = -(-kills * burst // MOST_OPEN), f'{_SETTINGS}[tools]\nenabled = ["background"]\n'
    async with lab.world("task kills", people, extra=settings) as world:
        world.model.calls_tools = True
        install(world.home / "plugins" / "posting")
        chats = itertools.cycle(world.chats)
        for life in range(kills):
            for _ in range(burst):
                await world.say_this("apples. Do that in the background.", next(chats))
            await world.bot.start()
            await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LIFE))
            await world.bot.kill()
            lab.progress(f"{life + 1} of {kills} kills with tasks under way")
        await world.bot.start()
        if not await until_still(lambda: _is_over(world), lambda: len(world.telegram.sent), _STILL):
            line.broken.append(f"tasks are left: {_describe_left(world)}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        line.times, line.messages = kills, len(world.tags)
        line.broken += [*_told_wrongly(world), *await asyncio.to_thread(_wrong, world, kills)]
        line.notes.append(f"{len(world.model.told_unknown)} calls broken off and told as such")
    return line


def _is_over(world: World) -> bool:
    return not _told_wrongly(world) and not has_work(world.home)


def _describe_left(world: World) -> str:
    """Say how each kind of message and task stands, what people were told last, and what the bot wrote last."""
    with contextlib.closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        standing = connection.execute("SELECT kind, state, attempts, count(*) FROM inbox GROUP BY 1, 2, 3").fetchall()
    told = [item.text for item in world.telegram.sent if not _RESULT.fullmatch(item.text)][-1:]
    return f"{_told_wrongly(world)[:3]} … {standing}, told last {told}, {''.join(world.bot.log[-5:])}"


def _told_wrongly(world: World) -> list[str]:
    """Compare the results that people got with what was asked for: one each, which a kill may have sent again."""
    told: dict[str, set[str]] = {tag: set() for tag in world.tags}
    for each in world.telegram.sent:
        if (found := _RESULT.fullmatch(each.text)) is not None:
            told[found["tag"]].add(found["answer"])
    return [f"{tag} has {len(answers)} results" for tag, answers in sorted(told.items()) if len(answers) != 1]


def install(folder: Path) -> None:
    """Put the two tools into a home."""
    folder.mkdir(mode=0o700, parents=True)
    for file, text in {"posting.py": Path(posting.__file__).read_text("utf-8"), "pyproject.toml": _PROJECT}.items():
        (folder / file).write_text(text, "utf-8")
        (folder / file).chmod(0o600)


def _wrong(world: World, kills: int) -> list[str]:
    """Compare what was posted with what was asked for: once each, but for calls of which nobody knows."""
    posted = Counter((world.home / POSTED).read_text("utf-8").split())
    unknown = world.model.told_unknown
    wrong = [f"{tag} was posted {times} times" for tag, times in posted.items() if times > 1]
    wrong += [f"{tag} was not posted" for tag in sorted(world.tags - posted.keys() - unknown)]
    if len(unknown) > len(world.chats) * kills:
        wrong.append(f"{len(unknown)} calls of which nobody knows after {kills} kills")
    return wrong
