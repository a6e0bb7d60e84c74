"""`kenobot memory purge`: records, files, the index, and free pages of the database."""

import sys
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.memory.record_text import record_line, record_row
from kenobot.cli.memory.sync_files import BOT_IS_RUNNING, sync_files
from kenobot.cognitive.memory import Memory
from kenobot.ports.memory_changes import PurgePlan
from kenobot.storage import erasure
from kenobot.storage.backup.backups import find_copies
from kenobot.storage.backup.names import backup_folder

_SHORTEST = 4  # characters that tell a text from others
_LARGEST = 5_000_000


def purge(context: CommandContext) -> int:
    args, home = context.args, context.home
    if not args.dry_run:
        finish_interrupted_purge(context)
    with context.read() as connection:
        record = Memory.records.resolve(connection, args.ref, context.scopes)
        plan = Memory.plan_purge(connection, record.id, context.scopes)
    assert plan is not None
    copies = [str(path) for path in find_copies(home, backup_folder(home, context.loaded.settings.backup.folder))]
    print(_plan_text(plan, copies, context.zone), file=sys.stderr if args.json else sys.stdout)
    if args.dry_run:
        return 0
    nobody = "Nobody is here to agree: add --yes if it is meant."
    if not args.yes and not options.confirm("Erase this for good? [y/N] ", nobody):
        return options.print_failure("Nothing was erased.")
    with context.write() as connection:
        plan, erased = Memory.purge(connection, plan, context.scopes, context.owner)
    residue = purge_files(context, plan)
    row = {"purged": [each.id for each in plan.records], "turns": [*plan.turns], "left": residue}
    row |= {"messages": len(erased.messages), "backups": copies}
    what = say(
        "Erased: {memories} memories, {messages} messages of conversations, {letters} of inbox and outbox.",
        memories=len(plan.records),
        messages=len(erased.messages),
        letters=erased.letters,
    )
    rest = (say("Its words still stand in {place}.", place=place) for place in residue)
    return options.print_row(row, args.json, "\n".join([what, *rest]))


def _plan_text(plan: PurgePlan, copies: Sequence[str], zone: ZoneInfo) -> str:
    """Return what would be erased, and what would not, in plain words. copies: of the home, which are not covered."""
    parts = [say("To be erased for good:")]
    parts += [record_line(record_row(record), zone) for record in plan.records]
    parts.append(
        say("  with every earlier wording ({wordings} in all), link and vector of it;", wordings=len(plan.wordings))
    )
    if plan.turns:
        parts.append(say("  {turns} messages that told it, whole and with their answers;", turns=len(plan.turns)))
    if plan.resummarized:
        parts.append(
            say(
                "  {resummarized} summaries of conversations that may tell it; they are made anew;",
                resummarized=len(plan.resummarized),
            )
        )
    parts.append(say("  and its lines in the Markdown files, in the index, and in prompts."))
    if plan.derived:
        parts.append(say("Not erased, though made from it or repeating it; purge them too if they should go:"))
        parts += [record_line(record_row(record), zone) for record in plan.derived]
    parts.append(say("Not erased: what the model's provider and the chat's platform keep, and copies that you made."))
    if copies:
        parts.append(say("Backups are NOT covered and still hold it: {copies}", copies=", ".join(copies)))
    return "\n".join(parts)


def purge_files(context: CommandContext, plan: PurgePlan) -> list[str]:
    """Synchronise files and index, and overwrite what the database's file still holds in free pages.

    A running bot does so itself, since its writes leave such pages again. Returns where the words still stand, in words
    for a person.
    """
    home = context.home
    running = sync_files(context).by_bot
    with context.index():  # it holds none of the erased words any more
        pass
    if not running:
        erasure.vacuum_erased(home.database)
    with context.read() as connection:
        residue = erasure.find_residue(connection, plan.wordings)
    if running:
        return [*residue, f"files and free space for a moment: {BOT_IS_RUNNING[0].lower()}{BOT_IS_RUNNING[1:-1]}"]
    return residue + _in_files(home.memory, plan.wordings)


def finish_interrupted_purge(context: CommandContext) -> None:
    """Finish an earlier purge that was killed; a running bot does so itself."""
    with context.read() as connection:
        if not erasure.is_purge_unfinished(connection):
            return
    if not sync_files(context).by_bot:
        with context.index():
            pass
        erasure.vacuum_erased(context.home.database)


def _in_files(root: Path, wordings: tuple[str, ...]) -> list[str]:
    """Return files below the memory folder that contain one of `wordings`."""
    wanted = [text for text in wordings if len(text) >= _SHORTEST]
    found = []
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _LARGEST:
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        if any(wording in text for wording in wanted):
            found.append(str(path))
    return found
