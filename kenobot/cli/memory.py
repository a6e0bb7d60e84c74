"""`kenobot memory show` and `kenobot memory log`."""

import argparse
import json
import os
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kenobot.cli import asking

if TYPE_CHECKING:
    from kenobot.clock import Clock


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "memory",
        parents=[home],
        help="what the bot remembers, and how it came to",
        description="What the bot remembers, and how it came to.",
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    live = parts.add_parser(
        "show", parents=[home], help="what is remembered now", description="What is remembered now, by scope."
    )
    live.add_argument("--scope", metavar="SCOPE", help="only this scope, such as owner or chat:console-local")
    asking.add_json(live)
    live.set_defaults(command=show)
    past = parts.add_parser(
        "log",
        parents=[home],
        help="what was taken in, changed or refused, and why",
        description="What memory took in, changed or refused, and why, oldest first. Times are UTC.",
    )
    asking.add_window(past)
    asking.add_json(past)
    past.set_defaults(command=log)


def show(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import reading
    from kenobot.cognitive.reach import WHOLE_HOME
    from kenobot.home import Home
    from kenobot.terminal import one_line

    reach = WHOLE_HOME if arguments.scope is None else (arguments.scope,)
    try:
        with reading.database(Home.find(os.environ, arguments.home)) as connection:
            rows = reading.records(connection, reach)
    except reading.NothingYet as error:
        return asking.show([], arguments.json, _record, str(error))
    if arguments.json or not rows:
        return asking.show(rows, arguments.json, _record, "Nothing is remembered here yet.")
    for number, (scope, group) in enumerate(groupby(rows, key=lambda row: str(row["scope"]))):
        print(("\n" if number else "") + one_line(scope))
        for row in group:
            print(_record(row))
    return 0


def log(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import reading
    from kenobot.home import Home

    since = asking.moment(arguments.since, clock)
    try:
        with reading.database(Home.find(os.environ, arguments.home)) as connection:
            rows = reading.events(connection, since, arguments.limit)
    except reading.NothingYet as error:
        return asking.show([], arguments.json, _event, str(error))
    return asking.show(rows, arguments.json, _event, "Nothing has happened to memory in that time.")


def _record(row: Mapping[str, Any]) -> str:
    from kenobot.terminal import one_line

    seen = f", seen {row['seen']} times" if (row["seen"] or 0) > 1 else ""
    about = f"{row['form']}, {row['category']}, from {row['trust']}{seen}, {str(row['created'])[:10]}"
    return f"  {row['id']:>5}  {one_line(str(row['text']))}  ({one_line(about)})"


def _event(row: Mapping[str, Any]) -> str:
    from kenobot.terminal import one_line

    record = f"#{row['record_id']}" if row["record_id"] is not None else "-"
    data = json.dumps(row["data"], ensure_ascii=False) if row["data"] else ""
    parts = (row["at"], row["type"], record, row["actor"], row["session"], data)
    return one_line("  ".join(str(part) for part in parts if part))
