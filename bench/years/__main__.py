"""`python -m bench.years`: what becomes of memory when its owner talks every day for years."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial

from bench import report
from bench.report import Report, TokenCaps
from bench.years import checks, plot
from bench.years import run as years
from bench.years.run import WeekMetrics
from kenobot.cli.options import parse_up_to, show_progress

_DAYS, _PER_DAY = 730, 50
_number = parse_up_to(10_000)
_DESCRIPTION = """\
Live through years of talk in a folder of its own, on a clock that runs ahead, with a model that follows a script: facts
told once on the first day, guesses, habits said again and again, corrections, and small talk, in Spanish and English,
with sleep every night. Every week it is measured how much there is, how large prompts are, what is still known, and how
long nights and turns take. No network, no key; your own home is not touched. Two years take the better part of an hour.
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("years", _DESCRIPTION)
    parser.add_argument("--days", type=_number, default=_DAYS, metavar="N", help=f"how many ({_DAYS})")
    parser.add_argument("--per-day", type=_number, default=_PER_DAY, metavar="N", help=f"messages a day ({_PER_DAY})")
    return report.run(parser, argv, _measure)


def _measure(arguments: argparse.Namespace) -> tuple[Report, Callable[[str], None]]:
    lived = years.simulate_years(arguments.days, arguments.per_day, _print_week if arguments.json else _show_week)
    caps = TokenCaps.of_product(lived.talk.memory_tokens)
    return checks.report_of(lived, checks.failures(lived, caps)), partial(plot.draw, lived.weeks)


def _print_week(week: WeekMetrics) -> None:
    print(json.dumps(checks.week_as_json(week)), flush=True)


def _show_week(week: WeekMetrics) -> None:
    show_progress(f"day {week.day}: {week.live} memories")


if __name__ == "__main__":
    sys.exit(main())
