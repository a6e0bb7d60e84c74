"""Synchronising the Markdown files and the vectors after a change from the command line."""

import asyncio
import sys

from kenobot.cli.context import CommandContext
from kenobot.cli.language import translate
from kenobot.cli.memory.vectors import embed_new_records
from kenobot.cognitive.memory import MemoryFiles, Policy
from kenobot.core.settings.home import AlreadyLocked
from kenobot.ports.frozen import dataclass
from kenobot.storage.database import Database

_BOT_SECONDS = 10.0
BOT_IS_RUNNING = "The bot is running: it brings its files up to date within seconds."


@dataclass(frozen=True, slots=True)
class FileSync:
    """Outcome of bringing files and memory together.

    touched: facts that people's edits changed; None when a bot that runs does it in its own time. by_bot: one runs.
    """

    touched: int | None
    by_bot: bool


def sync_files(context: CommandContext) -> FileSync:
    """Synchronise the Markdown files with memory and embed what is new, or have a bot that is running do so."""
    try:
        with context.home.lock():
            return FileSync(asyncio.run(_sync(context)), by_bot=False)
    except AlreadyLocked:
        return FileSync(_ask_bot(context), by_bot=True)


def _ask_bot(context: CommandContext) -> int | None:
    from kenobot.cli.bot_link import ask  # only beside a bot
    from kenobot.core.frames import Sync, Synced

    answer = ask(context.home, Sync(), _BOT_SECONDS)
    return answer.touched if isinstance(answer, Synced) else None


def make_home(context: CommandContext) -> None:
    """Make a home where there is none, for memories that come from elsewhere. Raises ConfigError or StoreError.

    Its files are known before anything is brought, or one that was seeded would pass for one from which lines were
    deleted.
    """
    if context.make_home():
        sync_files(context)


async def _sync(context: CommandContext) -> int:
    database = Database.open(context.home.database, context.home.backups)
    try:
        policy = Policy.of(context.loaded.settings.sleep)
        files = MemoryFiles(context.home.memory, database, context.clock, context.zone, policy)
        touched = await files.sync_in()
        await files.sync_out()
        touched += await files.sync_in()
        await files.stop()
        for problem in files.problems:
            print(translate(problem), file=sys.stderr)
        await embed_new_records(context, database)
        return touched
    finally:
        await database.close()
