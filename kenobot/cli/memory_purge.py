"""What a purge says before and after, and what it does beside the database's rows: files, the index, and free pages."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenobot.cognitive.control.forget import PurgePlan
    from kenobot.core.settings.home import Home
    from kenobot.core.settings.load import ResolvedSettings
    from kenobot.ports.clock import Clock

_SHORTEST = 4  # characters that tell a text from others
_LARGEST = 5_000_000
_ROUNDS = 10_000


def purge_plan_text(doomed: "PurgePlan", home: "Home") -> str:
    """What would be erased, and what would not, in plain words."""
    from kenobot.cli.memory_options import record_line, record_row

    parts = ["To be erased for good:"]
    parts += [record_line(record_row(record)) for record in doomed.records]
    parts.append(f"  with every earlier wording ({len(doomed.wordings)} in all), link and vector of it;")
    if doomed.turns:
        parts.append(
            f"  {len(doomed.turns)} messages that told it, whole and with their answers, since nobody can tell which "
            "of their words did;"
        )
    if doomed.resummarized:
        parts.append(f"  {len(doomed.resummarized)} summaries of conversations that may tell it; they are made anew;")
    parts.append("  and its lines in the Markdown files, in the index, and in prompts.")
    if doomed.derived:
        parts.append("Not erased, though made from it or repeating it; purge them too if they should go:")
        parts += [record_line(record_row(record)) for record in doomed.derived]
    backups = sorted(home.backups.glob("*.db"))
    parts.append("Not erased: what the model's provider and the chat's platform keep, and copies that you made.")
    if backups:
        parts.append("Backups are NOT covered and still hold it: " + ", ".join(str(path) for path in backups))
    return "\n".join(parts)


def purge_files(home: "Home", loaded: "ResolvedSettings", clock: "Clock | None", doomed: "PurgePlan") -> list[str]:
    """Let files and index follow, and overwrite what the database's file still holds in free pages.

    A bot that is running does so itself, since what it writes leaves such pages again. Returns where the words still
    stand, in words for a person.
    """
    from kenobot.agent.background import purge
    from kenobot.cli import db_read
    from kenobot.cli.memory_options import BOT_IS_RUNNING, sync_files

    running = sync_files(home, loaded, clock) is None
    _wipe_index(home)
    if not running:
        purge.vacuum_erased(home.database)
    with db_read.open_readonly(home) as connection:
        left = purge.find_residue(connection, doomed.wordings)
    if running:
        return [*left, f"files and free space for a moment: {BOT_IS_RUNNING[0].lower()}{BOT_IS_RUNNING[1:-1]}"]
    return left + _in_files(home.memory, doomed.wordings)


def finish_interrupted_purge(home: "Home", loaded: "ResolvedSettings", clock: "Clock | None") -> None:
    """Finish what an earlier purge left undone because it was killed; a bot that is running does so itself."""
    from kenobot.agent.background import purge
    from kenobot.cli import db_read
    from kenobot.cli.memory_options import sync_files

    with db_read.open_readonly(home) as connection:
        if not purge.is_purge_unfinished(connection):
            return
    if sync_files(home, loaded, clock) is not None:
        _wipe_index(home)
        purge.vacuum_erased(home.database)


def _wipe_index(home: "Home") -> None:
    """Take the words out of the index to the last: it may be made anew at any time."""
    from kenobot.cognitive.recall.index.index import SideIndex
    from kenobot.storage.connection import connect

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
    """Files below the memory folder that say one of `wordings`: such as people wrote, or put aside."""
    wanted = [text for text in wordings if len(text) >= _SHORTEST]
    found = []
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _LARGEST:
            continue
        held = path.read_bytes().decode("utf-8", "replace")
        if any(text in held for text in wanted):
            found.append(str(path))
    return found
