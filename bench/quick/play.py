"""Plays the scene in a checkout: commands, an empty home, a home with a long past. What it measures has stable keys."""

import shutil
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.quick import past
from bench.quick.process import CHATS, Checkout, Running
from bench.quick.scene import Told

FIGURES: Mapping[str, str] = {
    "version_ms": "`kenobot version`",
    "help_ms": "`kenobot --help`",
    "chat_ms": "`kenobot chat -m hello`, until its end",
    "chat_cpu_ms": "the same, CPU",
    "start_ms": "`kenobot run`, until its first answer",
    "p50_ms": "one chat, p50",
    "p99_ms": "one chat, p99",
    "rate": "one chat, turns a second",
    "cpu_ms": "one chat, CPU of a turn until all is quiet",
    "chats_rate": "50 chats, turns a second",
    "chats_cpu_ms": "50 chats, CPU of a turn until all is quiet",
    "memory_rate": "50 chats, each reply with a <memory>, turns a second",
    "memory_cpu_ms": "the same, CPU of a turn until all is quiet",
    "pause_ms": "longest pause of the event loop",
    "step_ms": "most CPU of one step in the event loop",
    "long_steps": "steps of more than 2 ms of CPU in the event loop",
    "rss_mb": "memory of the process and its children, at the end",
}
"""Every key of the figures, and what it means. The home with a past has them too, from `start_ms` on, as `past_…`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is played. commands: how often each is run.

    most_seconds: of one kind of turn. quiet_seconds: how long rest is waited for after it.
    """

    commands: int = 3
    sequential: int = 300
    parallel: int = 300
    remembered: int = 200
    past_turns: int = past.TURNS
    past_memories: int = past.MEMORIES
    most_seconds: float = 2.5
    quiet_seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class Played:
    """The figures by key, and the names of the steps that `step_ms` and `past_step_ms` mean."""

    figures: Mapping[str, float]
    steps: Mapping[str, str]


def play(tree: Path, folder: Path, plan: Plan, embedder: str) -> Played:
    """Play all of it with the files of a checkout, in an empty folder."""
    checkout = Checkout.planted(tree, folder / "plugins")
    home, old = folder / "home", folder / "past"
    checkout.once("chat", "--home", str(home), "-m", "hello")  # makes the home, and every module's bytecode
    (home / "identity" / "BOOTSTRAP.md").unlink(missing_ok=True)
    shutil.copytree(home, old)
    past.fill(old, plan.past_turns, plan.past_memories)
    figures = _commands(checkout, home, plan.commands)
    steps: dict[str, str] = {}
    for prefix, place in (("", home), ("past_", old)):
        found, step = _talk(checkout, place, plan, embedder)
        figures |= {prefix + key: value for key, value in found.items()}
        steps[prefix + "step_ms"] = step
    return Played({key: round(value, 3) for key, value in figures.items()}, steps)


def _commands(checkout: Checkout, home: Path, times: int) -> dict[str, float]:
    version = [checkout.once("version")[0] for _ in range(times)]
    helped = [checkout.once("--help")[0] for _ in range(times)]
    chats = [checkout.once("chat", "--home", str(home), "-m", "hello") for _ in range(times)]
    return {
        "version_ms": 1000 * statistics.median(version),
        "help_ms": 1000 * statistics.median(helped),
        "chat_ms": 1000 * statistics.median(seconds for seconds, _ in chats),
        "chat_cpu_ms": 1000 * statistics.median(cpu for _, cpu in chats),
    }


def _talk(checkout: Checkout, home: Path, plan: Plan, embedder: str) -> tuple[dict[str, float], str]:
    """The figures of one home, and the name of its longest step."""
    with Running(checkout, home, embedder) as bot:
        bot.ask(1)
        figures = {"start_ms": 1000 * (time.perf_counter() - bot.began)}
        bot.ask(20, most_seconds=plan.most_seconds)
        bot.wait_until_quiet(1.0)
        bot.ask()  # what the event loop went through while it started is no pause for anybody
        looks: list[Told] = []

        def measure(turns: int, chats: int, *, remember: bool = False) -> tuple[Told, float]:
            before = bot.cpu
            told = bot.ask(turns, chats, remember=remember, most_seconds=plan.most_seconds)
            bot.wait_until_quiet(plan.quiet_seconds)
            cpu = 1000 * (bot.cpu - before) / told["turns"]
            looks.extend((told, bot.ask()))
            return told, cpu

        told, figures["cpu_ms"] = measure(plan.sequential, 1)
        figures |= {"p50_ms": told["p50"], "p99_ms": told["p99"], "rate": told["turns"] / told["seconds"]}
        told, figures["chats_cpu_ms"] = measure(plan.parallel, CHATS)
        figures["chats_rate"] = told["turns"] / told["seconds"]
        told, figures["memory_cpu_ms"] = measure(plan.remembered, CHATS, remember=True)
        figures["memory_rate"] = told["turns"] / told["seconds"]
        longest = max(looks, key=lambda look: look["step"])
        figures["pause_ms"] = max(look["pause"] for look in looks)
        figures["step_ms"] = longest["step"]
        figures["long_steps"] = float(sum(look["long_steps"] for look in looks))
        figures["rss_mb"] = bot.rss
    return {key: figures[key] for key in FIGURES if key in figures}, longest["step_of"]
