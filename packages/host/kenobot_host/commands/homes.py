"""`kenobot host`: the tables of a cell, and the homes in it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import print_table
from kenobot.ports.errors import StoreError
from kenobot.storage.backup.archive import new_key
from kenobot_host import home_rows, moves, schema_rows
from kenobot_host.cell_address import find_address, read_address
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.sealing import Sealer

_REMOVE = "Remove the home {name} with all that it remembers, for good? `kenobot host export` saves it first. [y/N] "
_NOBODY = "Nobody is here to agree: add --yes if it is meant."


def upgrade(context: CommandContext) -> int:
    """Create or upgrade the tables."""
    with _open(address=find_address(os.environ), is_new=True) as store, store.connections.open_long() as connection:
        made = schema_rows.upgrade_schema(connection, finish=context.args.finish)
        left = schema_rows.list_unfinished(connection)
    lines = [say("The tables are up to date; migrations made now: {count}.", count=len(made))]
    if left:
        lines.append(say("Once no worker of the version before runs: `kenobot host upgrade --finish`."))
    return options.print_row({"made": made, "unfinished": left}, context.args.json, "\n".join(lines))


def make_key(context: CommandContext) -> int:
    """Make the key by which secrets are sealed."""
    path = Path(context.args.file)
    try:
        recipient = new_key(path)
    except OSError as error:
        raise StoreError("files.unwritable", path=path, reason=error) from error
    told = say("The key is in {path}: every worker needs it, and a copy apart from the database's.", path=path)
    return options.print_row({"key": str(path), "recipient": recipient}, context.args.json, told)


def add(context: CommandContext) -> int:
    """Take in the home of this machine."""
    context.require_database()
    home, name = context.home, context.args.name
    with _open() as store:
        moved = moves.take_in(store, Sealer.find(os.environ), home, name, context.now)
    row = {"name": name, "home": moved.home, "files": moved.files, "skipped": list(moved.skipped)}
    lines = [say("The home {name} is in the host now, with {count} files.", name=name, count=moved.files)]
    lines += [say("A link, or a name that is no text, stayed: {path}", path=path) for path in moved.skipped]
    lines.append(say("{path} stays as it is: start no bot on it any more.", path=home.path))
    return options.print_row(row, context.args.json, "\n".join(lines))


def export(context: CommandContext) -> int:
    """Write a home into a folder."""
    folder = Path(context.args.folder).expanduser().absolute()
    name, is_leaving = context.args.name, context.args.remove
    with _open() as store:
        moved = (moves.take_out if is_leaving else moves.export)(store, Sealer.find(os.environ), name, folder)
    row = {"name": name, "folder": str(folder), "files": moved.files, "removed": is_leaving}
    row |= {"bots": list(moved.bots), "shared": list(moved.shared)}
    if is_leaving:
        told = say(
            "The home {name} has left the host, and is in {folder}: kenobot --home {folder} run",
            name=name,
            folder=folder,
        )
        told += "".join("\n" + say("The bot {bot} has left with it.", bot=bot) for bot in moved.bots)
        told += "".join(
            "\n" + say("The bot {bot} stays, for it serves others: give this home another token.", bot=bot)
            for bot in moved.shared
        )
    else:
        told = say("The home {name} is in {folder} as it was just now.", name=name, folder=folder) + "\n"
        told += say("It stays in the host as well. To run it there: `kenobot host export` with --remove.")
    return options.print_row(row, context.args.json, told)


def remove(context: CommandContext) -> int:
    """Remove a home, after asking."""
    name = context.args.name
    with _open() as store:
        found = store.find(name)
        if not context.args.yes and not options.confirm(say(_REMOVE, name=name), _NOBODY):
            return options.print_failure("Nothing was removed.")
        store.remove(found.home)
    return options.print_row({"name": name}, context.args.json, say("The home {name} is gone.", name=name))


def move(context: CommandContext) -> int:
    """Move a home to another cell."""
    names, address = context.args.names, read_address(Path(context.args.to))
    if context.args.cancel:
        return _cancel_move(context, names, address)
    with _open() as store, _open(address=address) as to:
        moved = moves.move(store, to, names)
    rows = [
        {"name": name, "home": each.home, "files": each.files, "bots": list(each.bots)}
        for name, each in zip(names, moved, strict=True)
    ]
    return options.print_rows(rows, context.args.json, _tell_moved)


def _tell_moved(row: Mapping[str, Any]) -> str:
    return say("The home {name} is in the other cell now, with {count} files.", name=row["name"], count=row["files"])


def _cancel_move(context: CommandContext, names: Sequence[str], address: str) -> int:
    """Have homes stay whose move was broken off."""
    with _open() as store, _open(address=address, is_new=True) as to:
        rows = [{"name": name, "removed_there": moves.cancel_move(store, to, name)} for name in names]
    return options.print_rows(rows, context.args.json, _tell_cancelled)


def _tell_cancelled(row: Mapping[str, Any]) -> str:
    told = say("The home {name} stays here.", name=row["name"])
    if row["removed_there"]:
        return told
    left = say("The other cell does not answer: `kenobot host remove {name}` there removes its part.", name=row["name"])
    return f"{told}\n{left}"


def status(context: CommandContext) -> int:
    """Show the homes, or one."""
    with _open() as store, store.connections.open_long() as connection:
        found = home_rows.describe_homes(connection, context.args.name)
    rows = [
        {
            "name": each.name,
            "home": each.home,
            "version": each.version,
            "schema": each.schema,
            "changed": each.changed.isoformat(),
            "worker": each.worker,
            "moving": not each.is_here,
            "arriving": each.is_arriving,
            "file_bytes": each.file_bytes,
        }
        for each in found
    ]
    if context.args.json or not rows:
        nothing = (
            say("There is no home {name}.", name=context.args.name) if context.args.name else "There is no home yet."
        )
        return options.print_rows(rows, context.args.json, str, nothing)
    print_table(
        ["name", "last change (UTC)", "held by"],
        [[each.name, f"{each.changed:%Y-%m-%d %H:%M}", _tell_holder(each)] for each in found],
    )
    return 0


def _tell_holder(home: home_rows.HomeState) -> str:
    if not home.is_here:
        return say("arriving") if home.is_arriving else say("moving away")
    return say("worker {number}", number=home.worker) if home.worker is not None else ""


@contextmanager
def _open(address: str = "", *, is_new: bool = False) -> Iterator[HomeStore]:
    """Open a cell, whose tables are as new as this KenoBot. Raises ConfigError and StoreError."""
    connections = Connections(address or find_address(os.environ)).open()
    try:
        connections.require_sessions()
        if not is_new:
            with connections.open_long() as connection:
                schema_rows.check_schema(connection)
        yield HomeStore(connections)
    finally:
        connections.close()
