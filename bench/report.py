"""Reports of benches: a table, what is not as it should be, JSON, a picture, and the exit code."""

import argparse
import contextlib
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kenobot.cli.pictures import plots
from kenobot.cognitive.policy import DEFAULT
from kenobot.core.settings.schema import ContextSettings
from kenobot.ports.errors import ConfigError
from kenobot.ports.json_value import Json
from kenobot_evals.page_marks import page_marks, replace_between_marks

_CONFIG = 78


@dataclass(frozen=True, slots=True)
class TokenCaps:
    """The product's own caps, in tokens. prompt: of a whole prompt. memory: of what memory adds to it."""

    prompt: int
    memory: int

    @classmethod
    def of_product(cls, memory_tokens: int) -> "TokenCaps":
        beside = DEFAULT.recall.budget + DEFAULT.procedural.max_tokens + DEFAULT.working_tokens
        return cls(ContextSettings().budget_tokens, memory_tokens + beside)


@dataclass(frozen=True, slots=True)
class Report:
    """What a bench came to.

    heads, rows: cells of the table.
    failures: what is not as it should be, one plain sentence each.
    records: for --json, an object a line.
    note: a sentence below the table.
    all_well: a sentence where there are no failures; "" where nothing is judged.
    names_first: the first column holds names, which are not set right.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    failures: Sequence[str]
    records: Sequence[Mapping[str, Json]]
    note: str = ""
    all_well: str = "Nothing failed."
    names_first: bool = False

    @property
    def as_markdown(self) -> str:
        rulers = ["---" if self.names_first and not at else "---:" for at in range(len(self.heads))]
        lines = [f"| {' | '.join(cells)} |" for cells in (self.heads, rulers, *self.rows)]
        lines += ["", self.note] if self.note else []
        below = [f"- {failure}" for failure in self.failures] or [text for text in (self.all_well,) if text]
        lines += ["", *below] if below else []
        return "\n".join(lines)


def show(value: float) -> str:
    """Write a figure with the digits that it is good for."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def make_parser(mark: str, description: str, *, plot: bool = True) -> argparse.ArgumentParser:
    """A parser with --json, --write and --plot."""
    parser = argparse.ArgumentParser(
        prog=f"python -m bench.{mark}",
        description=description,
        epilog="exit codes: 0 all is as it should be · 1 something is not, and named",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(plot="", mark=mark)
    begin, end = page_marks(mark)
    parser.add_argument("--write", metavar="FILE", help=f"put the table into FILE, between {begin} and {end}")
    if plot:
        parser.add_argument("--plot", default="", metavar="FILE.png", help="draw it; needs kenobot[plots]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for scripts")
    return parser


def run(
    parser: argparse.ArgumentParser,
    argv: Sequence[str] | None,
    measure: Callable[[argparse.Namespace], tuple[Report, Callable[[str], None] | None]],
) -> int:
    """Measure and show the report. measure: gives the report and a function which draws it into a file.

    Returns the exit code: 78 when a file cannot be written or nothing here can draw.
    """
    os.umask(0o077)
    try:
        arguments = parser.parse_args(argv)
        if arguments.plot:
            plots.require_matplotlib()  # before a run that may take minutes
        with _errors_only():
            report, draw = measure(arguments)
        _show(arguments, report)
        if arguments.plot and draw is not None:
            draw(arguments.plot)
    except SystemExit as stop:  # argparse has printed its help or its complaint
        return stop.code if isinstance(stop.code, int) else 2
    except ConfigError as error:
        print(f"bench: {error}", file=sys.stderr)
        return _CONFIG
    return 1 if report.failures else 0


def _show(arguments: argparse.Namespace, report: Report) -> None:
    if arguments.json:
        for record in report.records:
            print(json.dumps(record, ensure_ascii=False))
    else:
        print(report.as_markdown)
    if arguments.write:
        replace_between_marks(arguments.mark, arguments.write, report.as_markdown)
    if report.failures:
        print(f"bench: {len(report.failures)} things are not as they should be.", file=sys.stderr)


@contextlib.contextmanager
def _errors_only() -> Iterator[None]:
    """Log no warnings: hours without a model and questions left open are part of the scripts."""
    log = logging.getLogger("kenobot")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
