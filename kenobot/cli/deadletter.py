"""`kenobot deadletter`: messages that could not be answered or delivered."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.log_rows import sortable_timestamp
from kenobot.cli.options import Commands
from kenobot.core.terminal import escape_controls, one_line
from kenobot.storage import dead_letters
from kenobot.storage.dead_letters import DeadLetterId

_NUMBERS = "in-12 is a message that somebody wrote, out-7 one that the bot wrote."
_MEANING = """\
states:
  dead         tried five times in vain, or nothing that could be understood
  failed       the model refused it, and the person was told
  expired      it had waited too long, and the person was told
  undelivered  written by the bot, and the platform would not take it
  waiting      still on its way
"""
_CODES = "exit codes: 0 done · 1 some of it cannot be done · 2 no such message"
_CHANGES = {"retry": (dead_letters.retry, "retried"), "drop": (dead_letters.drop, "dropped")}
_WHY = {
    "missing": "there is no such message",
    "busy": "it is still on its way, so there is nothing to do about it",
    "unreadable": "it could not be understood when it came in, so it can only be shown and dropped",
}


def add(commands: Commands) -> None:
    parts = commands.group(
        "deadletter",
        "Messages that could not be answered or delivered. Works while the bot runs and while it does not.",
    )
    command = parts.add(
        "list",
        list_,
        "list failed messages, with reasons",
        f"List failed messages, oldest first, without their texts. Times are UTC. {_NUMBERS}",
        epilog=_MEANING,
    )
    command.add_argument(
        "--state",
        choices=(*dead_letters.STATES, "all"),
        help="only this; without it all but messages that are still on their way",
    )
    options.add_since_and_limit(command)
    command = parts.add("show", show, "show a message with its text", f"Show a message with its text. {_NUMBERS}")
    command.add_argument("id", metavar="ID", type=_id, help="as `kenobot deadletter list` gives it, such as in-12")
    for name, summary, how in (
        ("retry", "answer or send messages once more", "from the beginning, as if new"),
        ("drop", "delete messages", "their texts are deleted and nobody is told"),
    ):
        description = f"{summary[0].upper()}{summary[1:]}: {how}. {_NUMBERS}"
        command = parts.add(name, change, summary, description, epilog=_CODES, json=False)
        which = command.add_mutually_exclusive_group(required=True)
        which.add_argument("ids", metavar="ID", type=_id, nargs="*", default=[], help="such as in-12 or out-7")
        which.add_argument("--all", action="store_true", help=f"everything that can be {_CHANGES[name][1]}")
        command.add_argument("--state", choices=dead_letters.ENDED, help="with --all: only messages in this state")
        command.set_defaults(change=name)


def list_(context: CommandContext) -> int:
    args = context.args
    states = dead_letters.STATES if args.state == "all" else [args.state] if args.state else dead_letters.ENDED
    since = sortable_timestamp(context.moment(args.since))
    with context.read() as connection:
        rows = [asdict(letter) for letter in dead_letters.find(connection, states, since, args.limit)]
    for row in rows:
        del row["text"]
    return options.print_rows(rows, args.json, _line, "There is no such message: nothing went wrong.")


def show(context: CommandContext) -> int:
    with context.read() as connection:
        letter = dead_letters.get(connection, context.args.id)
    if letter is None:
        return options.print_failure(f"{context.args.id}: {_WHY['missing']}")
    return options.print_rows([asdict(letter)], context.args.json, _whole)


def change(context: CommandContext) -> int:
    args = context.args
    apply, done = _CHANGES[args.change]
    if args.state and not args.all:
        return options.print_failure("--state goes with --all: messages that are named are meant as they are.")
    with context.write() as connection:
        ids: list[DeadLetterId] = list(dict.fromkeys(args.ids))
        if args.all:
            letters = dead_letters.find(connection, [args.state] if args.state else dead_letters.ENDED)
            ids = [DeadLetterId.parse(each.id) for each in letters if each.readable or args.change == "drop"]
        outcomes = {str(number): apply(connection, number, context.now) for number in ids}
    if not outcomes:
        return options.print_failure(f"There is nothing that could be {done}.")
    code = 0  # else of the last that could not be done
    for number, outcome in outcomes.items():
        if outcome == "done":
            print(f"{number}: {done}")
        else:
            missing = outcome == "missing"
            code = options.print_failure(f"{number}: {_WHY[outcome]}", options.NOT_FOUND if missing else options.FAILED)
    return code


def _id(text: str) -> DeadLetterId:
    try:
        return DeadLetterId.parse(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither like in-12 nor like out-7") from None


def _line(row: Mapping[str, Any]) -> str:
    tries = f"{row['attempts']} tries" if row["attempts"] > 1 else ""
    where = f"{row['channel']} {row['chat']}".strip()
    parts = (f"{row['id']:<8}", f"{row['state']:<11}", row["at"][:19], where, row["person"], tries, row["reason"])
    return one_line("  ".join(part for part in parts if part))


def _whole(row: Mapping[str, Any]) -> str:
    names = ("id", "state", "at", "channel", "chat", "person", "attempts", "reason", "trace")
    head = [f"{name + ':':<10} {one_line(str(row[name]))}" for name in names if row[name] != ""]
    return "\n".join([*head, "", escape_controls(row["text"])])
