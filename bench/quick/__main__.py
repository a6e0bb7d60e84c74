"""`python -m bench.quick`: what a message costs a whole `kenobot run`, in under two minutes.

Starts `kenobot run` as a process, with a channel and a model that cost nothing, and everything else as shipped: full
durability, memory, Markdown files, index, audit trail. First with an empty home, then with a past of 20,000 turns and
10,000 memories that it has just been given and digests meanwhile; with --lived also when it has digested them. A turn
is counted from the message handed in to the answer handed out; its CPU is that of the process and its children until
all is quiet, or for at most a second and a half after the last. Single turns have quiet after each, as when a person
reads the answer: what the bot takes at rest in that time is not theirs.

Compare CPU and counts. Milliseconds are those of the machine in that minute; `python -m bench.against` compares pairs.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.quick.play import COMMANDS, DIGEST, PREFIX, TALK, Home, Plan, Played, Stage

ROOT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.quick", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=ROOT, metavar="DIR", help="another checkout to measure (this)")
    parser.add_argument("--embedder", default="none", metavar="NAME", help="as memory.embedder (none)")
    parser.add_argument("--lived", action="store_true", help="also a past that is digested, which may take minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args(argv)
    load = os.getloadavg()[0]
    homes: list[Home] = ["empty", "past"]
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
        stage = Stage(arguments.tree.resolve(), Path(folder), Plan(), arguments.embedder)
        if arguments.lived:
            figures |= stage.digest()
            homes.append("lived")
        played = stage.play(homes)
    figures |= played.figures
    if arguments.json:
        print(
            json.dumps(
                {"figures": figures, "steps": played.steps, "long_steps": played.long_steps, "load": load}, indent=2
            )
        )
    else:
        print("\n".join(table(replace(played, figures=figures))))
        print(f"\nLoad of the machine before it began: {load:.1f}.")
    return 0


def table(played: Played) -> list[str]:
    """Every figure in a line: its key, its value in each home, and what it means."""
    homes = list(played.steps)
    lines = [f"{'':<14}" + "".join(f"{home:>12}" for home in homes)]
    for key, meaning in {**COMMANDS, **TALK}.items():
        cells = [played.figures.get(PREFIX[home] + key) for home in PREFIX if home in homes]
        shown = "".join(f"{cell:>12,.1f}" if cell is not None else f"{'':>12}" for cell in cells)
        lines.append(f"{key:<14}{shown}  {meaning}")
    if DIGEST in played.figures:
        lines.append(f"{DIGEST:<14}{played.figures[DIGEST]:>{12 * len(homes)},.1f}  CPU until the past is digested")
    longest = [f"the longest step, {home}: {step}" for home, step in played.steps.items()]
    counts = [(home, name, count) for home, found in played.long_steps.items() for name, count in found.items()]
    return [*lines, "", *longest, *(f"more than 2 ms, {home}: {name}, {count} times" for home, name, count in counts)]


if __name__ == "__main__":
    sys.exit(main())
