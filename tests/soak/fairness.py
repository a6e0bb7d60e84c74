"""`python -m tests.soak.fairness`: does one chat that writes 500 messages a second slow down another?

A real `kenobot run` against the Telegram emulator and a stand-in for the model that takes 300 ms a reply. One chat asks
once a second and waits for its answers, first alone, then while another chat, allowed as well, floods the bot.
"""

import argparse
import asyncio
import contextlib
import sqlite3
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.stand_in import OWNER, Sent, Telegram
from tests.soak.document import DOCUMENT, placed

_LOUD = str(int(OWNER) + 1)
_REPLY_SECONDS = 0.3
_TICK = 0.01
_WARM_UP = 5
_SLOWER = 1.2  # times, at most


@dataclass(frozen=True, slots=True)
class FairnessResult:
    """Seconds the quiet chat waited, and what became of the flood: `told` is what the loud chat read beside answers."""

    alone: tuple[float, ...]
    flooded: tuple[float, ...]
    seconds: float
    sent: int
    accepted: int
    answered: int
    told: tuple[str, ...]
    unanswered: int

    @property
    def slower(self) -> float:
        """How many times as long the quiet chat's middle message waited."""
        return statistics.median(self.flooded) / statistics.median(self.alone)

    @property
    def passed(self) -> bool:
        return self.slower <= _SLOWER and self.unanswered == 0 and self.answered == self.accepted


class _Model(StandIn):
    def _entry(self, said: str) -> Entry:
        self.requests.clear()
        self.headers.clear()
        return {"reply": f"ok: {said}", "delay": _REPLY_SECONDS}


async def measure_fairness(folder: Path, seconds: float, rate: int) -> FairnessResult:
    """Run both halves in the new `folder`, each `seconds` long."""
    async with Telegram() as telegram, _Model() as model:
        bot = Bot(folder / "home", telegram, model.url)
        bot.configure(owners=(OWNER, _LOUD))
        await bot.start()
        try:
            await _ask(telegram, "warm up", _WARM_UP)
            alone = await _ask(telegram, "alone", int(seconds))
            shouting = asyncio.create_task(_shout(telegram, seconds, rate))
            flooded = await _ask(telegram, "in the flood", int(seconds))
            sent = await shouting
            unanswered = await _settled(bot)
        finally:
            await bot.terminate()
        loud = [item.text for item in telegram.sent if item.chat == _LOUD]
        answers = [text for text in loud if text.startswith("ok: ")]
        return FairnessResult(
            alone=tuple(alone),
            flooded=tuple(flooded),
            seconds=seconds,
            sent=sent,
            accepted=_count(bot, f"chat = '{_LOUD}'"),
            answered=len(set(answers)),
            told=tuple(text for text in loud if not text.startswith("ok: ")),
            unanswered=unanswered,
        )


async def _ask(telegram: Telegram, what: str, count: int) -> list[float]:
    """One question a second, each when the one before has been answered; how long each waited."""
    waits = []
    for number in range(count):
        text = f"{what} {number}"
        began = time.perf_counter()
        await telegram.say(text)
        await telegram.until(partial(_heard, f"ok: {text}"), 120)
        waits.append(time.perf_counter() - began)
        await asyncio.sleep(max(0.0, 1.0 - waits[-1]))
    return waits


def _heard(text: str, sent: list[Sent]) -> bool:
    return any(item.text == text for item in sent[-100:])


async def _shout(telegram: Telegram, seconds: float, rate: int) -> int:
    """Send `rate` messages a second; returns how many there were."""
    began, sent = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - began) < seconds:
        while sent < elapsed * rate:
            sent += 1
            await telegram.say(f"flood {sent}", _LOUD, _LOUD)
        await asyncio.sleep(_TICK)
    return sent


async def _settled(bot: Bot, seconds: float = 120) -> int:
    """Wait until nothing waits for a turn or for delivery; how many messages still do when time is up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while _count(bot, "done_at IS NULL") or _count(bot, "state = 'pending'", "outbox"):
                await asyncio.sleep(0.2)
    return _count(bot, "done_at IS NULL")


def _count(bot: Bot, condition: str, table: str = "inbox") -> int:
    with contextlib.closing(sqlite3.connect(bot.home / "kenobot.db", timeout=10)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()[0])


def report(outcome: FairnessResult, rate: int) -> str:
    """The figures as Markdown."""
    rows = []
    for label, waits in (("alone", outcome.alone), ("while the other floods", outcome.flooded)):
        p95 = statistics.quantiles(waits, n=20)[18]
        rows.append(f"| {label} | {len(waits)} | {1000 * statistics.median(waits):.0f} | {1000 * p95:.0f} |")
    told = "; ".join(f"“{text}”" for text in dict.fromkeys(outcome.told)) or "nothing"
    return "\n".join(
        [
            f"A chat that asks once a second, a model that takes {1000 * _REPLY_SECONDS:.0f} ms, and another chat that "
            f"sends {rate} messages a second for {outcome.seconds:g} s:",
            "",
            "| the quiet chat | questions | p50, ms | p95, ms |",
            "|---|---|---|---|",
            *rows,
            "",
            f"Its middle question waits **{outcome.slower:.2f} times** as long (at most {_SLOWER}). Of the flood's "
            f"{outcome.sent:,} messages {outcome.accepted:,} were accepted and {outcome.answered:,} answered, the "
            f"others turned away; the loud chat was told {len(outcome.told)} times: {told}",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.fairness", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="how long each half takes (20)")
    parser.add_argument("--rate", type=int, default=500, help="messages a second of the flood (500)")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/figures/soak.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kenobot-flood-") as folder:
        outcome = asyncio.run(measure_fairness(Path(folder), given.seconds, given.rate))
    print(report(outcome, given.rate))
    if given.write:
        text = DOCUMENT.read_text("utf-8")
        DOCUMENT.write_text(placed(text, "python -m tests.soak.fairness", report(outcome, given.rate)), "utf-8")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    sys.exit(main())
