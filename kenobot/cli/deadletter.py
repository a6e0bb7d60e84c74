"""`kenobot deadletter`: messages that could not be answered or delivered."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.core.redaction import escape_controls, one_line
from kenobot.storage import dead_letters
from kenobot.storage.dead_letters import DeadLetterId

_CHANGES = {"retry": (dead_letters.retry, "retried"), "drop": (dead_letters.drop, "dropped")}
_WHY = {
    "missing": "there is no such message",
    "busy": "it is still on its way, so there is nothing to do about it",
    "unreadable": "it could not be understood when it came in, so it can only be shown and dropped",
}


def list_(context: CommandContext) -> int:
    args = context.args
    states = dead_letters.STATES if args.state == "all" else [args.state] if args.state else dead_letters.ENDED
    with context.read() as connection:
        rows = [asdict(letter) for letter in dead_letters.find(connection, states, context.since, args.limit)]
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
    apply, done = _CHANGES[args.command]
    if args.state and not args.all:
        return options.print_failure("--state goes with --all: messages that are named are meant as they are.")
    with context.write() as connection:
        ids: list[DeadLetterId] = list(dict.fromkeys(args.ids))
        if args.all:
            letters = dead_letters.find(connection, [args.state] if args.state else dead_letters.ENDED)
            ids = [DeadLetterId.parse(each.id) for each in letters if each.readable or args.command == "drop"]
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


def _line(row: Mapping[str, Any]) -> str:
    tries = f"{row['attempts']} tries" if row["attempts"] > 1 else ""
    where = f"{row['channel']} {row['chat']}".strip()
    parts = (f"{row['id']:<8}", f"{row['state']:<11}", row["at"][:19], where, row["person"], tries, row["reason"])
    return one_line("  ".join(part for part in parts if part))


def _whole(row: Mapping[str, Any]) -> str:
    names = ("id", "state", "at", "channel", "chat", "person", "attempts", "reason", "trace")
    head = [f"{name + ':':<10} {one_line(str(row[name]))}" for name in names if row[name] != ""]
    return "\n".join([*head, "", escape_controls(row["text"])])
