"""One bot with everything around it, and a conversation that can be checked: who said what, and what came of it."""

import asyncio
import contextlib
import json
import re
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.crash.nursery import Nursery
from tests.integration.process import Bot, Starter
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.stand_in import OWNER, Telegram

_TAG = re.compile(r"\bm\d{5}\b")
_FACT_EVERY = 10
_PATIENT = {"IntakePolicy.chat_backlog": 10_000}  # nobody is turned away for what piles up while the bot is dead
_WORDS = ("apples", "peras", "the harbour", "la montaña", "a red bicycle", "el tren de las nueve", "n8n", "mañana")


def tag_in(text: str) -> str | None:
    """The tag of the message that `text` is about: the last one in it."""
    found = _TAG.findall(text)
    return found[-1] if found else None


def fact_of(tag: str) -> str | None:
    """What the model asks to remember when it answers the message `tag`; None for most of them."""
    return f"Fact {tag} stands once" if int(tag[1:]) % _FACT_EVERY == 3 else None


class Model(StandIn):
    """Answers each message by its tag and the number of the call, so that two answers to one message never look alike.

    calls: how often it was asked about each message. A script may add delays, faults, and an `aside` after the answer.
    calls_tools: it answers a message once it has seen what the tools of `posting` returned. call_of: name and arguments
    of the tool that it calls before `look`. told_unknown: messages whose call was broken off by a kill.
    """

    def __init__(self) -> None:
        super().__init__([])
        self.calls: Counter[str] = Counter()
        self.calls_tools = False
        self.call_of: Callable[[str], tuple[str, Mapping[str, Any]]] = lambda tag: ("post", {"tag": tag})
        self.told_unknown: set[str] = set()
        self._number = 0

    def _entry(self, said: str) -> Entry:
        self.requests.clear()  # whole prompts, by the thousand
        self.headers.clear()
        entry = super()._entry(said)
        tag = tag_in(said)
        if tag is None:
            return entry
        if self.calls_tools and f"seen {tag}" not in said:
            calls = (self.call_of(tag), ("look", {"tag": tag}))
            named = [{"id": f"t{name}", "name": name, "arguments": json.dumps(given)} for name, given in calls]
            return {**entry, "reply": "", "calls": named}
        if "not known whether it happened" in said:
            self.told_unknown.add(tag)
        self.calls[tag] += 1
        self._number += 1
        fact = fact_of(tag)
        remember = f" <memory>{fact}</memory>" if fact else ""
        return {**entry, "reply": f"answer {self._number} to {tag}{remember}{entry.get('aside', '')}"}


@dataclass
class World:
    """A bot, its Telegram, its model.

    asked: what was said to it, by chat, in order. updates: the number of the update that brought each tag.
    """

    telegram: Telegram
    model: Model
    bot: Bot
    rng: Random
    chats: tuple[str, ...]
    asked: dict[str, list[str]] = field(default_factory=dict)
    updates: dict[str, int] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    _count: int = 0
    _looked: int = 0

    @property
    def home(self) -> Path:
        return self.bot.home

    @property
    def tags(self) -> set[str]:
        """Every message said so far."""
        return {tag for texts in self.asked.values() for text in texts if (tag := tag_in(text))}

    @property
    def facts(self) -> set[str]:
        """Everything that the model is to have remembered once all is answered."""
        return {fact for tag in self.tags if (fact := fact_of(tag))}

    async def say(self, count: int = 1, chat: str | None = None) -> list[str]:
        """People say `count` things, in `chat` or in any; returns their tags."""
        return [await self.say_this(self.rng.choice(_WORDS), chat) for _ in range(count)]

    async def say_this(self, text: str, chat: str | None = None) -> str:
        """Somebody says `text`, in `chat` or in any; returns its tag."""
        tag = f"m{self._count:05d}"
        self._count += 1
        where = chat or self.rng.choice(self.chats)
        self.asked.setdefault(where, []).append(f"{tag} {text}")
        self._open.add(tag)
        self.updates[tag] = await self.telegram.say(f"{tag} {text}", where, where)
        return tag

    def unanswered(self) -> set[str]:
        """The messages that Telegram has seen no answer to."""
        for item in self.telegram.sent[self._looked :]:
            if tag := tag_in(item.text):
                self._open.discard(tag)
        self._looked = len(self.telegram.sent)
        return self._open

    async def settles(self, seconds: float = 60, patient: bool = True) -> bool:
        """Whether every message gets an answer in time; not `patient`: stop waiting when the bot ends."""
        return await until(lambda: not self.unanswered() or (not patient and self.ended), seconds) and (
            not self.unanswered()
        )

    @property
    def ended(self) -> bool:
        return self.bot.process is None or self.bot.process.returncode is not None


async def until(happy: Callable[[], Any], seconds: float) -> bool:
    """Whether `happy` becomes true in time."""
    deadline = time.monotonic() + seconds
    while not happy():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


async def until_still(happy: Callable[[], Any], seen: Callable[[], Any], seconds: float) -> bool:
    """Whether `happy` becomes true before what is `seen` has stayed the same for so long: for work of any length."""
    last, since = seen(), time.monotonic()
    while not happy():
        if (now := seen()) != last:
            last, since = now, time.monotonic()
        if time.monotonic() - since > seconds:
            return False
        await asyncio.sleep(0.02)
    return True


def has_work(home: Path) -> bool:
    """Whether a home holds messages that are not answered, or parts that are not sent."""
    with contextlib.closing(sqlite3.connect(home / "kenobot.db")) as connection:
        (waiting,) = connection.execute(
            "SELECT (SELECT count(*) FROM inbox WHERE done_at IS NULL) "
            "+ (SELECT count(*) FROM outbox WHERE done_at IS NULL)"
        ).fetchone()
    return bool(waiting)


@dataclass(frozen=True)
class Lab:
    """What all scenarios share: a folder of their own, the nursery, a seed, and somebody to tell how far they are."""

    folder: Path
    nursery: Nursery
    seed: int
    progress: Callable[[str], None] = lambda _: None

    @contextlib.asynccontextmanager
    async def world(
        self, name: str, chats: int = 3, home: Path | None = None, starter: Starter | None = None, extra: str = ""
    ) -> AsyncIterator[World]:
        """A new world, its bot configured and not started; whatever runs at the end is killed."""
        folder = Path(tempfile.mkdtemp(prefix=f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}-", dir=self.folder))
        numbers = tuple(str(int(OWNER) + number) for number in range(chats))
        async with Telegram() as telegram, Model() as model:
            bot = Bot(
                *(home or folder / "home", telegram, model.url),
                starter=starter or self.nursery,
                extra=extra,
                constants=_PATIENT,
            )
            bot.configure(owners=numbers)
            try:
                yield World(telegram, model, bot, Random(f"{self.seed} {name}"), numbers)
            finally:
                if bot.process is not None and bot.process.returncode is None:
                    with contextlib.suppress(TimeoutError):
                        bot.signal(signal.SIGCONT)
                        await bot.kill()


@contextlib.asynccontextmanager
async def lab(seed: int, progress: Callable[[str], None] = lambda _: None) -> AsyncIterator[Lab]:
    """A lab in a temporary folder that goes with it."""
    with tempfile.TemporaryDirectory(prefix="kenobot-crash-") as folder:
        async with Nursery() as nursery:
            yield Lab(Path(folder), nursery, seed, progress)
