"""`python -m bench.counts`: what a turn makes `kenobot run` do, counted, in under two minutes.

Calls of Python and C by thread, SQL statements, commits, read jobs, callbacks of the event loop, looks at files: of a
message with quiet after it, as a person writes, and of messages in a row. What an idle bot does in that time is taken
off. Counts hardly vary with the machine, so those of single turns are held to bench/counts.toml: exits 1 where one is
more than 5 % above its bound. --write puts today's there, which a commit that lowers them does.
"""

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.quick.__main__ import ROOT
from bench.quick.play import COUNTS, KINDS, Counted, Plan, Stage

BOUNDS = Path(__file__).with_suffix(".toml")
GATED = ("single", "single_memory")
RISE, SLACK = 1.05, 1.0  # a count may be so many times its bound, or so much above it
_PLAN = Plan(sequential=100, parallel=200, remembered=100, single=10, quiet_seconds=6.0, most_seconds=60.0)
_HEAD = """# What a turn may make the bot do: `python -m bench.counts` fails where a count is more than 5 % above this.
# --write puts in what was counted.
"""

Counts = Mapping[str, Mapping[str, float]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.counts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=ROOT, metavar="DIR", help="another checkout to count in (this)")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="show the N busiest functions and SQL")
    parser.add_argument("--write", action="store_true", help=f"put the counts of single turns into {BOUNDS.name}")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args(argv)
    counted = measure(arguments.tree.resolve(), arguments.functions)
    if arguments.write:
        BOUNDS.write_text(_HEAD + to_toml(counted.counts), "utf-8")
    failures = judge(counted.counts, tomllib.loads(BOUNDS.read_text("utf-8"))) if arguments.tree == ROOT else []
    if arguments.json:
        print(json.dumps({"counts": counted.counts, "busiest": counted.busiest, "failures": failures}, indent=2))
    else:
        print("\n".join([*table(counted.counts), *busiest(counted), "", *(failures or ["Nothing failed."])]))
    return 1 if failures else 0


def measure(tree: Path, functions: int = 0) -> Counted:
    """Count the turns of a checkout in an empty home."""
    with tempfile.TemporaryDirectory(prefix="kenobot-counts-") as folder:
        return Stage(tree, Path(folder), _PLAN).count(functions=functions)


def judge(counts: Counts, bounds: Counts) -> list[str]:
    """The counts of single turns that rose above their bounds, one plain sentence each."""
    return [
        f"{KINDS[kind]}: {COUNTS[key]} were {counts[kind][key]:,.1f}, at most {RISE} times {bound:,.1f}."
        for kind, held in bounds.items()
        for key, bound in held.items()
        if counts[kind][key] > max(RISE * bound, bound + SLACK)
    ]


def to_toml(counts: Counts) -> str:
    """The bounds of single turns, as the counts are."""
    lines = []
    for kind in GATED:
        lines += ["", f"[{kind}]", *(f"{key} = {max(0.0, counts[kind][key]):.1f}" for key in COUNTS)]
    return "\n".join(lines[1:]) + "\n"


def table(counts: Counts, before: Counts | None = None) -> list[str]:
    """A line for each count, a column for each kind of turn; beside `before`, what it is times what it was."""
    kinds = [kind for kind in KINDS if kind in counts]
    lines = [f"{'':<18}" + "".join(f"{kind:>15}" for kind in kinds)]
    for key, meaning in COUNTS.items():
        cells = [f"{counts[kind][key]:,.1f}" for kind in kinds]
        if before is not None:
            pairs = [(before[kind][key], counts[kind][key]) for kind in kinds]
            cells = [f"{now:,.1f} {f'({now / was:.2f})' if was > 0 else '':>6}" for was, now in pairs]
        lines.append(f"{key:<18}" + "".join(f"{cell:>15}" for cell in cells) + f"  {meaning}")
    return lines


def busiest(counted: Counted) -> list[str]:
    """The functions and statements of each kind of turn, those with the most calls first."""
    found = []
    for kind, calls in counted.busiest.items():
        found += ["", f"{KINDS[kind]}:", *(f"{count:>10,.1f}  {name}" for name, count in calls.items())]
    return found if any(counted.busiest.values()) else []


if __name__ == "__main__":
    sys.exit(main())
