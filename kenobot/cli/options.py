"""Options and endings that the commands which look something up have in common."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kenobot.ports.errors import StoreError

if TYPE_CHECKING:
    from kenobot.core.settings.home import Home
    from kenobot.ports.clock import Clock

NOT_FOUND = 2
_DIGITS = 15  # what no number of ours comes near, and SQLite can still count
_AGO = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class NoDatabase(StoreError):
    """This home has no database, because the bot has never run here. `main` says so and ends with NOTHING."""


def home_of(arguments: argparse.Namespace) -> "Home":
    from kenobot.core.settings.home import Home

    return Home.find(os.environ, arguments.home)


def clock_of(clock: "Clock | None") -> "Clock":
    from kenobot.ports.clock import SystemClock

    return clock or SystemClock()


def require_database(home: "Home") -> None:
    """Raises NothingYet."""
    if not home.database.exists():
        raise NoDatabase(f"There is nothing in {home.path} yet: start with `kenobot chat`.")


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
    """What reads a number from 1 to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most}")
        return int(text)

    return read


positive_int = bounded_int(1_000_000)


def id_number(complaint: str) -> Callable[[str], int]:
    """What reads the number that something goes by, with or without #; complaint: of what is none."""

    def read(text: str) -> int:
        digits = text.lstrip("#")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS):
            raise argparse.ArgumentTypeError(f"{text!r} is {complaint}")
        return int(digits)

    return read


def show_progress(line: str = "") -> None:
    """Have a person see how far it is, on stderr, where the next such line takes this one's place."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def add_since_and_limit(parser: argparse.ArgumentParser) -> None:
    """--since and --limit."""
    parser.add_argument(
        "--since",
        type=parse_since,
        metavar="WHEN",
        help="only later ones: 30m, 1h, 2d, 1w, or a date like 2026-11-21 (UTC)",
    )
    parser.add_argument("--limit", type=positive_int, default=100, metavar="N", help="only the last N (100)")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for scripts")


def since_moment(wanted: timedelta | datetime | None, clock: "Clock | None") -> datetime | None:
    """--since as a moment."""
    if not isinstance(wanted, timedelta):
        return wanted
    return clock_of(clock).now() - wanted


def print_rows(
    rows: Sequence[Mapping[str, Any]], as_json: bool, lines: Callable[[Mapping[str, Any]], str], nothing: str
) -> int:
    """Print the rows, or say on stderr that there are none. Returns the exit code."""
    if not rows:
        return print_failure(nothing)
    for row in rows:
        print(json.dumps(row) if as_json else lines(row))
    return 0


def print_failure(why: str, code: int = NOT_FOUND) -> int:
    """Say on stderr why there is nothing to show for it. Returns the exit code."""
    print(why, file=sys.stderr)
    return code
