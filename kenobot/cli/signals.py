"""`kenobot signals`: the audit log."""

import json
from collections.abc import Mapping
from typing import Any

from kenobot.cli import log_rows, options
from kenobot.cli.context import CommandContext
from kenobot.cli.options import Commands
from kenobot.core.plugins import did_you_mean
from kenobot.core.terminal import one_line
from kenobot.ports.signals import ALL_SIGNALS, FORMER_NAMES


def add(commands: Commands) -> None:
    command = commands.add("signals", signals, "", "Events of the audit log, oldest first. Times are UTC.")
    command.add_argument("--type", metavar="NAME", help="only signals of this name, such as message:in")
    command.add_argument("--trace", metavar="ID", help="only what one message set in motion")
    options.add_since_and_limit(command)


def signals(context: CommandContext) -> int:
    args = context.args
    name = FORMER_NAMES.get(args.type, args.type)
    with context.read(rows=True) as connection:
        rows = log_rows.signals(connection, name, args.trace, context.moment(args.since), args.limit)
    hint = did_you_mean(name, ALL_SIGNALS) if name and name not in ALL_SIGNALS else ""
    return options.print_rows(rows, args.json, _line, f"No signal fits{hint or '.'}")


def _line(row: Mapping[str, Any]) -> str:
    payload = json.dumps(row["payload"], ensure_ascii=False) if row["payload"] else ""
    parts = (row["at"], row["name"], row["source"], row["trace"] or "-", payload)
    return one_line("  ".join(str(part) for part in parts if part))
