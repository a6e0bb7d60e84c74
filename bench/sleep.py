"""Conversation beside sleep: what a turn costs while a whole night works through a large memory, and without one.

Turns are measured before the night and after it, with the same long talk behind them as beside it, and what is said is
made up of words as frequent as words are. `python -m bench.sleep --records 20000` prints a table, pass by pass. Wanted:
the p95 of turns at most doubles.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from bench.memory import LanguageSampler, language_samplers
from bench.turns import CHANNEL, BenchApp
from kenobot.language.fingerprint import key_of
from kenobot.ports.nights import NightProgress
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

_TIMES = 2.0  # the most that the p95 may grow by
_APART = 0.05  # seconds between two turns: a person, or a few, and not a flood
_TALK = 2000  # turns that were said before


def fill_records(connection: Connection, records: int, rng: Random) -> None:
    """Memories of every kind that sleep has to do with, two years of them, and some of the last days."""
    spoken = language_samplers(rng)
    now = datetime.now(UTC)
    rows: list[tuple[int | float | str | None, ...]] = []
    for number in range(1, records + 1):
        speech = spoken[rng.choice(("english", "spanish"))]
        text = " ".join(speech.say(rng, 14))
        if number % 50 == 0 and rows:
            text = f"{rows[-1][4]} {speech.say(rng, 1)[0]}"  # nearly what was said before
        old = number % 10 != 0
        moment = now - (timedelta(days=730 * (1 - number / records)) if old else timedelta(hours=20 * rng.random()))
        at = stamp(moment)
        guess = number % 7 == 0
        rows.append(
            (
                *(number, "episode" if number % 3 else "note"),
                *("owner" if number % 4 else f"chat:bench-{number % 20}", rng.choice(("owner", "ana", "bruno")), text),
                *(0.35 if guess else 0.9, 0.1 + 0.8 * rng.random(), "model" if guess else "owner"),
                *(at, at, at, at, at[:10], key_of(text) + str(number)),
                stamp(moment + timedelta(days=14)) if guess else None,
            )
        )
    connection.executemany(
        "INSERT INTO record (id, form, scope, subject, text, source, confidence, importance, trust, stability, "
        "valid_from, created, updated, last_seen, day, key, expires, changed_event) "
        "VALUES (?, ?, ?, ?, ?, 'tag', ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, 0)",
        rows,
    )
    connection.executemany(
        "INSERT OR IGNORE INTO link (src, dst, type, confidence, first_at, last_at) VALUES (?, ?, 'related', .6, ?, ?)",
        [(number, rng.randint(1, number), rows[number - 1][8], rows[number - 1][8]) for number in range(2, records)],
    )


def fill_conversation(connection: Connection, turns: int, spoken: dict[str, LanguageSampler], rng: Random) -> None:
    """A talk of so many turns, of the last year."""
    now = datetime.now(UTC)
    for number in range(turns):
        speech = spoken["spanish" if number % 3 else "english"]
        at = (now - timedelta(days=1 + 365 * (1 - number / turns))).isoformat()
        connection.executemany(
            "INSERT INTO message (session, role, text, at, trust) VALUES (?, ?, ?, ?, ?)",
            [
                (f"{CHANNEL}-0", "user", " ".join(speech.say(rng, 12)), at, "owner"),
                (f"{CHANNEL}-0", "assistant", " ".join(speech.say(rng, 20)), at, "model"),
            ],
        )


class BackgroundTalk:
    """Says something of usual length, and notes how many seconds the answer took."""

    def __init__(self, scene: BenchApp, rng: Random) -> None:
        self._scene = scene
        self._rng = rng
        self._spoken = language_samplers(rng)

    async def say(self) -> float:
        """One turn, and a moment of rest after it."""
        speech = self._spoken[self._rng.choice(("english", "spanish"))]
        took = await self._scene.say("0", f"what about {' '.join(speech.say(self._rng, 6))}?")
        await asyncio.sleep(_APART)
        return took

    async def talk(self, turns: int) -> list[float]:
        """So many turns."""
        return [await self.say() for _ in range(turns)]


def p95(times: Sequence[float]) -> float:
    """Milliseconds."""
    return 1000 * statistics.quantiles(times, n=20)[18] if len(times) > 1 else 1000 * sum(times)


async def measure(folder: Path, records: int, turns: int) -> dict[str, float]:
    """p50 and p95 of turns without and beside a night, in milliseconds, and the seconds of the night and its passes."""
    figures: dict[str, float] = {}
    async with BenchApp(folder) as scene:
        rng = Random(7)
        await scene.app.database.write(lambda connection: fill_records(connection, records, rng))
        await scene.app.database.write(
            lambda connection: fill_conversation(connection, _TALK, language_samplers(rng), rng)
        )
        await scene.app.indexer.index_all()
        began = time.perf_counter()
        await scene.app.memory_files.sync_out()
        figures["writing the files before it, s"] = time.perf_counter() - began
        talker = BackgroundTalk(scene, rng)
        await talker.talk(50)
        alone = await talker.talk(turns // 2)
        seconds: dict[str, float] = {}
        latest = [time.perf_counter()]

        async def tell(step: NightProgress) -> None:
            if step.result is not None:
                seconds[f"{step.name} ({step.result.done} decisions)"] = time.perf_counter() - latest[0]
            latest[0] = time.perf_counter()

        began = time.perf_counter()
        night = asyncio.create_task(scene.app.background.sleep_worker.sleep("command", tell=tell))
        beside: list[float] = []
        while not night.done():
            beside.append(await talker.say())
        report = await night
        took = time.perf_counter() - began
        await scene.app.memory_files.sync_out()
        alone += await talker.talk(turns - turns // 2)
        figures["turns without sleep: p50, ms"] = 1000 * statistics.median(alone)
        figures["turns without sleep: p95, ms"] = p95(alone)
        figures["turns beside sleep: p50, ms"] = 1000 * statistics.median(beside)
        figures["turns beside sleep: p95, ms"] = p95(beside)
        figures["times the p95"] = p95(beside) / p95(alone)
        figures["turns beside sleep"] = len(beside)
        figures["the night, s"] = took
        figures["decisions"] = report.decisions
        figures.update({f"  {name}, s": each for name, each in seconds.items()})
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.sleep", description=__doc__)
    parser.add_argument("--records", type=int, default=20_000, help="records of the memory (20000)")
    parser.add_argument("--turns", type=int, default=400, help="turns without sleep, half of them after it (400)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
        figures = asyncio.run(measure(Path(folder), arguments.records, arguments.turns))
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:<52} {value:>10,.2f}")
    return 1 if figures["times the p95"] > _TIMES else 0


if __name__ == "__main__":
    sys.exit(main())
