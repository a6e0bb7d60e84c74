"""Random seeded `kill -9` while people write in fragments, edit what they wrote, and react to the answers."""

import asyncio
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from tests.crash.table import Line
from tests.crash.world import Lab, World, has_work, until

_CHATS = 4
_REACH = 8  # of so many messages of a chat the last ones are edited: memory looks back some hundred events
_LONGEST_LIFE = 1.2  # seconds after `ready`
FRAGMENT_SECONDS = 0.2
_SETTLE_SECONDS = 60.0
FORM = re.compile(r"\bm\d{5} v\d+\b")
NOTE = "[edited"


@dataclass
class Said:
    """A message in a chat and how often it was edited. number: its id on Telegram. media: what it shows, as Telegram
    tells of it; is_spoken: that is a voice, which has no words to edit.
    """

    tag: str
    number: int = 0
    edits: int = 0
    media: Mapping[str, object] = field(default_factory=dict)
    is_spoken: bool = False

    @property
    def form(self) -> str:
        return f"{self.tag} v{self.edits}"

    @property
    def words(self) -> str:
        return f"{self.form} {'again' if self.edits else 'hello'}"

    @property
    def text(self) -> str:
        """Its words, where they are not the caption of what it shows."""
        return "" if self.media else self.words

    @property
    def beside(self) -> dict[str, object]:
        """What it shows now, with its words as the caption."""
        return {**self.media, **({"caption": self.words} if self.media and not self.is_spoken else {})}


@dataclass
class People:
    """What people said, by chat, and what reactions they made."""

    world: World
    said: dict[str, list[Said]] = field(default_factory=dict)
    reactions: int = 0

    @property
    def everything(self) -> Sequence[Said]:
        return [message for mine in self.said.values() for message in mine]

    async def act(self) -> None:
        """Have somebody write, write on at once, edit the last message or an earlier one, or react to an answer."""
        rng, telegram = self.world.rng, self.world.telegram
        chat = rng.choice(self.world.chats)
        typed = [each for each in self.said.get(chat, ()) if not each.is_spoken]
        deed = rng.choice(("say", "say", "fragment", "edit", "edit", "edit earlier", "react"))
        if deed == "react":
            standing = [message for where, message in telegram.stands if where == chat]
            if standing:
                await telegram.react(rng.choice("👍👎"), rng.choice(standing), chat)
                self.reactions += 1
        elif deed.startswith("edit") and typed:
            edited = typed[-1] if deed == "edit" else rng.choice(typed[-_REACH:])
            edited.edits += 1
            await telegram.edit(edited.number, edited.text, chat, **edited.beside)
        else:
            for _ in range(2 if deed == "fragment" else 1):
                await self.write(Said(f"m{len(self.everything):05d}"), chat)

    async def write(self, message: Said, chat: str) -> None:
        """Have somebody send a message."""
        self.said.setdefault(chat, []).append(message)
        await self.world.telegram.say(message.text, chat, chat, **message.beside)
        message.number = self.world.telegram.newest


async def play(lab: Lab, kills: int = 50, burst: int = 8) -> Line:
    """Have people do `burst` things in each life, and kill the bot after a random moment, again and again."""
    line = Line("`kill -9` at seeded random moments while four chats write in fragments, edit and react")
    async with lab.world("edit kills", _CHATS) as world:
        world.bot.fragment_seconds = FRAGMENT_SECONDS
        world.bot.configure(owners=world.chats)
        people = People(world)
        for life in range(kills):
            for _ in range(burst):
                await people.act()
            await world.bot.start()
            await asyncio.sleep(world.rng.uniform(0.0, _LONGEST_LIFE))
            await world.bot.kill()
            lab.progress(f"{life + 1} of {kills} kills with edits in flight")
        await world.bot.start()
        if not await is_quiet(world):
            line.broken.append(f"not all was worked off: {''.join(world.bot.log[-5:])}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        line.times = kills
        line.broken += await asyncio.to_thread(lambda: list(wrong(people, kills)))
    line.notes.append(f"{sum(each.edits for each in people.everything)} edits")
    return line


async def is_quiet(world: World) -> bool:
    """Whether all that Telegram has is in the home, and nothing of it is left to do, in time."""

    def is_worked_off() -> bool:
        return world.telegram.acknowledged >= world.telegram.last_update and not has_work(world.home)

    return await until(is_worked_off, _SETTLE_SECONDS)


def wrong(people: People, kills: int) -> Iterator[str]:
    """Compare what people said with the conversation, and that with what stands on Telegram."""
    world = people.world
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        states = Counter(row[0] for row in connection.execute("SELECT state FROM inbox"))
        messages = connection.execute("SELECT inbox_id, role, text FROM message ORDER BY id").fetchall()
        reasons = connection.execute(
            "SELECT type, record_id, json_extract(data, '$.reason') FROM event "
            "WHERE json_extract(data, '$.reason') LIKE 'they reacted%'"
        ).fetchall()
    if set(states) - {"answered", "dropped"}:
        yield f"messages ended as {dict(states)}"
    told = Counter(form for _, role, text in messages if role == "user" for form in FORM.findall(text))
    for message in people.everything:
        if told[message.form] != 1:
            yield f"{message.form} stands {told[message.form]} times in the conversation"
    answers = Counter(inbox for inbox, role, _ in messages if role == "assistant")
    if twice := [inbox for inbox, times in answers.items() if times > 1]:
        yield f"in-{twice[0]} and {len(twice) - 1} more were answered twice"
    answered = answers.keys()
    noted = {inbox for inbox, role, text in messages if role == "user" and text.startswith(NOTE)}
    if unanswered := {inbox for inbox, role, _ in messages if role == "user"} - answered - noted:
        yield f"in-{min(unanswered)} and {len(unanswered) - 1} more have no answer in the conversation"
    stored = Counter(text for _, role, text in messages if role == "assistant")
    shown = Counter(text for text in world.telegram.stands.values() if text.startswith("answer "))
    if lost := stored - Counter(world.telegram.stands.values()):  # what an edit changed in memory is told as well
        yield f"{len(lost)} answers do not stand on Telegram: {next(iter(lost))}"
    if len(stale := shown - stored) > _CHATS * kills:
        yield f"{len(stale)} messages stand on Telegram that no answer is"
    if again := [each for each, times in Counter(reasons).items() if times > 1]:
        yield f"a reaction counted twice: {json.dumps(again[0])}"
