"""Synchronising the Markdown files after a change from the command line."""

import asyncio
import sys

from kenobot.app.wiring import sleep_policy
from kenobot.cli.context import CommandContext
from kenobot.cli.language import translate
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.core.settings.home import AlreadyLocked
from kenobot.storage.database import Database

BOT_IS_RUNNING = "The bot is running: it brings its files up to date within seconds."


def sync_files(context: CommandContext) -> int | None:
    """Synchronise the Markdown files with memory, unless a bot is running, which does so itself.

    Returns how many facts people's edits touched; None when a bot is running.
    """
    try:
        with context.home.lock():
            return asyncio.run(_sync(context))
    except AlreadyLocked:
        return None


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
        policy = sleep_policy(context.loaded.settings.sleep)
        files = MemoryFiles(context.home.memory, database, context.clock, context.zone, policy, pause=0)
        touched = await files.sync_in()
        await files.sync_out()
        touched += await files.sync_in()
        await files.stop()
        for problem in files.problems:
            print(translate(problem), file=sys.stderr)
        return touched
    finally:
        await database.close()
