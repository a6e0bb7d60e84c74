"""Plays the scene in a checkout: commands, an empty home, homes with a long past. What it measures has stable keys."""

import shutil
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from bench.quick import past
from bench.quick.count import SINGLE_SECONDS, Counted, TurnCounter, warm
from bench.quick.process import CHATS, Checkout, Running
from bench.quick.scene import Told

COMMANDS: Mapping[str, str] = {
    "version_ms": "`kenobot version`",
    "help_ms": "`kenobot --help`",
    "chat_ms": "`kenobot chat -m hello`, until its end",
    "chat_cpu_ms": "the same, CPU",
}
TALK: Mapping[str, str] = {
    "start_ms": "`kenobot run`, until its first answer",
    "p50_ms": "one chat, p50",
    "p99_ms": "one chat, p99",
    "rate": "one chat, turns a second",
    "single_cpu_ms": "a message and then quiet: CPU of a turn with all it sets off",
    "single_memory_cpu_ms": "the same, the reply with a `<memory>`",
    "cpu_ms": "one chat, CPU of a turn until all is quiet",
    "chats_rate": "50 chats, turns a second",
    "chats_cpu_ms": "50 chats, CPU of a turn until all is quiet",
    "memory_rate": "50 chats, each reply with a `<memory>`, turns a second",
    "memory_cpu_ms": "the same, CPU of a turn until all is quiet",
    "pause_ms": "longest pause of the event loop",
    "own_pause_ms": "the same, at most the process's own CPU in it: without the machine's other jobs",
    "step_ms": "most CPU of one step in the event loop",
    "long_steps": "steps of more than 2 ms of CPU in the event loop",
    "rss_mb": "memory of the process and its children, at the end",
}
"""Keys of what a home is measured for. Those of homes with a past begin with `past_` and `lived_`."""

DIGEST = "digest_cpu_s"

Home = Literal["empty", "past", "lived"]
PREFIX: Mapping[Home, str] = {"empty": "", "past": "past_", "lived": "lived_"}

_DIGEST_SECONDS, _DIGEST_SECONDS_OF_A_ROW = 600.0, 0.02  # on a busy machine
_DIGEST_LOOKS = 50  # tenths of a second: it rests between two chats
_IDLE_SECONDS = 10.0
_SETTLE_SECONDS = 40.0  # that a bot may take over a home that was copied: each of its files is another one now


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is played. commands: how often each is run; 0: not at all.

    most_seconds: of one kind of turn. quiet_seconds: how long rest is waited for after it. rest_looks: tenths of a
    second of rest before the turns; the many files of a copied home are read again ten seconds after the start. single:
    turns that are followed by quiet, of each kind; 0: none are played.
    """

    commands: int = 3
    sequential: int = 300
    parallel: int = 300
    remembered: int = 200
    single: int = 4
    past_turns: int = past.TURNS
    past_memories: int = past.MEMORIES
    most_seconds: float = 1.5
    quiet_seconds: float = 1.5
    rest_looks: int = 12

    @property
    def digest_seconds(self) -> float:
        """How long the past may take to be digested."""
        return max(_DIGEST_SECONDS, _DIGEST_SECONDS_OF_A_ROW * (self.past_turns + self.past_memories))


@dataclass(frozen=True, slots=True)
class Played:
    """The figures by key. steps: the name of the step that `step_ms` of each home means.

    long_steps: by home, how many of which `long_steps` counts.
    """

    figures: Mapping[str, float]
    steps: Mapping[Home, str]
    long_steps: Mapping[Home, Mapping[str, int]]


class Stage:
    """A checkout with its homes in a new folder, made once; each play has copies of them, but for the lived one.

    empty: used for one "hello". past: has just been given a long past. lived: has digested it, after `digest`; each
    play goes on with it, since of a copy each file would be looked at anew.
    """

    def __init__(self, tree: Path, folder: Path, plan: Plan, embedder: str = "none") -> None:
        self._plan, self._embedder, self._folder = plan, embedder, folder
        self._checkout = Checkout.planted(tree, folder / "plugins")
        empty = folder / "empty"
        self._checkout.once("chat", "--home", str(empty), "-m", "hello")  # makes the home, and the modules' bytecode
        (empty / "identity" / "BOOTSTRAP.md").unlink(missing_ok=True)
        shutil.copytree(empty, folder / "past")
        past.fill(folder / "past", plan.past_turns, plan.past_memories)

    def digest(self) -> dict[str, float]:
        """Let the bot work through the past that it was given; the seconds of CPU that this takes.

        Raises RuntimeError after the plan's seconds; the home is then left as far as it came. Done again, it begins
        with the past anew.
        """
        patience = self._plan.digest_seconds
        shutil.rmtree(self._folder / "lived", ignore_errors=True)
        shutil.copytree(self._folder / "past", self._folder / "lived")
        with Running(self._checkout, self._folder / "lived", self._embedder) as bot:
            bot.ask(1)
            if not bot.wait_until_quiet(patience, looks=_DIGEST_LOOKS):
                raise RuntimeError(f"The bot has not digested its past within {patience:.0f} s.")
            return {DIGEST: round(bot.cpu, 3)}

    def play(self, homes: Sequence[Home]) -> Played:
        """Measure the commands, and talk to the bot in each of these homes."""
        with self._copied("empty") as home:
            figures = self._commands(home)
        steps: dict[Home, str] = {}
        long_steps: dict[Home, Mapping[str, int]] = {}
        for kind in homes:
            place = nullcontext(self._folder / kind) if kind == "lived" else self._copied(kind)
            with place as home, Running(self._checkout, home, self._embedder) as bot:
                found, looks = _talk(bot, self._plan)
            figures |= {PREFIX[kind] + key: found[key] for key in TALK if key in found}
            steps[kind] = max(looks, key=lambda look: look["step"])["step_of"]
            long_steps[kind] = sum((Counter(look["long_steps"]) for look in looks), Counter())
        return Played({key: round(value, 3) for key, value in figures.items()}, steps, long_steps)

    def count(self, kind: Home = "empty", functions: int = 0) -> Counted:
        """Count what a turn of each kind makes the bot do. functions: how many of the busiest are listed."""
        plan = self._plan
        with self._copied(kind) as home, Running(self._checkout, home, self._embedder, counted=True) as bot:
            bot.ask(1, watch=False)
            bot.wait_until_quiet(_SETTLE_SECONDS, looks=plan.rest_looks)
            warm(bot)
            return TurnCounter(bot, functions).count(plan.single, plan.sequential, plan.remembered, plan.parallel)

    def idle(self) -> dict[str, float]:
        """Percent of a core and memory of a bot with a thousand reminders to come, asked one question before."""
        with self._copied("empty") as home, Running(self._checkout, home, self._embedder) as bot:
            bot.ask(1, watch=False)
            _add_reminders(home / "kenobot.db", 1000)
            bot.wait_until_quiet(_IDLE_SECONDS, looks=20)
            before = bot.cpu
            time.sleep(_IDLE_SECONDS)
            return {"idle_percent": 100 * (bot.cpu - before) / _IDLE_SECONDS, "idle_rss_mb": bot.rss}

    @contextmanager
    def _copied(self, kind: Home) -> Iterator[Path]:
        copy = self._folder / f"{kind}-now"
        shutil.copytree(self._folder / kind, copy)
        yield copy
        shutil.rmtree(copy)

    def _commands(self, home: Path) -> dict[str, float]:
        if not self._plan.commands:
            return {}
        times = range(self._plan.commands)
        version = [self._checkout.once("version")[0] for _ in times]
        helped = [self._checkout.once("--help")[0] for _ in times]
        chats = [self._checkout.once("chat", "--home", str(home), "-m", "hello") for _ in times]
        return {
            "version_ms": 1000 * statistics.median(version),
            "help_ms": 1000 * statistics.median(helped),
            "chat_ms": 1000 * statistics.median(seconds for seconds, _ in chats),
            "chat_cpu_ms": 1000 * statistics.median(cpu for _, cpu in chats),
        }


def _talk(bot: Running, plan: Plan) -> tuple[dict[str, float], list[Told]]:
    """The figures of one home, and what the event loop went through meanwhile."""
    bot.ask(1, watch=False)
    figures = {"start_ms": 1000 * (time.perf_counter() - bot.began)}
    bot.ask(20, most_seconds=plan.most_seconds, watch=False)
    bot.ask(4, remember=True, watch=False)  # what reads statements is compiled for the first memory
    bot.wait_until_quiet(_SETTLE_SECONDS, looks=plan.rest_looks)
    figures |= _single(bot, plan.single)
    bot.ask()  # what the event loop went through while it started is no pause for anybody
    looks: list[Told] = []

    def measure(turns: int, chats: int, *, remember: bool = False) -> tuple[Told, float]:
        before = bot.cpu
        told = bot.ask(turns, chats, remember=remember, most_seconds=plan.most_seconds)
        bot.wait_until_quiet(plan.quiet_seconds)
        cpu = 1000 * (bot.cpu - before) / len(told["times"])
        looks.extend((told, bot.ask()))
        return told, cpu

    told, figures["cpu_ms"] = measure(plan.sequential, 1)
    figures |= {
        "p50_ms": statistics.median(told["times"]),
        "p99_ms": statistics.quantiles(told["times"], n=100)[98],
        "rate": _rate(told),
    }
    told, figures["chats_cpu_ms"] = measure(plan.parallel, CHATS)
    figures["chats_rate"] = _rate(told)
    told, figures["memory_cpu_ms"] = measure(plan.remembered, CHATS, remember=True)
    figures["memory_rate"] = _rate(told)
    figures |= {
        "pause_ms": max(look["pause"] for look in looks),
        "own_pause_ms": max(look["own_pause"] for look in looks),
        "step_ms": max(look["step"] for look in looks),
        "long_steps": float(sum(sum(look["long_steps"].values()) for look in looks)),
        "rss_mb": bot.rss,
    }
    return figures, looks


def _single(bot: Running, turns: int) -> dict[str, float]:
    """The CPU of turns with quiet after each, without what an idle bot takes in that time."""
    if not turns:
        return {}
    warm(bot)
    before = bot.cpu
    time.sleep(turns * SINGLE_SECONDS)
    idle = bot.cpu - before
    figures: dict[str, float] = {}
    for key, remember in (("single_cpu_ms", False), ("single_memory_cpu_ms", True)):
        before = bot.cpu
        bot.ask(turns, remember=remember, as_people=True, rest_seconds=SINGLE_SECONDS, watch=False)
        figures[key] = 1000 * (bot.cpu - before - idle) / turns
    return figures


def _rate(told: Told) -> float:
    return len(told["times"]) / told["seconds"]


def _add_reminders(path: Path, count: int) -> None:
    """Add reminders of next year; none to a home of before there were any."""
    with closing(sqlite3.connect(path, timeout=10)) as connection, connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'job'").fetchone():
            return
        due = (datetime.now(UTC) + timedelta(days=365)).replace(microsecond=0)
        connection.executemany(
            "INSERT INTO job (text, person, scope, channel, chat, private, language, start_local, planned, "
            "planned_due, next_due, state, trust, created) "
            "VALUES (?, 'owner', 'owner', 'telegram', '1', 1, 'en', ?, ?, ?, ?, 'active', 'owner', ?)",
            [
                (f"reminder {number}", *[due.replace(tzinfo=None).isoformat()] * 2, *[due.isoformat()] * 3)
                for number in range(count)
            ],
        )
