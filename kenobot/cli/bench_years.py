"""`kenobot bench years`: what becomes of memory when somebody talks every day for years."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.cli.page_marks import page_marks, replace_between_marks

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenobot.evals.years.live import WeekMetrics
    from kenobot.ports.clock import Clock

_MARK = "years"
_DAYS, _PER_DAY = 730, 50
_number = options.bounded_int(10_000)
_DESCRIPTION = """\
Live through years of talk in a folder of its own, on a clock that runs ahead, with a model that follows a script: facts
told once on the first day, guesses, habits said again and again, corrections, and small talk, in Spanish and English,
with sleep every night. Every week it is measured how much there is, how large prompts are, what is still known, and how
long nights and turns take. No network, no key; your own home is not touched. Two years take the better part of an hour.
"""


def add(parts: Any) -> None:
    years = parts.add_parser(
        "years",
        help="two simulated years: records, disk, prompts, recall and nights",
        description=_DESCRIPTION,
        epilog="exit codes: 0 all is as it should be · 1 something is not, and named",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    years.add_argument("--days", type=_number, default=_DAYS, metavar="N", help=f"how many ({_DAYS})")
    years.add_argument("--per-day", type=_number, default=_PER_DAY, metavar="N", help=f"messages a day ({_PER_DAY})")
    years.add_argument("--plot", metavar="FILE", help="draw it, as PNG; needs kenobot[plots]")
    begin, end = page_marks(_MARK)
    years.add_argument("--write", metavar="FILE", help=f"put the table into FILE, between {begin} and {end}")
    options.add_json(years)
    years.set_defaults(command=bench_years)


def bench_years(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cognitive.policy import DEFAULT
    from kenobot.core.settings.schema import ContextSettings
    from kenobot.evals import plots
    from kenobot.evals.years import plot
    from kenobot.evals.years.judge import TokenCaps, check_years, table
    from kenobot.evals.years.live import errors_only, simulate_years

    if arguments.plot:
        plots.require_matplotlib()
    with errors_only():
        years = simulate_years(arguments.days, arguments.per_day, _tell(as_json=arguments.json))
    verdict = check_years(
        years, TokenCaps(ContextSettings().budget_tokens, years.talk.memory_tokens + DEFAULT.tokens_beside_memory)
    )
    if arguments.json:
        print(json.dumps({"told": years.facts_told, "failures": verdict.failures}, ensure_ascii=False))
    else:
        print(table(years, verdict))
    if arguments.plot:
        plot.draw(years.weeks, arguments.plot)
    if arguments.write:
        replace_between_marks(_MARK, arguments.write, table(years, verdict))
    if not verdict.passed:
        print(f"kenobot: {len(verdict.failures)} things are not as they should be.", file=sys.stderr)
    return 0 if verdict.passed else 1


def _tell(*, as_json: bool) -> "Callable[[WeekMetrics], None]":
    """What is said of a week as it ends: an object, or a line for whoever waits."""
    from kenobot.evals.years import judge

    def tell(week: "WeekMetrics") -> None:
        if as_json:
            print(json.dumps(judge.week_as_json(week)), flush=True)
        else:
            options.show_progress(f"day {week.day}: {week.live} memories")

    return tell
