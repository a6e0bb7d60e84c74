"""`python -m bench.month`: whether memory keeps what it should and hides what it should, over a scripted month."""

import argparse
import sys
from collections.abc import Sequence

from bench import report
from bench.month import checks, run, script
from bench.report import Report

_DESCRIPTION = """\
Live through a scripted month in a folder of its own, with a scripted model: corrections, contradictions, negations,
people with the same habits, a renamed project, C++ and C#, names in Chinese and Arabic, an emoji, restarts, nights, an
hour without a model, a guest and a group. Then see for each kind of fact whether what should live can be answered with,
and what should not is hidden. No network, no key; your own home is not touched.
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("month", _DESCRIPTION, plot=False)
    parser.add_argument("--fast", action="store_true", help="with a third of the everyday notes")
    return report.run(parser, argv, _measure)


def _measure(arguments: argparse.Namespace) -> tuple[Report, None]:
    return checks.report_of(run.run_month(script.load(), fast=arguments.fast)), None


if __name__ == "__main__":
    sys.exit(main())
