"""Random seeded `kill -9` while people write in fragments, edit what they wrote, and react to the answers."""

import asyncio
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

from tests.crash.table import Line
from tests.crash.world import Lab, World

_CHATS = 4
_LONGEST_LIFE = 1.2  # seconds after `ready`
_FRAGMENT_SECONDS = 0.2
_SETTLE_SECONDS = 60.0
_FORM = re.compile(r"\bm\d{5}v\d+\b")


@dataclass
class _Said:
    """A message in a chat and how often it was edited. number: its id on Telegram."""

    number: int
    tag: str
    edits: int = 0

    @property
    def form(self) -> str:
        return f"{self.tag}v{self.edits}"


@dataclass
class _People:
    """What people said, by chat, and what reactions they made."""

    world: World
    said: dict[str, list[_Said]] = field(default_factory=dict)
    reactions: int = 0

    async def act(self) -> None:
        """Have somebody write, write on at once, edit the last message or an earlier one, or react to an answer."""
        rng, telegram = self.world.rng, self.world.telegram
        chat = rng.choice(self.world.chats)
        mine = self.said.setdefault(chat, [])
        deed = rng.choice(("say", "say", "fragment", "edit", "edit", "edit earlier", "react"))
        if deed == "react":
            standing = [message for where, message in telegram.stands if where == chat]
            if standing:
                await telegram.react(rng.choice("👍👎"), rng.choice(standing), chat)
                self.reactions += 1
        elif deed.startswith("edit") and mine:
            edited = mine[-1] if deed == "edit" else rng.choice(mine)
            edited.edits += 1
            await telegram.edit(edited.number, _words(edited), chat)
        else:
            for _ in range(2 if deed == "fragment" else 1):
                message = _Said(0, f"m{sum(map(len, self.said.values())):05d}")
                mine.append(message)
                await telegram.say(_words(message), chat, chat)
                message.number = telegram.newest


async def play(lab: Lab, kills: int = 50, burst: int = 8) -> Line:
    """Have people do `burst` things in each life, and kill the bot after a random moment, again and again."""
    line = Line("`kill -9` at seeded random moments while four chats write in fragments, edit and react")
    async with lab.world("edit kills", _CHATS, extra="\n[loop]\nchat_backlog = 10000\n") as world:
        world.bot.fragment_seconds = _FRAGMENT_SECONDS
        world.bot.configure(owners=world.chats)
        people = _People(world)
        for life in range(kills):
            for _ in range(burst):
                await people.act()
            await world.bot.start()
            await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LIFE))
            await world.bot.kill()
            lab.progress(f"{life + 1} of {kills} kills with edits in flight")
        await world.bot.start()
        if not await _is_quiet(world):
            line.broken.append(f"not all was worked off: {''.join(world.bot.log[-5:])}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        line.times = kills
        line.broken += await asyncio.to_thread(lambda: list(_wrong(people, world, kills)))
    line.notes.append(f"{sum(each.edits for mine in people.said.values() for each in mine)} edits")
    return line


def _words(message: _Said) -> str:
    return f"{message.form} {'again' if message.edits else 'hello'}"


async def _is_quiet(world: World) -> bool:
    """Whether all that Telegram has is in the home, and nothing of it is left to do, in time."""

    def has_work() -> bool:
        with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
            (done,) = connection.execute("SELECT count(done_at) FROM inbox").fetchone()
            (waiting,) = connection.execute("SELECT count(*) FROM outbox WHERE done_at IS NULL").fetchone()
        return bool(waiting) or done < world.telegram.last_update  # each update is a row

    try:
        async with asyncio.timeout(_SETTLE_SECONDS):
            while await asyncio.to_thread(has_work):
                await asyncio.sleep(0.05)
    except TimeoutError:
        return False
    return True


def _wrong(people: _People, world: World, kills: int) -> Iterator[str]:
    """Compare what people said with the conversation, and that with what stands on Telegram."""
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        states = Counter(row[0] for row in connection.execute("SELECT state FROM inbox"))
        messages = connection.execute("SELECT inbox_id, role, text FROM message ORDER BY id").fetchall()
        reasons = connection.execute(
            "SELECT type, record_id, json_extract(data, '$.reason') FROM event "
            "WHERE json_extract(data, '$.reason') LIKE 'they reacted%'"
        ).fetchall()
    if set(states) - {"answered", "dropped"}:
        yield f"messages ended as {dict(states)}"
    told = Counter(form for _, role, text in messages if role == "user" for form in _FORM.findall(text))
    for mine in people.said.values():
        for message in mine:
            if told[message.form] != 1:
                yield f"{message.form} stands {told[message.form]} times in the conversation"
    answered = {inbox for inbox, role, _ in messages if role == "assistant"}
    noted = {inbox for inbox, role, text in messages if role == "user" and text.startswith("[edited")}
    if unanswered := {inbox for inbox, role, _ in messages if role == "user"} - answered - noted:
        yield f"in-{min(unanswered)} and {len(unanswered) - 1} more have no answer in the conversation"
    stored = Counter(text for _, role, text in messages if role == "assistant")
    shown = Counter(world.telegram.stands.values())
    if lost := stored - shown:
        yield f"{len(lost)} answers do not stand on Telegram: {next(iter(lost))}"
    if len(stale := shown - stored) > _CHATS * kills:
        yield f"{len(stale)} messages stand on Telegram that no answer is"
    if twice := [each for each, times in Counter(reasons).items() if times > 1]:
        yield f"a reaction counted twice: {json.dumps(twice[0])}"
