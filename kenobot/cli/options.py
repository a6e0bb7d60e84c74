"""Commands, the options that several of them share, and their endings. Imports nothing heavy."""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kenobot.ports.errors import KenobotError

if TYPE_CHECKING:
    from kenobot.cli.context import CommandContext
    from kenobot.ports.clock import Clock

FAILED, NOT_FOUND = 1, 2
CODES = "exit codes: 0 done · 1 it failed · 2 nothing found"
_YES = frozenset({"y", "yes", "s", "si", "sí"})
_WIDTH = 100  # characters of a line of help
_DIGITS = 15  # no id has as many, and SQLite can still hold such a number
_AGO = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

Run = Callable[["CommandContext"], int]
"""Runs a command and returns its exit code. Raises KenobotError."""


class NothingFound(KenobotError):
    """What a command names does not exist. `main` prints the message and returns NOT_FOUND."""


class NoDatabase(NothingFound):
    """The home has no database, because the bot has never run there."""


class Commands:
    """The subcommands of a parser.

    home: a parser with --home, which every command understands.
    subcommand: the chosen command of a group, "" when there is none.
    """

    def __init__(self, parser: argparse.ArgumentParser, home: argparse.ArgumentParser, subcommand: str = "") -> None:
        self.subcommand = subcommand
        self._parts = parser.add_subparsers(metavar="COMMAND", required=True)
        self._home = home

    def group(self, name: str, description: str, epilog: str = "") -> "Commands":
        """A command with subcommands."""
        return Commands(self._parser(name, "", description, epilog), self._home)

    def add(
        self,
        name: str,
        run: Run,
        summary: str,
        description: str = "",
        *,
        examples: Iterable[str] = (),
        epilog: str = "",
        json: bool = True,
    ) -> argparse.ArgumentParser:
        """A command. summary: its line in a list. description: one begins its own help; by default the summary does."""
        if examples:
            epilog = "\n".join(["examples:", *(f"  {line}" for line in examples), "", epilog or CODES])
        parser = self._parser(name, summary, description or f"{summary[0].upper()}{summary[1:]}.", epilog)
        if json:
            parser.add_argument("--json", action="store_true", help="one JSON object a line, for scripts")
        parser.set_defaults(run_command=run, json=False)
        return parser

    def _parser(self, name: str, summary: str, description: str, epilog: str) -> argparse.ArgumentParser:
        return self._parts.add_parser(
            name,
            parents=[self._home],
            help=summary,
            description=_filled(description),
            epilog=_filled(epilog),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )


def _filled(text: str) -> str:
    return text if "\n" in text else textwrap.fill(text, _WIDTH)


def run_command(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    """Run the command that the arguments name; returns its exit code."""
    from kenobot.cli.context import CommandContext

    run: Run = arguments.run_command
    return run(CommandContext(arguments, clock))


# ── options ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def add_ref(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument(
        "ref", metavar="MEMORY", nargs="?" if optional else None, help="its number, or the beginning of its key"
    )


def add_scope(
    parser: argparse.ArgumentParser, meaning: str = "only this memory: owner, chat:SESSION or user:ID"
) -> None:
    parser.add_argument("--scope", metavar="SCOPE", help=meaning)


def add_as_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as-of", type=parse_since, metavar="WHEN", help="as it was then: 2d, 3w, or a date like 2026-03-01 (UTC)"
    )


def add_since_and_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since",
        type=parse_since,
        metavar="WHEN",
        help="only later ones: 30m, 1h, 2d, 1w, or a date like 2026-11-21 (UTC)",
    )
    parser.add_argument("--limit", type=positive_int, default=100, metavar="N", help="only the last N (100)")


def parse_since(text: str) -> timedelta | datetime:
    """`90s`, `30m`, `1h`, `2d`, `1w` ago, or a date or time; without an offset it is UTC."""
    if ago := _AGO.fullmatch(text):
        return timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither like 1h or 2d nor like 2026-11-21 (UTC)") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def bounded_int(most: int) -> Callable[[str], int]:
    """A parser of numbers from 1 to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most}")
        return int(text)

    return read


positive_int = bounded_int(1_000_000)


def bounded_float(most: float, complaint: str) -> Callable[[str], float]:
    """A parser of numbers from 0 to `most`; complaint: about anything else."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is {complaint}")
        return number

    return read


def id_number(complaint: str) -> Callable[[str], int]:
    """A parser of ids, with or without #; complaint: about anything else."""

    def read(text: str) -> int:
        digits = text.lstrip("#")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS):
            raise argparse.ArgumentTypeError(f"{text!r} is {complaint}")
        return int(digits)

    return read


# ── endings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def print_rows(
    rows: Iterable[Mapping[str, Any]], as_json: bool, line: Callable[[Mapping[str, Any]], str], nothing: str = ""
) -> int:
    """Print the rows, or `nothing` on stderr when there are none. Returns the exit code."""
    rows = list(rows)
    if not rows:
        return print_failure(nothing)
    for row in rows:
        print(json.dumps(row) if as_json else line(row))
    return 0


def print_failure(why: str, code: int = NOT_FOUND) -> int:
    """Print on stderr why there is no result. Returns the exit code."""
    print(why, file=sys.stderr)
    return code


def show_progress(line: str = "") -> None:
    """Show progress on a person's stderr, where the next such line takes this one's place."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def confirm(question: str, nobody: str) -> bool:
    """Ask for agreement in this terminal; without one, print `nobody` on stderr."""
    if not sys.stdin.isatty():
        print(nobody, file=sys.stderr)
        return False
    try:
        return input(question).strip().lower() in _YES
    except EOFError:
        return False
