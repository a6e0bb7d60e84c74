"""Random seeded `kill -9` while people press buttons: each press has its effect once, and its message tells of it."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from tests.crash.table import Line
from tests.crash.world import Lab, World, tag_in, until

_CHATS = 4
_LONGEST_LIFE = 0.8  # seconds after `ready`
_PATIENT = "\n[extraction]\nenabled = false\n"
_FACT = "is a fact of its own"
_UNDO = "Undo"
Message = tuple[str, int]  # a chat, and a message in it


async def play(lab: Lab, kills: int = 50, burst: int = 6) -> Line:
    """Have facts remembered and half of them undone by their button, some pressed twice, and kill the bot meanwhile."""
    line = Line("`kill -9` at seeded random moments while four chats press buttons")
    async with lab.world("press kills", _CHATS, extra=_PATIENT) as world:
        told = set[str]()
        pressed = dict[str, Message]()
        for life in range(kills):
            for _ in range(burst):
                tag, where = f"m{len(told):05d}", world.rng.choice(world.chats)
                told.add(tag)
                await world.telegram.say(remember(tag), where, where)
            await press_some(world, pressed)
            await world.bot.start()
            await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LIFE))
            await press_some(world, pressed)
            await asyncio.sleep(world.rng.uniform(0.0, 0.1))
            await world.bot.kill()
            lab.progress(f"{life + 1} of {kills} kills with presses in flight")
        await world.bot.start()
        if not await until(lambda: is_settled(world, told, pressed), 300):
            line.broken.append(f"not all was answered: {''.join(world.bot.log[-5:])}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        line.times = kills
        line.broken += await asyncio.to_thread(lambda: list(wrong(world, told, set(pressed))))
    line.notes.append(f"{len(told)} facts, {len(pressed)} of them undone by a press")
    return line


def remember(tag: str) -> str:
    """What somebody writes to have a fact remembered."""
    return f"/remember {tag} {_FACT}"


async def press_some(world: World, pressed: dict[str, Message]) -> None:
    """Press the button below half of the messages that have one, below some of them twice."""
    for message, text in tuple(world.telegram.stands.items()):
        tag = tag_in(text)
        if tag is None or tag in pressed or _UNDO not in world.telegram.buttons[message] or int(tag[1:]) % 2:
            continue
        pressed[tag] = message
        for _ in range(1 + world.rng.randrange(2)):
            await world.telegram.press(*message, _UNDO)


def is_settled(world: World, told: set[str], pressed: dict[str, Message]) -> bool:
    """Whether every fact and every press has its answer."""
    stands = world.telegram.stands
    answered = set(map(tag_in, stands.values()))
    return told <= answered and all(stands[message].startswith("Undone") for message in pressed.values())


def wrong(world: World, told: set[str], pressed: set[str]) -> Iterator[str]:
    """Compare memory and its events with what was told and pressed."""
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        facts = connection.execute("SELECT text, status FROM record WHERE text LIKE ?", (f"m0%{_FACT}",)).fetchall()
        undone = connection.execute(
            "SELECT count(*) FROM event JOIN record ON record.id = record_id WHERE type = 'undone' AND text LIKE ?",
            (f"m0%{_FACT}",),
        ).fetchone()[0]
        (left,) = connection.execute("SELECT count(*) FROM inbox WHERE state NOT IN ('answered', 'dropped')").fetchone()
    live = {text.split()[0] for text, status in facts if status == "active"}
    if len(facts) != len(told):
        yield f"{len(told)} facts were told, {len(facts)} are stored"
    if live != told - pressed:
        yield f"{sorted(live ^ (told - pressed))[:5]} are remembered or forgotten by mistake"
    if undone != len(pressed):
        yield f"{len(pressed)} buttons were pressed, {undone} changes undone"
    if left:
        yield f"{left} messages were not answered"
