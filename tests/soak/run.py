"""Drives a soak: so many messages, a bounded number of them under way, a look at the process every so often."""

import asyncio
import contextlib
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.soak import roads
from tests.soak.ledger import Ledger
from tests.soak.line import NOTED, REMEMBER
from tests.soak.sample import FLAT, Sample, drift, look

Through = Literal["telegram", "line"]

_WORDS = "the bot answers what people ask and remembers what they told it before así que nada se pierde".split()
_AHEAD = 4  # messages a chat has under way
_REMEMBERED = 0.02  # of the messages hold a fact
_FACTS = 300  # people repeat themselves; what is new makes memory, and the day's file, grow as it should
_STUCK_SECONDS = 60.0
_ENOUGH = 20_000  # messages, before anything can be said of growth


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. every: seconds between two looks."""

    messages: int
    through: Through
    seed: int = 20260214
    chats: int = 50
    every: float = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    rows: how many there are in each table at the end. facts: how many were told, each counted once, and how many of
    them memory holds. growth: see `tests.soak.sample.drift`.
    """

    plan: Plan
    samples: tuple[Sample, ...]
    seconds: float
    lost: int
    doubled: int
    disordered: int
    odd: tuple[str, ...]
    rows: dict[str, int]
    growth: float
    facts: tuple[int, int] = (0, 0)

    @property
    def verdict(self) -> Literal["flat", "NOT FLAT", "too short a run to say"]:
        if self.plan.messages < _ENOUGH:
            return "too short a run to say"
        return "flat" if self.growth <= FLAT else "NOT FLAT"

    @property
    def exact(self) -> bool:
        return not (self.lost or self.doubled or self.disordered or self.odd)


async def soak(plan: Plan, folder: Path, told: Callable[[Sample], None] = lambda sample: None) -> Outcome:
    """Run `plan` in the new `folder`; `told` hears of every look. Raises TimeoutError when the bot stops answering."""
    folder.mkdir()
    rng = random.Random(plan.seed)
    ledger = Ledger()
    facts = set[str]()
    samples: list[Sample] = []
    began = time.monotonic()
    open_road = roads.telegram if plan.through == "telegram" else roads.line
    async with open_road(folder, plan.chats, ledger.answer) as road:

        def glance() -> None:
            assert road.bot.process is not None
            samples.append(look(road.bot.process.pid, road.bot.home, time.monotonic() - began, ledger.answered))
            told(samples[-1])

        async def watch() -> None:
            while True:
                await asyncio.sleep(plan.every)
                glance()

        watcher = asyncio.create_task(watch())
        try:
            names = roads.chats(plan.chats)
            for _ in range(plan.messages):
                await _until(ledger, _AHEAD * plan.chats - 1)
                chat = rng.choice(names)
                words = _words(rng)
                if words.startswith(REMEMBER):
                    facts.add(words.partition("\n")[0])
                number, text = ledger.ask(chat, words)
                await road.say(chat, number, text)
            with contextlib.suppress(TimeoutError):
                await _until(ledger, 0)
        finally:
            watcher.cancel()
        glance()
        home = road.bot.home
    outcome = Outcome(
        plan=plan,
        samples=tuple(samples),
        seconds=time.monotonic() - began,
        lost=ledger.waiting,
        doubled=ledger.doubled,
        disordered=ledger.disordered,
        odd=tuple(ledger.odd),
        rows=_rows(home / "kenobot.db"),
        growth=drift(samples),
        facts=(len(facts), _count_noted(home / "kenobot.db")),
    )
    shutil.rmtree(folder)
    return outcome


async def _until(ledger: Ledger, open_: int) -> None:
    """Wait until at most `open_` messages are under way. Raises TimeoutError when nothing moves for a minute."""
    moved, before = time.monotonic(), ledger.answered
    while ledger.waiting > open_:
        await asyncio.sleep(0.002)
        if ledger.answered != before:
            moved, before = time.monotonic(), ledger.answered
        elif time.monotonic() - moved > _STUCK_SECONDS:
            raise TimeoutError(f"{ledger.waiting} messages have had no answer for a minute")


def _words(rng: random.Random) -> str:
    """A message: mostly short, now and then two pages, some of them worth a memory."""
    length = min(800, int(rng.paretovariate(1.2) * 6))
    words = " ".join(rng.choices(_WORDS, k=length))
    head = f"{REMEMBER} fact {rng.randrange(_FACTS)}" if rng.random() < _REMEMBERED else "a question"
    return f"{head}\n{words}"


def _count_noted(database: Path) -> int:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        counted = connection.execute("SELECT count(*) FROM record WHERE text LIKE ?", (f"{NOTED}%",))
        return int(counted.fetchone()[0])


def _rows(database: Path) -> dict[str, int]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in sorted(tables)}
