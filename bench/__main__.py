"""`python -m bench`: figures of the whole way of a message, for a provider that answers at once.

Everything is as shipped: each message, reply and record is on disk (SQLite, WAL, synchronous=FULL) before it is
acknowledged, the audit trail is on, the Markdown mirror is kept. A turn is counted from the channel handing a message
in to the channel being handed the answer.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import sys
import tempfile
from pathlib import Path

from bench.memory import at_size
from bench.process import start_and_rss
from bench.turns import BenchApp, fill, in_parallel, one_after_another
from bench.vectors import models


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--turns", type=int, default=2000, help="turns a row (2000)")
    parser.add_argument("--records", type=int, default=100_000, help="records of a large memory (100000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    figures: dict[str, float | str] = {}
    figures.update(start_and_rss())
    figures.update(models())
    top: list[str] = []
    for label, history, memories in (("empty", 0, 0), ("20,000 turns, 10,000 memories", 20_000, 10_000)):
        with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
            figures.update(asyncio.run(_measure(Path(folder), label, arguments.turns, history, memories, top)))
    large = at_size(arguments.records)
    figures.update({f"{arguments.records:,} records: {name}": value for name, value in large.items()})
    if arguments.json:
        print(json.dumps({"figures": figures, "profile": top}, indent=2))
        return 0
    for name, value in figures.items():
        print(f"{name:<62} {value:>12}" if isinstance(value, str) else f"{name:<62} {value:>12,.2f}")
    print("\nTen functions with the most time of their own, in the event loop's thread, sequential turns:")
    print("\n".join(top))
    return 0


async def _measure(
    folder: Path, label: str, turns: int, history: int, memories: int, top: list[str]
) -> dict[str, float | str]:
    async with BenchApp(folder) as scene:
        if history:
            await fill(scene, history, memories)
        await one_after_another(scene, 50)
        p50, p99, rate = await one_after_another(scene, turns)
        wide = await in_parallel(scene, chats=50, turns=turns)
        tagged = await in_parallel(scene, chats=50, turns=turns // 2, remember=True)
        if not top:
            profile = cProfile.Profile()
            profile.enable()
            await one_after_another(scene, turns)
            profile.disable()
            top.extend(_top_ten(profile))
    return {
        f"{label}: sequential p50, ms": p50,
        f"{label}: sequential p99, ms": p99,
        f"{label}: sequential, turns/s": rate,
        f"{label}: 50 chats, turns/s": wide,
        f"{label}: 50 chats, each reply with a <memory>, turns/s": tagged,
    }


def _top_ten(profile: cProfile.Profile) -> list[str]:
    stats = pstats.Stats(profile)
    total = stats.total_tt or 1.0  # type: ignore[attr-defined]
    rows = sorted(stats.stats.items(), key=lambda item: item[1][2], reverse=True)  # type: ignore[attr-defined]
    return [
        f"{own / total:6.1%}  {calls:>9,} calls  {Path(file).name}:{line} {name}"
        for (file, line, name), (_, calls, own, *_rest) in rows[:10]
    ]


if __name__ == "__main__":
    sys.exit(main())
