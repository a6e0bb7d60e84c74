"""`python -m bench.quick`: what a message costs a whole `kenobot run`, in under half a minute.

Starts `kenobot run` as a process, with a channel and a model that cost nothing, and everything else as shipped: full
durability, memory, Markdown files, index, audit trail. First with an empty home, then with a past of 20,000 turns and
10,000 memories that it has just been given and digests meanwhile. A turn is counted from the message handed in to the
answer handed out; its CPU is that of the process and its children until all is quiet, or for at most three seconds.

Compare CPU and counts. Milliseconds are those of the machine in that minute.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.quick.play import FIGURES, Plan, Played, play

_HERE = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.quick", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=_HERE, metavar="DIR", help="another checkout to measure (this)")
    parser.add_argument("--embedder", default="none", metavar="NAME", help="as memory.embedder (none)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args(argv)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
        played = play(arguments.tree.resolve(), Path(folder), Plan(), arguments.embedder)
    if arguments.json:
        print(json.dumps({"figures": played.figures, "steps": played.steps, "load": load}, indent=2))
    else:
        print("\n".join(table(played)))
        print(f"\nLoad of the machine before it began: {load:.1f}.")
    return 0


def table(played: Played) -> list[str]:
    """Every figure in a line: its key, its value in the empty home and with a past, and what it means."""
    lines = [f"{'':<14}{'empty':>12}{'past':>12}"]
    for key, meaning in FIGURES.items():
        cells = [played.figures.get(name) for name in (key, f"past_{key}")]
        shown = "".join(f"{cell:>12,.1f}" if cell is not None else f"{'':>12}" for cell in cells)
        lines.append(f"{key:<14}{shown}  {meaning}")
    return [*lines, "", *(f"{key}: {name}" for key, name in played.steps.items())]


if __name__ == "__main__":
    sys.exit(main())
