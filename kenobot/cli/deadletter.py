"""`kenobot deadletter`: messages that could not be answered or delivered."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.table import print_table
from kenobot.core.redaction import escape_controls, one_line
from kenobot.storage import dead_letters
from kenobot.storage.dead_letters import DeadLetterId

_CHANGES = {"retry": (dead_letters.retry, "retried"), "drop": (dead_letters.drop, "dropped")}
_HEADS = ("id", "state", "time", "chat", "person", "tries", "why")
_WHY = {
    "missing": "{number}: there is no such message.",
    "busy": "{number}: it is still on its way and needs nothing.",
    "unreadable": "{number}: it could not be read when it came in; it can only be shown and dropped.",
}


def list_(context: CommandContext) -> int:
    args = context.args
    default = (*dead_letters.ENDED, "deferred")
    states = dead_letters.STATES if args.state == "all" else [args.state] if args.state else default
    with context.read() as connection:
        rows = [asdict(letter) for letter in dead_letters.find(connection, states, context.since, args.limit)]
    for row in rows:
        del row["text"]
    if rows and not args.json:
        print_table(_HEADS, [_cells(context, row) for row in rows])
        return 0
    fit = options.find_filters(args, "--state", "--since")
    nothing = say("No message fits {fit}.", fit=fit) if fit else "No message has failed, and none waits for the model."
    return options.print_rows(rows, args.json, str, nothing)


def show(context: CommandContext) -> int:
    with context.read() as connection:
        letter = dead_letters.get(connection, context.args.id)
    if letter is None:
        return options.print_failure(say(_WHY["missing"], number=context.args.id))
    return options.print_rows([asdict(letter)], context.args.json, lambda row: _render_whole(context, row))


def change(context: CommandContext) -> int:
    args = context.args
    apply, done = _CHANGES[args.command]
    if args.state and not args.all:
        return options.print_failure("--state goes with --all, not with the ids of messages.")
    with context.write() as connection:
        ids: list[DeadLetterId] = list(dict.fromkeys(args.ids))
        if args.all:
            letters = dead_letters.find(connection, [args.state] if args.state else dead_letters.ENDED)
            ids = [DeadLetterId.parse(each.id) for each in letters if each.readable or args.command == "drop"]
        outcomes = {str(number): apply(connection, number, context.now) for number in ids}
    if not outcomes:
        nothing = "No message can be retried." if done == "retried" else "No message can be dropped."
        return options.print_failure(nothing)
    code = 0  # else of the last that could not be done
    for number, outcome in outcomes.items():
        if outcome == "done":
            print(f"{number}: {say(done)}")
        else:
            missing = outcome == "missing"
            code = options.print_failure(
                say(_WHY[outcome], number=number), options.NOT_FOUND if missing else options.FAILED
            )
    return code


def _cells(context: CommandContext, row: Mapping[str, Any]) -> tuple[object, ...]:
    where = f"{row['channel']} {row['chat']}".strip()
    at = context.local_time(row["at"])
    return row["id"], say(row["state"]), at, where, row["person"], row["attempts"], translate(row["reason"])


def _render_whole(context: CommandContext, row: Mapping[str, Any]) -> str:
    shown = dict(row) | {"at": context.local_time(row["at"]), "state": say(row["state"])}
    shown["reason"] = translate(row["reason"])
    names = ("id", "state", "at", "channel", "chat", "person", "attempts", "reason", "trace")
    head = [f"{say(name) + ':':<10} {one_line(str(shown[name]))}" for name in names if shown[name] != ""]
    return "\n".join([*head, "", escape_controls(row["text"])])
