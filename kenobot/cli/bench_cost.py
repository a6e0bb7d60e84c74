"""`kenobot bench cost`: what a prompt costs with ten memories, a thousand, and a hundred thousand."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.cli.page_marks import page_marks, replace_between_marks

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock

_MARK = "cost"
_SIZES, _TURNS = (10, 1000, 100_000), 60
_number = options.bounded_int(10_000)
_DESCRIPTION = """\
Fill homes of their own with made-up memories, hold the same kind of conversation in each, with a model that answers at
once, and measure every prompt: its tokens, how many of them are memory, how many a provider's prompt cache would serve,
and the milliseconds that it takes to build it and to answer. No network, no key; your own home is not touched.

Cached are the tokens of the longest stretch before a cache mark of the request before with which a request begins, byte
for byte. A provider serves that as long as its cache has not run out, and if it keeps stretches so short.

A hundred thousand memories take some minutes and half a gigabyte in the folder for temporary files; with an embedder
each of them is placed first, which takes the default model hours.
"""


def add(parts: Any) -> None:
    cost = parts.add_parser(
        "cost",
        help="tokens, cached share and time of a prompt as memory grows",
        description=_DESCRIPTION,
        epilog="exit codes: 0 all is as it should be · 1 a budget or a time is not kept, and named",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shown = ",".join(map(str, _SIZES))
    cost.add_argument("--sizes", type=_sizes, default=_SIZES, metavar="N,N,…", help=f"how many memories ({shown})")
    cost.add_argument("--turns", type=_number, default=_TURNS, metavar="N", help=f"messages of each talk ({_TURNS})")
    cost.add_argument("--embedder", default="none", metavar="NAME", help="as memory.embedder (none)")
    cost.add_argument("--plot", default="", metavar="FILE.png", help="draw it; needs kenobot[plots]")
    begin, end = page_marks(_MARK)
    cost.add_argument("--write", metavar="FILE", help=f"put the table into FILE, between {begin} and {end}")
    options.add_json(cost)
    cost.set_defaults(command=bench_cost)


def bench_cost(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cognitive.policy import DEFAULT
    from kenobot.core.settings.schema import ContextSettings
    from kenobot.evals import plots
    from kenobot.evals.cost import plot
    from kenobot.evals.cost.judge import TokenCaps, as_json, failures, table
    from kenobot.evals.cost.run import run
    from kenobot.evals.years.live import errors_only

    if arguments.plot:
        plots.require_matplotlib()  # before a run that may take minutes
    with errors_only():
        rows = run(arguments.sizes, arguments.turns, arguments.embedder, options.show_progress)
    limits = TokenCaps(ContextSettings().budget_tokens, ContextSettings().memory_tokens + DEFAULT.tokens_beside_memory)
    found = failures(rows, limits)
    options.show_progress()
    print(json.dumps(as_json(rows, found), ensure_ascii=False) if arguments.json else table(rows, found))
    if arguments.plot:
        plot.draw(rows, limits, arguments.plot)
    if arguments.write:
        replace_between_marks(_MARK, arguments.write, table(rows, found))
    if found:
        print(f"kenobot: {len(found)} things are not as they should be.", file=sys.stderr)
    return 1 if found else 0


def _sizes(text: str) -> tuple[int, ...]:
    found = tuple(int(part) for part in text.split(",") if part.isdecimal())
    if len(found) != len(text.split(",")) or not all(1 <= size <= 1_000_000 for size in found):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers from 1 to 1000000, such as 10,1000")
    return found
