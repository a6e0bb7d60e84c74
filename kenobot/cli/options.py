"""Parsers of commands, the types of their arguments, and their endings. Imports nothing heavy."""

import argparse
import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from kenobot.cli.language import say, translate, word_error
from kenobot.core import lazy
from kenobot.core.redaction import escape_controls
from kenobot.ports.errors import KenobotError
from kenobot.ports.sentences import Sentence

if TYPE_CHECKING:
    from kenobot.storage.dead_letters import DeadLetterId

T = TypeVar("T")
N = TypeVar("N", int, float)

FAILED, NOT_FOUND = 1, 2
_CODES = "exit codes: 0 done · 1 it failed · 2 nothing found"
_YES = frozenset({"y", "yes", "s", "si", "sí"})
_WIDTH = 100  # characters of a line of help
_DIGITS = 15  # no id has as many, and SQLite can still hold such a number
_AGO = lazy.regex(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class NothingFound(KenobotError):
    """Raised when a command names something that does not exist. `main` prints the message and returns NOT_FOUND."""


class NoDatabase(NothingFound):
    """The home has no database, because the bot has never run there."""


def build_parser(commands: Mapping[str, Mapping[str, Any]], home: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Build the parser of a command and its subcommands. home: a parser with --home, which each of them understands."""
    root = argparse.ArgumentParser(prog="kenobot", parents=[home])
    groups = {"": root.add_subparsers(metavar=say("COMMAND"), required=True)}
    for words, command in commands.items():
        group, _, last = words.rpartition(" ")
        summary = command.get("summary", "")
        parser = groups[group].add_parser(
            last,
            parents=[home],
            help=summary,
            description=_fill(command.get("description") or f"{summary[0].upper()}{summary[1:]}."),
            epilog=_fill(_epilog(command)),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if "call" in command:
            _add_arguments(parser, parser, command["arguments"])
            extra = command.get("extra", "")
            parser.set_defaults(
                call=command["call"], extra=extra, full_name=words, command=last, json=False, as_of=None
            )
        else:
            groups[words] = parser.add_subparsers(metavar=say("COMMAND"), required=True)
    return root


def _add_arguments(
    parser: argparse.ArgumentParser, target: argparse._ActionsContainer, arguments: Iterable[Any]
) -> None:
    """Add arguments to the parser, or to a group of it."""
    for argument in arguments:
        if isinstance(argument, list):
            _add_arguments(parser, parser.add_mutually_exclusive_group(required=True), argument)
            continue
        options = dict(argument)
        names = options.pop("names", None) or [options.pop("name")]
        if "metavar" in options:
            options["metavar"] = say(options["metavar"])
        if "type" in options:
            options["type"] = TYPES[options["type"]]
        target.add_argument(*names, **options)


def _epilog(command: Mapping[str, Any]) -> str:
    epilog: str = command.get("epilog", "")
    if "examples" not in command:
        return epilog
    return "\n".join([say("examples:"), *(f"  {line}" for line in command["examples"]), "", epilog or say(_CODES)])


def _fill(text: str) -> str:
    return text if "\n" in text else textwrap.fill(text, _WIDTH)


def refuse_unknown(parser: argparse.ArgumentParser, name: str, known: Sequence[str]) -> NoReturn:
    """End with the usage and the complaint that no command of `known` has this name, and which one may be meant."""
    from difflib import get_close_matches

    complaint = say("unknown command {name}: kenobot help all lists them", name=repr(name))
    if near := get_close_matches(name, known, 1):
        complaint = say("unknown command {name}: did you mean {near}?", name=repr(name), near=repr(near[0]))
    parser.error(complaint)


# ── types of arguments ───────────────────────────────────────────────────────────────────────────────────────────────


def checked(parse: Callable[[str], T], complaint: str) -> Callable[[str], T]:
    """Make a type of arguments. parse: raises ValueError for what is none; then the text is said to be `complaint`."""

    def read(text: str) -> T:
        try:
            return parse(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                say("{text} is {complaint}", text=repr(text), complaint=translate(complaint))
            ) from None

    return read


def parse_up_to(most: int) -> Callable[[str], int]:
    """Make a parser of numbers from 1 to `most`."""
    return checked(
        lambda text: _check_bounds(int(text) if text.isdecimal() else 0, 1, most),
        Sentence("not a number from 1 to {most}", most=most),
    )


def _check_bounds(number: N, least: float, most: float) -> N:
    if not least <= number <= most:
        raise ValueError(number)
    return number


_DAY_AGO = ("yesterday", "ayer")


def _moment(text: str) -> timedelta | datetime:
    """Parse `90s`, `30m`, `1h`, `2d`, `1w` ago, `yesterday`, or a date or time; without an offset it is UTC."""
    if text.casefold() in _DAY_AGO:
        return timedelta(days=1)
    if ago := _AGO.fullmatch(text):
        return timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _local_time(text: str) -> datetime:
    """Parse a local time, such as 2026-12-24T20:00."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError(text)
    return moment


def _id_number(text: str) -> int:
    """Parse an id, with or without #."""
    digits = text.lstrip("#")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS):
        raise ValueError(text)
    return int(digits)


def _dead_letter_id(text: str) -> "DeadLetterId":
    from kenobot.storage.dead_letters import DeadLetterId

    return DeadLetterId.parse(text)


TYPES: Mapping[str, Callable[[str], Any]] = {
    "positive": parse_up_to(1_000_000),
    "days": parse_up_to(30),
    "share": checked(lambda text: _check_bounds(float(text), 0, 1), "no number from 0 to 1"),
    "seconds": checked(lambda text: _check_bounds(float(text), 0, 600), "not a number of seconds from 0 to 600"),
    "since": checked(_moment, "neither like 1h or 2d nor like 2026-11-21 (UTC)"),
    "dead_letter": checked(_dead_letter_id, "neither like in-12 nor like out-7"),
    "local_time": checked(_local_time, "no local time like 2026-12-24T20:00"),
    "job": checked(_id_number, "not the number of a reminder"),
    "proposal": checked(_id_number, "not the number of a proposal"),
    "night": checked(_id_number, "no number of a night: `kenobot sleep status` shows the last one"),
    "change": checked(_id_number, "no number of a change: `kenobot memory log` shows them"),
}


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


def find_filters(args: argparse.Namespace, *names: str) -> str:
    """Return those of the options `names` that were typed, with their values: `--scope owner --form note`."""
    typed, found = iter(args.typed), []
    for word in typed:
        option, _, value = word.partition("=")
        if len(option) > len("--") and any(name.startswith(option) for name in names):
            found.append(f"{option} {value or next(typed, '')}")
    return " ".join(found)


def print_row(row: Mapping[str, Any], as_json: bool, lines: str) -> int:
    """Print one row, as JSON or as lines of text. Returns the exit code."""
    print(json.dumps(row) if as_json else escape_controls(lines))
    return 0


def print_failure(why: str | KenobotError, code: int = NOT_FOUND) -> int:
    """Print on stderr why there is no result. Returns the exit code."""
    print(word_error(why) if isinstance(why, KenobotError) else translate(why), file=sys.stderr)
    return code


def show_progress(line: str = "") -> None:
    """Show progress on a person's stderr, where the next such line takes this one's place."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def confirm(question: str, nobody: str) -> bool:
    """Ask for agreement in this terminal; without one, print `nobody` on stderr."""
    if not sys.stdin.isatty():
        print(say(nobody), file=sys.stderr)
        return False
    try:
        return input(say(question)).strip().lower() in _YES
    except EOFError:
        return False
