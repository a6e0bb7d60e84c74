"""`kenobot host doctor`: whether the cell is well, what is not, and what to do about it."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from kenobot.cli.context import CommandContext
from kenobot.cli.doctor.findings import Finding, print_findings
from kenobot.cli.language import say, word_error
from kenobot.ports.errors import ConfigError, KenobotError, StoreError
from kenobot_host import doctor_rows, mail_rows, move_rows, schema_rows
from kenobot_host.activation import STALLED_SECONDS
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.cell_address import find_address
from kenobot_host.commands.run import find_folder
from kenobot_host.connections import Connections, TimedConnection
from kenobot_host.copy_check import compare_copy, list_copies
from kenobot_host.sealing import Sealer
from kenobot_host.tables import newest_schema

_Check = Callable[[TimedConnection, CommandContext], Iterator[Finding]]
_NAMED = 5


def doctor(context: CommandContext) -> int:
    """Run every check. Returns the exit code, see `print_findings`. Raises ConfigError and StoreError."""
    args = context.args
    connections = Connections(find_address(os.environ)).open()
    try:
        with connections.open_long() as connection:
            findings = list(_find_all(connection, context))
            fixed = [finding.fix() for finding in findings if args.fix and finding.fix is not None]
            if fixed:
                findings = list(_find_all(connection, context))
    finally:
        connections.close()
    return print_findings(findings, fixed, whole=args.all, as_json=args.json)


def _find_all(connection: TimedConnection, context: CommandContext) -> Iterator[Finding]:
    checks: tuple[_Check, ...] = (
        *(_check_tables, _check_workers, _check_mail, _check_jobs, _check_forgotten, _check_moves, _check_bots),
        *(_check_keys, _check_copies),
    )
    for check in checks:
        name = check.__name__.removeprefix("_check_")
        try:
            found = list(check(connection, context))
        except (KenobotError, OSError) as error:
            found = [Finding(name, "error", say("This could not be checked: {reason}", reason=word_error(error)))]
        yield from found or [Finding(name, "ok", say("Nothing is wrong: {check}.", check=name))]


def _name(names: list[str]) -> str:
    """Name some of many."""
    more = say(" and {count} more", count=len(names) - _NAMED) if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _tell(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def _check_tables(connection: TimedConnection, _: CommandContext) -> Iterator[Finding]:
    schema_rows.check_schema(connection)
    if schema_rows.list_unfinished(connection):
        text = say("Tables still have what only workers of the version before need.")
        advice = say("Once no worker of the version before runs: `kenobot host upgrade --finish`.")
        yield Finding("tables", "note", text, advice)
    counts = doctor_rows.count_schemas(connection)
    if newer := sum(count for schema, count in counts.items() if schema > newest_schema()):
        text = say("{count} homes were written by a newer KenoBot than this one.", count=newer)
        yield Finding("tables", "warning", text, say("Workers of this version leave them alone: update this machine."))
    if older := sum(count for schema, count in counts.items() if schema < newest_schema()):
        text = say("{count} homes have an older schema; each is updated when it is opened next.", count=older)
        yield Finding("tables", "note", text)


def _check_workers(connection: TimedConnection, _: CommandContext) -> Iterator[Finding]:
    if not doctor_rows.count_workers(connection, STALLED_SECONDS):
        yield Finding(
            "workers", "error", say("No worker and no ingress runs."), say("Start them: `kenobot host run worker`.")
        )
    if count := doctor_rows.count_abandoned(connection, 3 * STALLED_SECONDS):
        text = say("Processes that are silent hold {count} jobs, and nobody takes these from them.", count=count)
        yield Finding("workers", "error", text, say("A worker or an ingress that runs does so within seconds."))


def _check_mail(connection: TimedConnection, context: CommandContext) -> Iterator[Finding]:
    for late in doctor_rows.list_late_mail(connection, context.args.minutes):
        text = say(
            "{count} messages to {name} wait since {since} UTC.",
            count=late.count,
            name=late.name,
            since=_tell(late.since),
        )
        yield Finding(
            "mail",
            "error",
            text,
            say("What the worker says that `kenobot host status {name}` names tells why.", name=late.name),
        )


def _check_jobs(connection: TimedConnection, context: CommandContext) -> Iterator[Finding]:
    for late in doctor_rows.list_late_jobs(connection, context.args.minutes):
        text = say(
            "{count} jobs of the queue {queue} wait since {since} UTC.",
            count=late.count,
            queue=late.queue,
            since=_tell(late.since),
        )
        if late.queue.startswith("homes "):
            advice = say("They are for workers of a newer KenoBot: start one.")
        elif late.queue == "bots":
            advice = say("Start an ingress, or give it more --bots.")
        else:
            advice = say("Start another worker, or give one more --homes.")
        yield Finding("jobs", "error", text, advice)


def _check_forgotten(connection: TimedConnection, _: CommandContext) -> Iterator[Finding]:
    for lost in doctor_rows.list_forgotten(connection):

        def mend(lost: doctor_rows.Waiting = lost) -> str:
            move_rows.settle(connection, lost.home)
            return say("The home {name} is opened.", name=lost.name)

        text = say("The home {name} has work left, and nothing that opens it.", name=lost.name)
        yield Finding("forgotten", "error", text, say("`kenobot host doctor --fix` has it opened."), mend)


def _check_moves(connection: TimedConnection, _: CommandContext) -> Iterator[Finding]:
    for name, state in doctor_rows.list_moving(connection):
        match state:
            case "left":
                text = say("The home {name} has left for another cell, which was not told.", name=name)
                advice = say("Run the same `kenobot host move` again.")
            case "arriving":
                text = say("The home {name} is arriving, and not here yet.", name=name)
                advice = say("Run the same `kenobot host move` again, where it comes from.")
            case _:
                text = say("The home {name} is moving away, and nobody answers for it.", name=name)
                advice = say("Run the same `kenobot host move` or `export --remove` again, or `move` with --cancel.")
        yield Finding("moves", "warning", text, advice)


def _check_bots(connection: TimedConnection, _: CommandContext) -> Iterator[Finding]:
    if mute := doctor_rows.list_mute(connection):
        text = say("No bot speaks for homes that have mail or reminders: {names}", names=_name(mute))
        yield Finding("bots", "error", text, "kenobot host bot set NAME --token-file FILE")
    if idle := doctor_rows.list_idle_bots(connection):
        text = say("What people write to these bots is dropped, for they have no home: {bots}", bots=_name(idle))
        yield Finding("bots", "warning", text, "kenobot host bot remove BOT")


def _check_keys(connection: TimedConnection, _: CommandContext) -> Iterator[Finding]:
    sealer = Sealer.find(os.environ)
    shut: list[str] = []
    for each in doctor_rows.load_sealed(connection):
        try:
            if sealer is None:
                raise ConfigError("host.key_missing")
            sealer.open(each.path, each.content)
        except ConfigError:
            shut.append(each.whose)
    tokens = BotTokens(sealer)
    for account, token in mail_rows.load_tokens(connection):
        try:
            tokens.open(account, token)
        except ConfigError:
            shut.append(account)
    if shut and sealer is None:
        yield Finding("keys", "error", word_error(ConfigError("host.key_missing")))
    elif shut:
        text = say("The key does not open what these homes and bots have sealed: {names}", names=_name(shut))
        yield Finding("keys", "error", text, say("Give the key that they were sealed for, which workers need as well."))


def _check_copies(connection: TimedConnection, context: CommandContext) -> Iterator[Finding]:
    for home, database in list_copies(find_folder(context.args.folder)):
        try:
            found = compare_copy(connection, home, database)
        except StoreError as error:
            yield Finding("copies", "warning", f"{database}: {word_error(error)}")
            continue
        advice = say("Stop its worker, keep {folder} for whoever looks into it, and start it.", folder=database.parent)
        if found.state == "different":
            text = say(
                "The copy of {name} differs from PostgreSQL in {tables}.",
                name=found.name,
                tables=", ".join(found.tables),
            )
            yield Finding("copies", "error", text, advice)
        elif found.state == "ahead":
            text = say("The copy of {name} has more than PostgreSQL: commits were lost there.", name=found.name)
            yield Finding("copies", "error", text, advice)
