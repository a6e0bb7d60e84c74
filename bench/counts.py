"""`python -m bench.counts [REVISION]`: what a turn makes `kenobot run` do, counted, in under two minutes.

Calls of Python and C by thread, SQL statements, commits, read jobs, callbacks of the event loop, looks at files: of a
message with quiet after it, as a person writes, and of messages in a row. Counts hardly vary with the machine, so they
are held to bench/counts.toml: exits 1 where one of a single turn is more than 10 % above its bound, or one of turns in
a row, which a busy machine bundles otherwise, more than 30 %. --write puts today's there, which a commit that changes
them does. With a revision its counts stand beside, and nothing is held to a bound.
"""

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.against import unpack
from bench.quick.__main__ import ROOT
from bench.quick.count import COUNTS, KINDS, Counted, Counts
from bench.quick.play import Plan, Stage

BOUNDS = Path(__file__).with_suffix(".toml")
_SINGLE = ("calls", "statements", "writer_statements", "commits", "reads", "callbacks", "files")
_ROW = ("calls", "writer_statements")  # the others of turns in a row depend on how they are bundled
GATED: Mapping[str, Sequence[str]] = {
    "single": _SINGLE,
    "single_memory": _SINGLE,
    "row": _ROW,
    "row_memory": _ROW,
}
# Single turns are counted at 10,500 calls or 11,400, as one more batch of extraction falls among the ten or does not.
_RISE: Mapping[str, float] = {"single": 1.1, "single_memory": 1.1, "row": 1.3, "row_memory": 1.3}
_SLACK: Mapping[str, float] = {  # a turn, of what the clock sets off
    "statements": 20.0,
    "commits": 0.5,
    "reads": 4.0,
    "callbacks": 10.0,
    "files": 10.0,
}
# Ten: two batches that are extracted, and one that is summed up. Of eleven, one or two would be summed up.
_PLAN = Plan(sequential=100, parallel=200, remembered=100, single=10)
_HEAD = "# What a turn may make the bot do; python -m bench.counts --write puts in what was counted.\n"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.counts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", nargs="?", help="a commit to count in as well")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="show the N busiest jobs, functions, SQL")
    parser.add_argument("--write", action="store_true", help=f"put the counts into {BOUNDS.name}")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args(argv)
    before = None
    with tempfile.TemporaryDirectory(prefix="kenobot-counts-") as folder:
        if arguments.revision:
            try:
                unpack(arguments.revision, Path(folder) / "tree")
            except LookupError as error:
                print(f"bench.counts: {error}", file=sys.stderr)
                return 78
            before = measure(Path(folder) / "tree", Path(folder) / "before").counts
        counted = measure(ROOT, Path(folder) / "now", arguments.functions)
    if arguments.write:
        BOUNDS.write_text(_HEAD + to_toml(counted.counts), "utf-8")
    failures = [] if before else judge(counted.counts, tomllib.loads(BOUNDS.read_text("utf-8")))
    if arguments.json:
        told = {"before": before, "counts": counted.counts, "busiest": counted.busiest, "failures": failures}
        print(json.dumps(told, indent=2))
    else:
        print("\n".join([*table(counted.counts, before), *busiest(counted), "", *(failures or ["Nothing failed."])]))
    return 1 if failures else 0


def measure(tree: Path, folder: Path, functions: int = 0) -> Counted:
    """Count the turns of a checkout in an empty home below a new folder."""
    return Stage(tree, folder, _PLAN).count(functions=functions)


def judge(counts: Counts, bounds: Counts) -> list[str]:
    """The counts that rose above their bounds, one plain sentence each."""
    return [
        f"{KINDS[kind]}: {COUNTS[key]}: {counts[kind][key]:,.1f}, at most {_RISE[kind]} times {bound:,.1f}."
        for kind, held in bounds.items()
        for key, bound in held.items()
        if counts[kind][key] > max(_RISE[kind] * bound, bound + _SLACK.get(key, 1.0))
    ]


def to_toml(counts: Counts) -> str:
    """The bounds, as the counts are."""
    lines = []
    for kind, keys in GATED.items():
        lines += ["", f"[{kind}]", *(f"{key} = {max(0.0, counts[kind][key]):.1f}" for key in keys)]
    return "\n".join(lines[1:]) + "\n"


def table(counts: Counts, before: Counts | None = None) -> list[str]:
    """A line for each count, a column for each kind of turn; with `before`, how many times what it was as well."""
    lines = [f"{'':<18}" + "".join(f"{kind:>17}" for kind in counts)]
    for key, meaning in COUNTS.items():
        cells = [f"{counts[kind][key]:,.1f}" for kind in counts]
        if before is not None:
            pairs = [(before[kind][key], counts[kind][key]) for kind in counts]
            cells = [f"{now:,.1f} {f'({now / was:.2f})' if was > 1 else '':>6}" for was, now in pairs]
        lines.append(f"{key:<18}" + "".join(f"{cell:>17}" for cell in cells) + f"  {meaning}")
    return lines


def busiest(counted: Counted) -> list[str]:
    """The jobs, functions and statements of each kind of turn, those with the most calls first."""
    found = []
    for kind, calls in counted.busiest.items():
        if calls:
            found += ["", f"{KINDS[kind]}:", *(f"{count:>10,.1f}  {name}" for name, count in calls.items())]
    return found


if __name__ == "__main__":
    sys.exit(main())
