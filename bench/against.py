"""`python -m bench.against [REVISION]`: this working tree beside another commit, in turn on this machine.

Both play the scene of `python -m bench.quick`, with an empty home and with one that has lived with 20,000 turns and
10,000 memories, or with the past that --past gives, a pair at a time, so that whatever else the machine does meets
both. What counts is the ratio within a pair; shown is the median of the pairs. The other commit runs with the packages
that are installed here.

Exits 1 when a turn's CPU is more than 1.3 times what it was in each of three ways: the median of the pairs, the ratio
of the two medians, and the ratio of the two least figures, since another job on the machine can only add to a process's
CPU. Exits 1 too when in each run of this tree the event loop paused for more than 100 ms by the process's own doing. Of
a pause counts what the process itself computed in it. Before anything fails, as many pairs again are measured, and all
of them are judged: how much of the work behind the turns falls into one measurement is chance.

What single turns cost is measured as well, but by --short, where `python -m bench.counts` holds them: counted.

Without a revision it is the one that bench/baseline names; where that cannot be had (no git, a shallow clone) there is
nothing to compare with, which is said and is no failure. --short, as continuous integration runs it: four minutes,
with a past of 5,000 turns and 2,500 memories and without commands. Where a machine is so busy that seven minutes, or
the time that --seconds gives, are too few for the pairs, this is said and nothing is judged.
"""

import argparse
import io
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import itemgetter
from pathlib import Path

from bench.quick.__main__ import ROOT
from bench.quick.play import COMMANDS, DIGEST, PREFIX, TALK, Home, Plan, Stage
from kenobot.cli.options import show_progress

BASELINE = Path(__file__).with_name("baseline")
HOMES: Sequence[Home] = ("empty", "lived")
PAIRS = 3
CPU_RATIO = 1.3
PAUSE_MS = 100.0
_CPU = ("single_cpu_ms", "single_memory_cpu_ms", "cpu_ms", "chats_cpu_ms", "memory_cpu_ms")
GATED = (*(PREFIX[home] + key for home in HOMES for key in _CPU), DIGEST)
PAUSES = tuple(f"{PREFIX[home]}own_pause_ms" for home in HOMES)

_PATIENT = Plan(most_seconds=8.0, quiet_seconds=6.0)  # on a busy machine as many turns are played as on a quiet one
_SHORT_SECONDS = 420.0  # after which --short begins no pair
_SHORT = Plan(
    commands=0,
    single=0,
    sequential=200,
    parallel=200,
    remembered=200,
    past_turns=5_000,
    past_memories=2_500,
    most_seconds=8.0,
    quiet_seconds=6.0,
)

Figures = Mapping[str, float]
_CPU_OF_DIGEST = itemgetter(DIGEST)


@dataclass(frozen=True, slots=True)
class Pair:
    """The figures of the two, measured one right after the other."""

    before: Figures
    now: Figures

    def ratio(self, key: str) -> float | None:
        """How many times what it was; None where it was nothing, or was not measured."""
        return self.now[key] / self.before[key] if self.before.get(key) and key in self.now else None


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.against", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", nargs="?", help="the commit to compare with (the one that bench/baseline names)")
    parser.add_argument("--short", action="store_true", help="a shorter past, and no commands: four minutes")
    parser.add_argument(
        "--past", type=int, nargs=2, metavar=("TURNS", "MEMORIES"), help="the past of the lived home (20000 10000)"
    )
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help=f"how often each is measured ({PAIRS})")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help=f"begin no pair after S seconds ({_SHORT_SECONDS:.0f} with --short)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args(argv)
    revision = arguments.revision or baseline()
    if arguments.seconds is not None and arguments.seconds <= 0:
        print("bench.against: no time is left: nothing was compared.", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="kenobot-against-") as folder:
        try:
            unpack(revision, Path(folder) / "tree")
        except LookupError as error:
            print(f"bench.against: {error}", file=sys.stderr)
            if arguments.revision:
                return 78
            print("Nothing was compared.", file=sys.stderr)
            return 0
        plan, longest = (_SHORT, _SHORT_SECONDS) if arguments.short else (_PATIENT, inf)
        longest = longest if arguments.seconds is None else arguments.seconds
        if arguments.past:
            plan = replace(plan, past_turns=arguments.past[0], past_memories=arguments.past[1])
        pairs = measure(Path(folder), arguments.pairs, plan, longest)
    failures = judge(pairs) if len(pairs) >= arguments.pairs else []
    if arguments.json:
        shown = [{"before": pair.before, "now": pair.now} for pair in pairs]
        print(json.dumps({"revision": revision, "pairs": shown, "failures": failures}, indent=2))
    else:
        few = f"In {longest:.0f} s {len(pairs)} of {arguments.pairs} pairs were measured: too few to judge by."
        said = failures or ["Nothing failed." if len(pairs) >= arguments.pairs else few]
        print("\n".join([*table(revision, pairs), "", *said]))
    return 1 if failures else 0


def baseline() -> str:
    """The revision that bench/baseline names, below its comments."""
    lines = BASELINE.read_text("utf-8").splitlines()
    return next(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def unpack(revision: str, folder: Path) -> None:
    """Put a commit's files into a new folder. Raises LookupError when this repository does not have it."""
    command = ["git", "-C", str(ROOT), "archive", revision]
    try:
        packed = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise LookupError(f'Git is not installed here, so "{revision}" cannot be had.') from error
    if packed.returncode:
        why = packed.stderr.decode(errors="replace").strip()
        raise LookupError(
            f'Git cannot give out "{revision}": {why}. Name a commit that is in this repository, or fetch it (all of '
            "them: `git fetch --unshallow`)."
        )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="tar")


def measure(folder: Path, pairs: int, plan: Plan, longest: float) -> list[Pair]:
    """Measure the unpacked commit and this tree in turn, each pair in the other order than the one before.

    longest: seconds after which no more pairs are begun.
    """
    until = time.monotonic() + longest
    before = Stage(folder / "tree", folder / "before", plan)
    now = Stage(ROOT, folder / "now", plan)
    digested = _digested(before, now)

    def measure_pair(number: int) -> Pair:
        show_progress(f"pair {number + 1} of {pairs}" if number < pairs else "once more, before anything fails")
        if number % 2:
            second, first = now.play(HOMES), before.play(HOMES)
        else:
            first, second = before.play(HOMES), now.play(HOMES)
        return Pair({**first.figures, **digested[0]}, {**second.figures, **digested[1]})

    found = collect_pairs(measure_pair, pairs, lambda: time.monotonic() < until)
    show_progress()
    return found


def _digested(before: Stage, now: Stage) -> tuple[Figures, Figures]:
    """Have both digest their past; where that took too long, once more each, and the quicker one of each counts."""
    show_progress("digesting the past of both")
    first = Pair(before.digest(), now.digest())
    if (first.ratio(DIGEST) or 0.0) <= CPU_RATIO:
        return first.before, first.now
    again = Pair(before.digest(), now.digest())
    return min(first.before, again.before, key=_CPU_OF_DIGEST), min(first.now, again.now, key=_CPU_OF_DIGEST)


def collect_pairs(measure_pair: Callable[[int], Pair], pairs: int, has_time: Callable[[], bool]) -> list[Pair]:
    """Measure so many pairs while there is time, one at least; where they would fail, up to as many again."""
    found = [measure_pair(0)]
    while has_time() and (len(found) < pairs or (len(found) < 2 * pairs and judge(found))):
        found.append(measure_pair(len(found)))
    return found


def judge(pairs: Sequence[Pair]) -> list[str]:
    """What got worse beyond its bound, one plain sentence each."""
    failures = []
    for key in GATED:
        ratio = sure_ratio(pairs, key)
        if ratio is not None and ratio > CPU_RATIO:
            failures.append(f"{key} is at least {ratio:.2f} times what it was; at most {CPU_RATIO}.")
    for key in PAUSES:
        shortest = min(pair.now[key] for pair in pairs)
        if shortest > PAUSE_MS:
            failures.append(f"{key} was {shortest:.0f} ms or more in every run; at most {PAUSE_MS:.0f}.")
    return failures


def sure_ratio(pairs: Sequence[Pair], key: str) -> float | None:
    """Give the least of the pairs' median ratio, of the medians' and of the minima's; None where nothing was before."""
    counted = [pair for pair in pairs if pair.ratio(key) is not None]
    if not counted:
        return None
    before, now = [pair.before[key] for pair in counted], [pair.now[key] for pair in counted]
    of_pairs = statistics.median(after / earlier for earlier, after in zip(before, now, strict=True))
    return min(of_pairs, statistics.median(now) / statistics.median(before), min(now) / min(before))


def table(revision: str, pairs: Sequence[Pair]) -> list[str]:
    """A line for each figure: the medians of both, the median ratio, the lowest and highest, and what it means."""
    lines = [f"{'':<22}{revision[:10]:>12}{'this tree':>12}{'ratio':>8}  {'of the pairs':<14}"]
    meanings = {PREFIX[home] + key: f"{meaning} ({home})" for home in HOMES for key, meaning in TALK.items()}
    for key, meaning in {**COMMANDS, **meanings, DIGEST: "CPU until the past is digested"}.items():
        if key not in pairs[0].now:
            continue
        before, now = (
            statistics.median(side) for side in zip(*((p.before[key], p.now[key]) for p in pairs), strict=True)
        )
        ratios = [ratio for pair in pairs if (ratio := pair.ratio(key)) is not None]
        compared = f"{statistics.median(ratios):>8.2f}  {min(ratios):.2f}–{max(ratios):.2f}" if ratios else ""
        mark = "*" if key in GATED or key in PAUSES else " "
        lines.append(f"{key:<21}{mark}{before:>12,.1f}{now:>12,.1f}{compared:<24}{meaning}")
    return [*lines, "", "* is held to a bound."]


if __name__ == "__main__":
    sys.exit(main())
