"""`python -m bench.cost`: what a prompt costs with ten memories, a thousand, and a hundred thousand."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial

from bench import report
from bench.cost import checks, plot, run
from bench.report import Report, TokenCaps
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.core.settings.schema import ContextSettings

_SIZES, _TURNS = (10, 1000, 100_000), 60
_DESCRIPTION = """\
Fill homes of their own with made-up memories, hold the same kind of conversation in each, with a model that answers at
once, and measure every prompt: its tokens, how many of them are memory, how many a provider's prompt cache would serve,
and the milliseconds that it takes to build it and to answer. No network, no key; your own home is not touched.

Cached are the tokens of the longest stretch before a cache mark of the request before with which a request begins, byte
for byte. A provider serves that as long as its cache has not run out, and if it keeps stretches so short.

A hundred thousand memories take some minutes and half a gigabyte in the folder for temporary files; with an embedder
each of them is placed first, which takes the default model hours.
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("cost", _DESCRIPTION)
    shown = ",".join(map(str, _SIZES))
    parser.add_argument("--sizes", type=_sizes, default=_SIZES, metavar="N,N,…", help=f"how many memories ({shown})")
    parser.add_argument(
        "--turns", type=parse_up_to(10_000), default=_TURNS, metavar="N", help=f"messages of each talk ({_TURNS})"
    )
    parser.add_argument("--embedder", default="none", metavar="NAME", help="as memory.embedder (none)")
    return report.run(parser, argv, _measure)


def _measure(arguments: argparse.Namespace) -> tuple[Report, Callable[[str], None]]:
    rows = run.run(arguments.sizes, arguments.turns, arguments.embedder, show_progress)
    caps = TokenCaps.of_product(ContextSettings().memory_tokens)
    show_progress()
    return checks.report_of(rows, checks.failures(rows, caps)), partial(plot.draw, rows, caps)


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(int(part) for part in text.split(",") if part.isdecimal())
    if len(sizes) != len(text.split(",")) or not all(1 <= size <= 1_000_000 for size in sizes):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers from 1 to 1000000, such as 10,1000")
    return sizes


if __name__ == "__main__":
    sys.exit(main())
