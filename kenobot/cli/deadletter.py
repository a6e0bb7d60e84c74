"""`kenobot mail`: messages that could not be answered or delivered: list, show, retry, drop."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kenobot.cli import options

if TYPE_CHECKING:
    from datetime import datetime

    from kenobot.ports.clock import Clock
    from kenobot.storage.connection import Connection
    from kenobot.storage.dead_letters import DeadLetterId, LetterOutcome

    Change = Callable[[Connection, DeadLetterId, datetime], LetterOutcome]

_STUCK = 1
_STATES = (
    "dead",
    "failed",
    "expired",
    "undelivered",
    "waiting",
)  # as in kenobot.storage.dead_letters, which loads slowly
_NUMBERS = "in-12 is a message that somebody wrote, out-7 one that the bot wrote."
_MEANING = """\
states:
  dead         tried five times in vain, or nothing that could be understood
  failed       the model refused it, and the person was told
  expired      it had waited too long, and the person was told
  undelivered  written by the bot, and the platform would not take it
  waiting      still on its way
"""
_CODES = "exit codes: 0 done · 1 some of it cannot be done · 2 there is no such letter"
_WHY = {
    "missing": "there is no such letter",
    "busy": "it is still on its way, so there is nothing to do about it",
    "unreadable": "it could not be understood when it came in, so it can only be shown and dropped",
}


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "mail",
        parents=[home],
        help="messages that could not be answered or delivered: list, show, retry, drop",
        description="Messages that could not be answered or delivered. Works while the bot runs and while it does not.",
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    listed = parts.add_parser(
        "list",
        parents=[home],
        help="what went wrong, and why",
        description=f"What went wrong and why, oldest first, without people's words. Times are UTC. {_NUMBERS}",
        epilog=_MEANING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    listed.add_argument(
        "--state", choices=(*_STATES, "all"), help="only this; without it all but what is still on its way"
    )
    options.add_since_and_limit(listed)
    options.add_json(listed)
    listed.set_defaults(command=list_)
    shown = parts.add_parser(
        "show", parents=[home], help="one letter with its text", description=f"One letter with its text. {_NUMBERS}"
    )
    shown.add_argument("id", metavar="ID", type=_id, help="as `kenobot mail list` gives it, such as in-12")
    options.add_json(shown)
    shown.set_defaults(command=show)
    _add_change(parts, home, "retry", retry, "have it answered or sent once more", "from the beginning, as if new")
    _add_change(parts, home, "drop", drop, "be done with it", "its words are deleted and nobody is told")


def _add_change(
    parts: Any, home: argparse.ArgumentParser, name: str, command: Callable[..., int], meaning: str, how: str
) -> None:
    parser = parts.add_parser(
        name,
        parents=[home],
        help=meaning,
        description=f"{meaning[0].upper()}{meaning[1:]}: {how}. {_NUMBERS}",
        epilog=_CODES,
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", type=_id, nargs="*", default=[], help="such as in-12 or out-7")
    which.add_argument("--all", action="store_true", help=f"everything that can be {_past(name)}")
    parser.add_argument("--state", choices=_STATES[:-1], help="with --all: only what is in this state")
    parser.set_defaults(command=command)


def list_(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.storage import dead_letters

    states = (
        dead_letters.STATES
        if arguments.state == "all"
        else [arguments.state]
        if arguments.state
        else dead_letters.ENDED
    )
    since = db_read.sortable_timestamp(options.since_moment(arguments.since, clock))
    with db_read.open_readonly(options.home_of(arguments)) as connection:
        found = dead_letters.find(connection, states, since, arguments.limit)
    rows = [_row(letter) for letter in found]
    for row in rows:
        del row["text"]
    return options.print_rows(rows, arguments.json, _line, "There is no such mail: nothing went wrong.")


def show(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.storage import dead_letters

    with db_read.open_readonly(options.home_of(arguments)) as connection:
        found = dead_letters.get(connection, arguments.id)
    if found is None:
        return options.print_failure(f"{arguments.id}: {_WHY['missing']}")
    return options.print_rows([_row(found)], arguments.json, _whole, "")


def retry(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.storage import dead_letters

    return _change(arguments, clock, dead_letters.retry)


def drop(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.storage import dead_letters

    return _change(arguments, clock, dead_letters.drop)


def _change(arguments: argparse.Namespace, clock: "Clock | None", change: "Change") -> int:
    from kenobot.cli import db_write
    from kenobot.storage import dead_letters

    if arguments.state and not arguments.all:
        return options.print_failure("--state goes with --all: letters that are named are meant as they are.")
    at = options.clock_of(clock).now()
    done = _past(change.__name__)
    with db_write.transaction(options.home_of(arguments)) as connection:
        ids: Sequence[DeadLetterId] = list(dict.fromkeys(arguments.ids))
        if arguments.all:
            found = dead_letters.find(connection, [arguments.state] if arguments.state else dead_letters.ENDED)
            ids = [
                dead_letters.DeadLetterId.parse(item.id)
                for item in found
                if item.readable or change is dead_letters.drop
            ]
        verdicts = {str(number): change(connection, number, at) for number in ids}
    if not verdicts:
        return options.print_failure(f"There is nothing that could be {done}.")
    code = 0  # else of the last that could not be done
    for number, verdict in verdicts.items():
        if verdict == "done":
            print(f"{number}: {done}")
        else:
            code = options.print_failure(
                f"{number}: {_WHY[verdict]}", options.NOT_FOUND if verdict == "missing" else _STUCK
            )
    return code


def _past(name: str) -> str:
    return {"retry": "retried", "drop": "dropped"}[name]


def _id(text: str) -> "DeadLetterId":
    from kenobot.storage.dead_letters import DeadLetterId

    try:
        return DeadLetterId.parse(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither like in-12 nor like out-7") from None


def _row(letter: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(letter)


def _line(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import one_line

    tries = f"{row['attempts']} tries" if row["attempts"] > 1 else ""
    where = f"{row['channel']} {row['chat']}".strip()
    parts = (f"{row['id']:<8}", f"{row['state']:<11}", row["at"][:19], where, row["person"], tries, row["reason"])
    return one_line("  ".join(part for part in parts if part))


def _whole(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import escape_controls, one_line

    names = ("id", "state", "at", "channel", "chat", "person", "attempts", "reason", "trace")
    head = [f"{name + ':':<10} {one_line(str(row[name]))}" for name in names if row[name] != ""]
    return "\n".join([*head, "", escape_controls(row["text"])])
