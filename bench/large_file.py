"""What a large file of notes costs the chats beside it: `python -m bench.large_file --notes 2000 16000`.

A running bot's MEMORY.md gets so many new lines at once. Meanwhile another chat asks one question after the other; then
a new bot starts on such a file, and is told to stop in the middle of it. `--import` has the command line bring as many
memories in beside the bot instead.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from bench.cost.memories import export_lines
from bench.turns import BenchApp

_WORDS = (
    "boiler repaired Luis tickets train Madrid lamp blue kitchen garden sister Ana doctor budget invoice printer "
    "router password guitar lesson bike tyre paint wall roof leak dentist school piano concert museum bakery cheese"
).split()
_QUIET_TURNS = 50
_STOP_AFTER = 3.0  # seconds of a catch-up


def notes(count: int) -> str:
    """Write so many different notes, one a line."""
    rng = Random(1)
    return "".join(f"- {' '.join(rng.sample(_WORDS, 4))} {number}\n" for number in range(count))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.large_file", description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=[2000, 16_000], help="lines of the file (2000 16000)")
    parser.add_argument("--import", dest="importing", action="store_true", help="by `kenobot memory import`")
    arguments = parser.parse_args()
    for count in arguments.notes:
        with tempfile.TemporaryDirectory(prefix="kenobot-large-") as folder:
            asyncio.run((_imported if arguments.importing else _edited)(Path(folder), count))
    return 0


async def _edited(folder: Path, count: int) -> None:
    async with BenchApp(folder / "a") as scene:
        await _quiet(scene, count)
        (scene.home.memory / "MEMORY.md").write_text(notes(count), "utf-8")
        began = time.perf_counter()
        intake = asyncio.create_task(scene.app.memory_files.sync_in())
        _show(count, "turn meanwhile", await _talk(scene, intake))
        print(f"{count:>7,}  taken in after {time.perf_counter() - began:.1f} s")
    scene = BenchApp(folder / "b")
    scene.home.prepare()
    (scene.home.memory / "MEMORY.md").write_text(notes(count), "utf-8")
    began = time.perf_counter()
    await scene.__aenter__()
    print(f"{count:>7,}  ready after {time.perf_counter() - began:.2f} s")
    with suppress(TimeoutError):
        async with asyncio.timeout(_STOP_AFTER):
            await scene.app.memory_files.wait_caught_up()
    began = time.perf_counter()
    await scene.__aexit__()
    print(f"{count:>7,}  stopped after {time.perf_counter() - began:.2f} s")


async def _imported(folder: Path, count: int) -> None:
    export = folder / "export.jsonl"
    export.write_text("".join(f"{line}\n" for line in export_lines(count, datetime.now(UTC))), "utf-8")
    async with BenchApp(folder / "a") as scene:
        await _quiet(scene, count)
        run = [sys.executable, "-m", "kenobot", "--home", str(scene.home.path), "memory", "import", str(export)]
        done = asyncio.create_task(asyncio.to_thread(subprocess.run, run, capture_output=True, check=True))
        _show(count, "turn meanwhile", await _talk(scene, done))


async def _quiet(scene: BenchApp, count: int) -> None:
    _show(count, "turn alone", [await scene.say("1", f"question {number}") for number in range(_QUIET_TURNS)])


async def _talk(scene: BenchApp, other: "asyncio.Task[object]") -> list[float]:
    """Ask one question after the other until something else is done; the seconds of each."""
    times: list[float] = []
    while not other.done() or not times:
        times.append(await scene.say("1", f"question {len(times)}"))
        await asyncio.sleep(0.01)
    other.result()
    return times


def _show(count: int, what: str, times: list[float]) -> None:
    middle, high = statistics.median(times), statistics.quantiles(times, n=100)[98] if len(times) > 1 else times[0]
    print(
        f"{count:>7,}  {what}: p50 {1000 * middle:.0f} ms, p99 {1000 * high:.0f} ms, longest {1000 * max(times):.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
