"""`kenobot access`: the users who may talk to the bot, and pairing."""

from collections.abc import Iterator

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import print_table
from kenobot.core.redaction import one_line
from kenobot.gateway import pairing
from kenobot.gateway.access import Roster
from kenobot.ports.errors import PluginError
from kenobot.storage import approved_people

_LOCKED = "Too many wrong codes: all codes are void, and pairing is shut for an hour."


def list_(context: CommandContext) -> int:
    rows = [row for channel, roster in _rosters(context).items() for row in _of_roster(channel, roster)]
    try:
        with context.read() as connection:
            approved = approved_people.list_people(connection)
    except options.NoDatabase:
        approved = []
    rows += [
        {"channel": p.channel, "kind": "guest", "id": p.user, "name": p.name, "by": "approval", "since": p.since}
        for p in approved
    ]
    return _print(context, rows, "Nobody may talk to the bot yet: run `kenobot setup`.")


def pending(context: CommandContext) -> int:
    with context.read() as connection:
        rows = [
            {"channel": each.channel, "kind": "stranger", "id": each.user, "name": each.name, "until": each.expires}
            for each in pairing.open_pairings(connection, context.now)
        ]
    return _print(context, rows, "Nobody waits to be let in.")


def approve(context: CommandContext) -> int:
    rosters = _rosters(context)

    def is_owner(channel: str, user: str) -> bool:
        return channel in rosters and user in rosters[channel].owners

    with context.write() as connection:
        verdict = pairing.approve(connection, " ".join(context.args.code), context.now, is_owner)
    match verdict.kind:
        case "approved":
            assert verdict.person is not None
            person = verdict.person
            who = f"{one_line(person.name)} ({one_line(person.channel)} {one_line(person.user)})"
            print(say("Let in: {who}", who=who))
            return 0
        case "nothing":
            return options.print_failure("No code is open: a code is good for one hour.")
        case "wrong":
            return options.print_failure(
                say("That code is not right. Tries left: {tries_left}.", tries_left=verdict.tries_left), options.FAILED
            )
        case "locked":
            return options.print_failure(_LOCKED, options.FAILED)


def revoke(context: CommandContext) -> int:
    channel, user = context.args.channel, context.args.user
    with context.write() as connection:
        gone = approved_people.revoke_person(connection, channel, user)
    if gone:
        print(say("Put out: {who}", who=f"{one_line(channel)} {one_line(user)}"))
        return 0
    roster = _rosters(context).get(channel)
    if roster is not None and user in roster.owners | roster.users:
        return options.print_failure(
            say(
                "That account stands in the configuration: take it out of {config_file}.",
                config_file=context.home.config_file,
            )
        )
    return options.print_failure("No approved person has that id: see `kenobot access list`.")


def _rosters(context: CommandContext) -> dict[str, Roster]:
    """List the users of the configuration by channel. Raises ConfigError."""
    loaded, rosters = context.loaded, dict[str, Roster]()
    for name in loaded.settings.channels.enabled:
        try:
            model = loaded.catalogue.load("kenobot.channels", name).settings
        except PluginError:
            continue  # `kenobot run` leaves such a channel out too
        rosters[name] = Roster.from_settings(loaded.plugin_settings("kenobot.channels", name, model))
    return rosters


def _of_roster(channel: str, roster: Roster) -> Iterator[dict[str, str]]:
    for kind, ids in roster.by_kind():
        for number in sorted(ids):
            yield {"channel": channel, "kind": kind, "id": number, "name": "", "by": "configuration", "since": ""}


def _print(context: CommandContext, rows: list[dict[str, str]], nothing: str) -> int:
    """Print people as a table. Returns the exit code."""
    if context.args.json or not rows:
        return options.print_rows(rows, context.args.json, str, nothing)
    last = "until" if "until" in rows[0] else "since"
    table = [(*_cells(row), context.local_time(row[last]) if row[last] else "-") for row in rows]
    print_table(("who", "channel", "id", "name", "by", last), table)
    return 0


def _cells(row: dict[str, str]) -> tuple[str, ...]:
    return say(row["kind"]), row["channel"], row["id"], row["name"] or "-", say(row.get("by", "-"))
