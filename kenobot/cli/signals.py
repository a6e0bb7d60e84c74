"""`kenobot signals`."""

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kenobot.cli import options

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "signals",
        parents=[home],
        help="what happened, from the audit trail",
        description="What happened, from the audit trail, oldest first. Times are UTC.",
    )
    parser.add_argument("--type", metavar="NAME", help="only signals of this name, such as message:in")
    parser.add_argument("--trace", metavar="ID", help="only what one message set in motion")
    options.add_since_and_limit(parser)
    options.add_json(parser)
    parser.set_defaults(command=signals)


def signals(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.core.plugins import did_you_mean
    from kenobot.ports.signals import ALL_SIGNALS, FORMER_NAMES

    name = FORMER_NAMES.get(arguments.type, arguments.type)
    since = options.since_moment(arguments.since, clock)
    with db_read.open_readonly(options.home_of(arguments)) as connection:
        rows = db_read.signals(connection, name, arguments.trace, since, arguments.limit)
    hint = did_you_mean(name, ALL_SIGNALS) if name and name not in ALL_SIGNALS else ""
    return options.print_rows(rows, arguments.json, _line, f"No signal fits{hint or '.'}")


def _line(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import one_line

    payload = json.dumps(row["payload"], ensure_ascii=False) if row["payload"] else ""
    parts = (row["at"], row["name"], row["source"], row["trace"] or "-", payload)
    return one_line("  ".join(str(part) for part in parts if part))
