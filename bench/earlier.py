"""What a turn, a start and memory cost now, as ratios to the commit from which half of it was to go.

Both trees in turn, each with its own entry points, by `bench.against`, `bench.counts` and `bench.telegram`; of each
side the best run counts; beside their ratio is the median of the pairs'. Telegram's bot is without an embedder: the
two trees have other ones.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bench import report
from bench.quick.__main__ import ROOT
from bench.report import Report, show
from kenobot.cli.options import parse_up_to
from kenobot.ports.errors import ConfigError
from kenobot.ports.json_value import Json

_REVISION = "ca1c17a3"
_PAIRS, _MESSAGES = 5, 48
_MS, _MB = "CPU, ms", "MB"

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table. place: of its figure. unit: of both figures. aim: the ratio that it was to have."""

    what: str
    place: str
    unit: str
    aim: str = ""


_AGAINST = (
    Line("a message, then quiet", "single_cpu_ms", _MS, "0.45"),
    Line("the same, with a `<memory>`", "single_memory_cpu_ms", _MS, "0.5"),
    Line("in a row", "cpu_ms", _MS, "0.55"),
    Line("50 chats", "chats_cpu_ms", _MS, "0.6"),
    Line("50 chats, each with a `<memory>`", "memory_cpu_ms", _MS, "0.55"),
    Line("lived: a message, then quiet", "lived_single_cpu_ms", _MS, "0.5"),
    Line("lived: the same, with a `<memory>`", "lived_single_memory_cpu_ms", _MS, "0.5"),
    Line("lived: in a row", "lived_cpu_ms", _MS, "0.5"),
    Line("lived: 50 chats", "lived_chats_cpu_ms", _MS, "0.5"),
    Line("lived: 50 chats, each with a `<memory>`", "lived_memory_cpu_ms", _MS, "0.5"),
    Line("`kenobot run` until the first answer", "start_ms", "ms", "0.75"),
    Line("`kenobot chat -m hello`", "chat_cpu_ms", _MS, "0.75"),
    Line("resident after talk", "rss_mb", _MB, "0.9"),
    Line("until the past is digested", "digest_cpu_s", "CPU, s"),
)
_COUNTS = (
    Line("a message, then quiet", "single", "calls", "0.45"),
    Line("the same, with a `<memory>`", "single_memory", "calls", "0.5"),
    Line("in a row", "row", "calls", "0.55"),
    Line("in a row, with a `<memory>`", "row_memory", "calls", "0.55"),
    Line("50 chats", "chats", "calls"),
)
_TELEGRAM = (
    Line("Telegram: until the answer is sent", "CPU until the answer is sent, p50", _MS, "0.6"),
    Line("Telegram: until all is quiet, p50", "CPU until all is quiet, p50", _MS, "0.6"),
    Line("Telegram: until all is quiet, mean", "CPU until all is quiet, mean", _MS, "0.6"),
    Line("Telegram and Anthropic: resident", "resident, MB", _MB, "0.75"),
)
_LARGE = (
    Line("100,000 turns and memories: a message, then quiet", "lived_single_cpu_ms", _MS, "0.45"),
    Line("100,000 turns and memories: in a row", "lived_cpu_ms", _MS, "0.45"),
    Line("100,000 turns and memories: 50 chats", "lived_chats_cpu_ms", _MS, "0.45"),
)


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("earlier", str(__doc__), plot=False)
    parser.add_argument("revision", nargs="?", default=_REVISION, help=f"the commit ({_REVISION})")
    parser.add_argument("--pairs", type=parse_up_to(100), default=_PAIRS, metavar="N", help=f"({_PAIRS})")
    parser.add_argument("--messages", type=parse_up_to(1000), default=_MESSAGES, metavar="N", help=f"({_MESSAGES})")
    parser.add_argument("--large", action="store_true", help="100,000 turns and memories too: twenty minutes more")
    return report.run(parser, argv, lambda given: (_measure(given), None))


class Pair(BaseModel):
    """Figures of both sides, by their place."""

    before: dict[str, float]
    now: dict[str, float]


class Pairs(BaseModel):
    """What `bench.against` prints."""

    pairs: list[Pair]


class Counted(BaseModel):
    """What `bench.counts` prints, by kind of turn and what is counted."""

    before: dict[str, dict[str, float]]
    counts: dict[str, dict[str, float]]


def _measure(given: argparse.Namespace) -> Report:
    revision: str = given.revision
    rows = compare(_AGAINST, _run(Pairs, "bench.against", revision, "--pairs", str(given.pairs)).pairs)
    if given.large:
        past = ("--pairs", "1", "--past", "100000", "100000")
        rows += compare(_LARGE, _run(Pairs, "bench.against", revision, *past).pairs)
    counted = _run(Counted, "bench.counts", revision)
    before, now = ({kind: found["calls"] for kind, found in side.items()} for side in (counted.before, counted.counts))
    rows += compare(_COUNTS, [Pair(before=before, now=now)])
    options = ("--against", revision, "--embedder", "none", "--messages", str(given.messages))
    rows += compare(_TELEGRAM, [_run(Pair, "bench.telegram", *options)])
    heads = ("", "unit", revision[:8], "now", "ratio", "median ratio", "was to be")
    records: list[dict[str, Json]] = [dict(zip(heads, row, strict=True)) for row in rows]
    aimed = [row for row in rows if row[-1]]
    reached = sum(float(row[-3]) <= float(row[-1]) for row in aimed)
    note = f"{reached} of {len(aimed)} ratios are what they were to be."
    return Report(heads, rows, [], records, note, all_well="", names_first=True)


def _run(shape: type[Shape], module: str, *options: str) -> Shape:
    """Run a bench and read its JSON. Raises ConfigError where it printed none; it may have found a bound exceeded."""
    done = subprocess.run(
        [sys.executable, "-m", module, *options, "--json"], cwd=ROOT, stdout=subprocess.PIPE, check=False
    )
    try:
        return shape.model_validate_json(done.stdout)
    except ValidationError:
        raise ConfigError(f"{module} ended with {done.returncode} and no figures: see above.") from None


def compare(lines: Sequence[Line], pairs: Sequence[Pair]) -> list[Sequence[str]]:
    """Make the rows of figures that both sides have: the least of each side, their ratio, the pairs' median."""
    rows: list[Sequence[str]] = []
    for line in lines:
        if all(line.place in side for pair in pairs for side in (pair.before, pair.now)):
            before, now = (min(pair.before[line.place] for pair in pairs), min(pair.now[line.place] for pair in pairs))
            middle = statistics.median(pair.now[line.place] / pair.before[line.place] for pair in pairs)
            rows.append(
                (line.what, line.unit, show(before), show(now), f"{now / before:.2f}", f"{middle:.2f}", line.aim)
            )
    return rows


if __name__ == "__main__":
    sys.exit(main())
