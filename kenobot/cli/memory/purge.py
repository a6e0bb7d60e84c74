"""The steps of a purge beside the database's rows: its announcement, files, the index, and free pages."""

from pathlib import Path

from kenobot.cli.context import CommandContext
from kenobot.cli.memory.record_text import record_line, record_row
from kenobot.cli.memory.sync_files import BOT_IS_RUNNING, sync_files
from kenobot.cognitive.control.forget import PurgePlan
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.core.settings.home import Home
from kenobot.storage import erasure
from kenobot.storage.connection import connect

_SHORTEST = 4  # characters that tell a text from others
_LARGEST = 5_000_000
_ROUNDS = 10_000


def purge_plan_text(plan: PurgePlan, home: Home) -> str:
    """What would be erased, and what would not, in plain words."""
    parts = ["To be erased for good:"]
    parts += [record_line(record_row(record)) for record in plan.records]
    parts.append(f"  with every earlier wording ({len(plan.wordings)} in all), link and vector of it;")
    if plan.turns:
        parts.append(
            f"  {len(plan.turns)} messages that told it, whole and with their answers, since nobody can tell which "
            "of their words did;"
        )
    if plan.resummarized:
        parts.append(f"  {len(plan.resummarized)} summaries of conversations that may tell it; they are made anew;")
    parts.append("  and its lines in the Markdown files, in the index, and in prompts.")
    if plan.derived:
        parts.append("Not erased, though made from it or repeating it; purge them too if they should go:")
        parts += [record_line(record_row(record)) for record in plan.derived]
    backups = sorted(home.backups.glob("*.db"))
    parts.append("Not erased: what the model's provider and the chat's platform keep, and copies that you made.")
    if backups:
        parts.append("Backups are NOT covered and still hold it: " + ", ".join(str(path) for path in backups))
    return "\n".join(parts)


def purge_files(context: CommandContext, plan: PurgePlan) -> list[str]:
    """Synchronise files and index, and overwrite what the database's file still holds in free pages.

    A running bot does so itself, since its writes leave such pages again. Returns where the words still stand, in words
    for a person.
    """
    home = context.home
    running = sync_files(context) is None
    _wipe_index(home)
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
    if sync_files(context) is not None:
        _wipe_index(context.home)
        erasure.vacuum_erased(context.home.database)


def _wipe_index(home: Home) -> None:
    """Bring the index up to date, so that it holds none of the erased words."""
    index = SideIndex(home.index)
    truth = connect(home.database, readonly=True)
    try:
        index.catch_up(truth)
        for _ in range(_ROUNDS):
            if not index.index_backlog(truth):
                break
    finally:
        truth.close()
        index.close()


def _in_files(root: Path, wordings: tuple[str, ...]) -> list[str]:
    """Files below the memory folder that contain one of `wordings`."""
    wanted = [text for text in wordings if len(text) >= _SHORTEST]
    found = []
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _LARGEST:
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        if any(wording in text for wording in wanted):
            found.append(str(path))
    return found
