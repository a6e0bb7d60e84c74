"""`kenobot bench month`: whether memory keeps what it should and hides what it should, over a scripted month."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from kenobot.cli import bench_cost, bench_recall, bench_years, options
from kenobot.cli.page_marks import page_marks, replace_between_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kenobot.evals.month.judge import MonthResult
    from kenobot.ports.clock import Clock

_MARK = "month"
_DESCRIPTION = """\
Live through a scripted month in a folder of its own, with a scripted model: corrections, contradictions, negations,
people with the same habits, a renamed project, C++ and C#, names in Chinese and Arabic, an emoji, restarts, an hour
without a model, a guest and a group. Then see for each kind of fact whether what should live can be answered with, and
what should not is hidden. No network, no key; your own home is not touched.
"""


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "bench",
        help="measure what memory is worth",
        description="Measure what memory is worth, on scripts and sets that ship, and on data of yours.",
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    month = parts.add_parser(
        "month",
        help="a scripted month: what is kept, answered and hidden",
        description=_DESCRIPTION,
        epilog="exit codes: 0 all is as it should be · 1 something is not, and named",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    month.add_argument("--fast", action="store_true", help="with a third of the everyday notes")
    begin, end = page_marks(_MARK)
    month.add_argument("--write", metavar="FILE", help=f"put the table into FILE, between {begin} and {end}")
    options.add_json(month)
    month.set_defaults(command=bench_month)
    bench_years.add(parts)
    bench_recall.add(parts)
    bench_cost.add(parts)


def bench_month(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    import logging

    from kenobot.evals.month import script
    from kenobot.evals.month.judge import table
    from kenobot.evals.month.play import run_month

    log = logging.getLogger("kenobot")
    level = log.level
    log.setLevel(logging.ERROR)  # an hour without a model is part of the script
    try:
        verdict = run_month(script.load(), _command_line, fast=arguments.fast)
    finally:
        log.setLevel(level)
    if arguments.json:
        _print_json(verdict)
    else:
        print(table(verdict))
    if arguments.write:
        replace_between_marks(_MARK, arguments.write, table(verdict))
    if not verdict.passed:
        print(f"kenobot: {len(verdict.failures)} things are not as they should be.", file=sys.stderr)
    return 0 if verdict.passed else 1


def _command_line(words: "Sequence[str]", clock: "Clock") -> int:
    from kenobot.cli import main

    return main(words, clock)


def _print_json(verdict: "MonthResult") -> None:
    from dataclasses import asdict

    for row in (*verdict.rows.values(), verdict.total):
        print(json.dumps(asdict(row), ensure_ascii=False))
    ending = {"restarts": verdict.restarts, "readings": verdict.extractions, "failures": verdict.failures}
    print(json.dumps(ending, ensure_ascii=False))
