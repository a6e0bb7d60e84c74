"""`kenobot access`: who may talk to the bot, who waits for it, letting people in and putting them out."""

import argparse
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kenobot.cli import options

if TYPE_CHECKING:
    from kenobot.core.settings.home import Home
    from kenobot.gateway.access import Roster
    from kenobot.ports.clock import Clock

_WRONG = 1
_LOCKED = "Too many wrong codes: all codes are void, and pairing is shut for an hour."


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "access",
        parents=[home],
        help="who may talk to the bot: list, pending, approve, revoke",
        description="Who may talk to the bot, and who asks for it. Works while the bot runs and while it does not.",
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    listed = parts.add_parser(
        "list",
        parents=[home],
        help="who may talk to the bot",
        description="Who may talk to the bot: by the configuration, and approved since.",
    )
    options.add_json(listed)
    listed.set_defaults(command=list_)
    waiting = parts.add_parser(
        "pending",
        parents=[home],
        help="strangers who were given a code",
        description="Strangers who were given a code that is still good. The codes themselves are not kept.",
    )
    options.add_json(waiting)
    waiting.set_defaults(command=pending)
    approving = parts.add_parser(
        "approve",
        parents=[home],
        help="let in whoever was given this code",
        description="Let in whoever was given this code. Case, blanks and hyphens do not matter.",
        epilog="exit codes: 0 let in · 1 wrong code, or shut after five wrong ones · 2 no code is open",
    )
    approving.add_argument("code", metavar="CODE", nargs="+", help="such as ABCD-EFGH")
    approving.set_defaults(command=approve)
    revoking = parts.add_parser(
        "revoke",
        parents=[home],
        help="put somebody out who was let in",
        description="Put somebody out who was let in; `kenobot access list` shows them.",
        epilog="exit codes: 0 put out · 2 there is nobody like that among the approved",
    )
    revoking.add_argument("channel", metavar="CHANNEL", help="such as telegram")
    revoking.add_argument("user", metavar="USER", help="the person's id on that channel")
    revoking.set_defaults(command=revoke)


def list_(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.storage import approved_people

    home = options.home_of(arguments)
    rows = [row for channel, roster in _rosters(home).items() for row in _of_roster(channel, roster)]
    try:
        with db_read.open_readonly(home) as connection:
            known = approved_people.list_people(connection)
    except options.NoDatabase:
        known = []
    rows += [
        {"channel": p.channel, "kind": "guest", "id": p.user, "name": p.name, "by": "approval", "since": p.since}
        for p in known
    ]
    return options.print_rows(rows, arguments.json, _line, "Nobody may talk to the bot yet: run `kenobot setup`.")


def pending(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.gateway import pairing

    nothing = "Nobody waits to be let in."
    with db_read.open_readonly(options.home_of(arguments)) as connection:
        found = pairing.open_pairings(connection, options.clock_of(clock).now())
    rows = [
        {"channel": item.channel, "kind": "stranger", "id": item.user, "name": item.name, "until": item.expires}
        for item in found
    ]
    return options.print_rows(rows, arguments.json, _line, nothing)


def approve(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_write
    from kenobot.core.terminal import one_line
    from kenobot.gateway import pairing

    home = options.home_of(arguments)
    rosters = _rosters(home)

    def is_owner(channel: str, user: str) -> bool:
        return channel in rosters and user in rosters[channel].owners

    with db_write.transaction(home) as connection:
        at = options.clock_of(clock).now()
        verdict = pairing.approve(connection, " ".join(arguments.code), at, is_owner)
    match verdict.kind:
        case "approved":
            assert verdict.person is not None
            person = verdict.person
            print(f"Let in: {one_line(person.name)} ({one_line(person.channel)} {one_line(person.user)})")
            return 0
        case "nothing":
            return options.print_failure("No code is open: a code is good for one hour.")
        case "wrong":
            return options.print_failure(f"That code is not right. Tries left: {verdict.tries_left}.", _WRONG)
        case "locked":
            return options.print_failure(_LOCKED, _WRONG)


def revoke(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_write
    from kenobot.core.terminal import one_line
    from kenobot.storage import approved_people

    home = options.home_of(arguments)
    with db_write.transaction(home) as connection:
        gone = approved_people.revoke_person(connection, arguments.channel, arguments.user)
    if gone:
        print(f"Put out: {one_line(arguments.channel)} {one_line(arguments.user)}")
        return 0
    roster = _rosters(home).get(arguments.channel)
    if roster is not None and arguments.user in roster.owners | roster.users:
        return options.print_failure(f"That account stands in the configuration: take it out of {home.config_file}.")
    return options.print_failure("There is nobody like that among the approved: see `kenobot access list`.")


def _rosters(home: "Home") -> "dict[str, Roster]":
    """By channel, whom the configuration lets in. Raises ConfigError."""
    from kenobot.core import plugins
    from kenobot.core.settings.load import load_settings
    from kenobot.gateway.access import Roster
    from kenobot.ports.errors import PluginError

    loaded = load_settings(home, os.environ)
    rosters = {}
    for name in loaded.settings.channels.enabled:
        try:
            model = plugins.load("kenobot.channels", name).settings
        except PluginError:
            continue  # `kenobot run` leaves such a channel out too
        rosters[name] = Roster.from_settings(loaded.plugin_settings("kenobot.channels", name, model))
    return rosters


def _of_roster(channel: str, roster: "Roster") -> Iterator[dict[str, str]]:
    kinds = (("owner", roster.owners), ("guest", roster.users - roster.owners), ("chat", roster.chats))
    for kind, ids in kinds:
        for number in sorted(ids):
            yield {"channel": channel, "kind": kind, "id": number, "name": "", "by": "configuration", "since": ""}


def _line(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import one_line

    parts = [f"{row['kind']:<8}", row["channel"], row["id"], row["name"]]
    parts.append(f"(until {row['until'][:16]} UTC)" if "until" in row else f"(by {row['by']}{_since(row['since'])})")
    return one_line("  ".join(part for part in parts if part))


def _since(moment: str) -> str:
    return f", {moment[:10]}" if moment else ""
