"""`kenobot signals`."""

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kenobot.cli import asking

if TYPE_CHECKING:
    from kenobot.clock import Clock


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "signals",
        parents=[home],
        help="what happened, from the audit trail",
        description="What happened, from the audit trail, oldest first. Times are UTC.",
    )
    parser.add_argument("--type", metavar="NAME", help="only signals of this name, such as message:in")
    parser.add_argument("--trace", metavar="ID", help="only what one message set in motion")
    asking.add_window(parser)
    asking.add_json(parser)
    parser.set_defaults(command=signals)


def signals(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import reading
    from kenobot.plugins import nearest
    from kenobot.signals import ALL

    since = asking.moment(arguments.since, clock)
    with reading.database(asking.home_of(arguments)) as connection:
        rows = reading.signals(connection, arguments.type, arguments.trace, since, arguments.limit)
    hint = nearest(arguments.type, ALL) if arguments.type and arguments.type not in ALL else ""
    return asking.show(rows, arguments.json, _line, f"No signal fits{hint or '.'}")


def _line(row: Mapping[str, Any]) -> str:
    from kenobot.terminal import one_line

    payload = json.dumps(row["payload"], ensure_ascii=False) if row["payload"] else ""
    parts = (row["at"], row["name"], row["source"], row["trace"] or "-", payload)
    return one_line("  ".join(str(part) for part in parts if part))
