"""Random seeded `kill -9` while people talk over IRC, XMPP, Matrix and e-mail, each through its real server.

What a platform can promise is not the same. XMPP, Matrix and mail servers keep what is said to a bot that is away.
IRC keeps nothing: whoever writes to a bot that is away is told so by the server, and what the server writes into a
connection whose bot dies at that moment is gone. Sent twice, because the end came between a server's answer and our
record, an answer is the same event on Matrix, the same message by its id on XMPP and in mail, and a second line on IRC.
"""

import asyncio
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import pytest

from tests.crash.checker import compare
from tests.crash.platforms import PEOPLE, PLATFORMS, Heard, Platform, as_toml
from tests.crash.table import Line
from tests.crash.world import Lab, World, has_work, tag_in, until

_TITLES = {"irc": "IRC (ngircd)", "xmpp": "XMPP (prosody)", "matrix": "Matrix (synapse)", "email": "e-mail (dovecot)"}
_LONGEST_LIFE = 15.0  # seconds after `ready`, where answers are slow to come
_AFTER_ANSWERS = 0.15  # seconds
_WRITING_SECONDS = 0.1  # that the model takes, so that most kills fall into a turn
_EARLY = 10  # one life in so many ends before it is ready
_EARLY_SECONDS = 0.25
_SETTLE_SECONDS = 120.0


@dataclass
class _Talk:
    """What people said. lives: by person, what the server took for the bot in each of its lives. refused: how often
    it said that the bot is away.
    """

    world: World
    platform: Platform
    lives: Mapping[str, list[list[str]]] = field(default_factory=lambda: {name: [] for name in PEOPLE})
    refused: int = 0
    count: int = 0

    async def say(self, count: int) -> None:
        """Have people say so many things."""
        for _ in range(count):
            person, tag = self.world.rng.choice(PEOPLE), f"m{self.count:05d}"
            self.count += 1
            if await self.platform.say(person, f"{tag} {self.world.rng.choice(('hello', '¿qué tal?', '你好'))}"):
                self.lives[person][-1].append(tag)
            else:
                self.refused += 1

    def begin_life(self) -> None:
        for lives in self.lives.values():
            lives.append([])

    @property
    def said_in_this_life(self) -> set[str]:
        return {tag for lives in self.lives.values() for tag in lives[-1]}

    @property
    def owed(self) -> set[str]:
        """What the server has to hand over to a last life that nobody ends."""
        if not self.platform.keeps_messages:
            return self.said_in_this_life
        return {tag for lives in self.lives.values() for life in lives for tag in life}


async def play(lab: Lab, kills: int = 25, burst: int = 6) -> Sequence[Line]:
    """Play each platform for itself."""
    return [await play_one(lab, name, kills, burst) for name in PLATFORMS]


async def play_one(lab: Lab, name: str, kills: int, burst: int) -> Line:
    """Have two people say `burst` things in each life of the bot, and kill it after a random number of answers."""
    line = Line(f"`kill -9` at seeded random moments while two people talk over {_TITLES[name]}")
    try:
        async with PLATFORMS[name]() as platform:
            await _play(lab, platform, line, kills, burst)
    except pytest.skip.Exception as missing:
        line.missing = str(missing)
    return line


async def _play(lab: Lab, platform: Platform, line: Line, kills: int, burst: int) -> None:
    settings = f"\n{as_toml(platform)}"
    async with lab.world(f"{platform.name} kills", extra=settings) as world:
        world.bot.constants = {**world.bot.constants, "MatrixSettings.poll_seconds": 1, "EmailSettings.poll_seconds": 1}
        world.bot.environ = {"KENOBOT_CHANNELS__ENABLED": platform.name, **platform.environ}
        world.model.script = [{"match": "m", "delay": _WRITING_SECONDS}]
        await world.bot.start()
        await platform.meet()
        await world.bot.terminate()
        talk = _Talk(world, platform)
        for life in range(kills):
            await platform.part()
            talk.begin_life()
            await _live_and_die(talk, life, burst)
            lab.progress(f"{life + 1} of {kills} kills with {platform.name}")
        await platform.part()
        talk.begin_life()
        await world.bot.start()
        await platform.meet()
        await talk.say(burst)
        if not await until(partial(_is_settled, talk), _SETTLE_SECONDS):
            line.broken.append(f"not all was worked off: {_waiting(world)} {''.join(world.bot.log[-5:])}")
        if code := await world.bot.terminate():
            line.broken.append(f"exit code {code} after SIGTERM")
        line.times = kills
        await asyncio.to_thread(_judge, talk, line, kills)


async def _live_and_die(talk: _Talk, life: int, burst: int) -> None:
    """Start, answer some of what is said before and after, be killed."""
    world, platform = talk.world, talk.platform
    before = burst // 2
    await talk.say(before)
    if life % _EARLY == 3:
        await world.bot.spawn()
        await asyncio.sleep(world.rng.uniform(0.0, _EARLY_SECONDS))
        await world.bot.kill()
        return
    heard = len(platform.heard())
    await world.bot.start()
    await platform.meet()
    await talk.say(burst - before)
    answers = heard + world.rng.randrange(max(1, len(talk.said_in_this_life)))
    await until(lambda: len(platform.heard()) >= answers, _LONGEST_LIFE)
    await asyncio.sleep(world.rng.uniform(0.0, _AFTER_ANSWERS))
    await world.bot.kill()


def _is_settled(talk: _Talk) -> bool:
    """Whether people have an answer to all that the server had to hand over, and nothing is left to do."""
    return talk.owed <= {tag_in(each.text) for each in talk.platform.heard()} and not has_work(talk.world.home)


def _judge(talk: _Talk, line: Line, kills: int) -> None:
    """Compare what was said with what the home holds and what people got."""
    asked, world, platform = dict[str, list[str]](), talk.world, talk.platform
    stored, gone = _stored(world), 0
    for person, lives in talk.lives.items():
        for life in lives:
            kept = life if talk.owed.issuperset(life) else [tag for tag in life if tag in stored]
            gone += len(life) - len(kept)
            if life[: len(kept)] != kept:
                line.broken.append(f"{person} said {life}, and of that {kept} was stored: not the beginning")
            asked.setdefault(platform.sessions[person], []).extend(kept)
    heard = platform.heard()
    verdict = compare(world.home, asked, [(each.session, each.text) for each in heard])
    verdict.repeated_calls = sum(times - 1 for times in world.model.calls.values())
    line.add(verdict)
    line.broken += _wrong_repeats(platform, heard, kills)
    if platform.keeps_messages:
        line.notes.append(_NOTES[platform.name])
    else:
        line.notes.append(f"{talk.refused} refused by the server, {gone} gone with the connection")


_NOTES = {
    "xmpp": "what came again had the id it had before",
    "matrix": "the server takes what comes again once",
    "email": "what came again had the Message-ID it had before",
}


def _waiting(world: World) -> str:
    """Which parts have not gone out, and why."""
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        rows = connection.execute("SELECT chat, text, attempts, reason FROM outbox WHERE done_at IS NULL").fetchall()
    return f"{len(rows)} parts, such as {rows[:3]}"


def _stored(world: World) -> set[str]:
    with closing(sqlite3.connect(world.home / "kenobot.db")) as connection:
        return {tag for (text,) in connection.execute("SELECT text FROM inbox") if (tag := tag_in(text))}


def _wrong_repeats(platform: Platform, heard: Sequence[Heard], kills: int) -> Iterator[str]:
    marks = defaultdict[tuple[str, str], set[str]](set)
    for each in heard:
        marks[each.session, each.text].add(each.mark)
    if platform.repeats and (torn := [text for (_, text), own in marks.items() if len(own) > 1]):
        yield f"{torn[0]!r} and {len(torn) - 1} more came again as another message"
    repeated = sum(times - 1 for times in Counter((each.session, each.text) for each in heard).values())
    if repeated > platform.repeats * len(PEOPLE) * kills:
        yield f"{repeated} parts repeated by {kills} kills"
