"""What the memory commands have in common: which memory is meant, when it is, and bringing the files up to date."""

import argparse
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kenobot.cli import options

if TYPE_CHECKING:
    from kenobot.cognitive.remember.admit_context import AdmitContext
    from kenobot.cognitive.store.records import Record
    from kenobot.cognitive.store.scopes import Scopes
    from kenobot.core.settings.home import Home
    from kenobot.core.settings.load import ResolvedSettings
    from kenobot.ports.clock import Clock

BOT_IS_RUNNING = "The bot is running: it brings its files up to date within seconds."
_LEFT_OUT = ("changed", "day", "by")


def requested_scopes(arguments: argparse.Namespace) -> "Scopes":
    """The scope that was asked for; without one, the owner sees all of the home."""
    from kenobot.cognitive.store.scopes import ALL_SCOPES

    return ALL_SCOPES if arguments.scope is None else (arguments.scope,)


def owner_context(loaded: "ResolvedSettings", now: datetime) -> "AdmitContext":
    """The owner, at the command line, now."""
    from zoneinfo import ZoneInfo

    from kenobot.cognitive.remember.admit_context import AdmitContext
    from kenobot.cognitive.text.calendar import local_day

    return AdmitContext(now, local_day(now, ZoneInfo(loaded.settings.bot.timezone)), "owner")


def add_scope(
    parser: argparse.ArgumentParser, meaning: str = "only this memory: owner, chat:SESSION or user:ID"
) -> None:
    parser.add_argument("--scope", metavar="SCOPE", help=meaning)


def add_as_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as-of",
        type=options.parse_since,
        metavar="WHEN",
        help="as it was then: 2d, 3w, or a date like 2026-03-01 (UTC)",
    )


def examples_epilog(*lines: str) -> dict[str, Any]:
    """The end of a help text: how it is used."""
    told = "\n".join(f"  {line}" for line in lines)
    return {
        "epilog": f"examples:\n{told}\n\nexit codes: 0 done · 1 it failed · 2 nothing found",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def record_row(record: "Record") -> dict[str, Any]:
    """A record for programs: JSON columns as what they hold."""
    row = {name: value for name, value in record._asdict().items() if name not in _LEFT_OUT}
    return row | {"attrs": record.attributes, "tags": _list(record.tags), "evidence": [*record.source_message_ids]}


def record_line(row: Mapping[str, Any]) -> str:
    """A record as one line of a list."""
    from kenobot.core.terminal import one_line

    seen = f", seen {row['seen']} times" if (row["seen"] or 0) > 1 else ""
    state = "" if row.get("status", "active") == "active" else f", {row['status']}"
    about = f"{row['form']}, {row['category']}, from {row['trust']}{seen}{state}, {str(row['created'])[:10]}"
    return f"  {row['id']:>5}  {one_line(str(row['text']))}  ({one_line(about)})"


def progress(arguments: argparse.Namespace) -> Callable[[int], None] | None:
    """Tells of long work on stderr, where a person looks on."""
    if getattr(arguments, "json", False) or not sys.stderr.isatty():
        return None

    return lambda done: options.show_progress(f"{done} lines …")


def sync_files(home: "Home", loaded: "ResolvedSettings", clock: "Clock | None") -> int | None:
    """Let the Markdown files and memory agree, unless a bot is running, which does so itself.

    Returns how many facts people's edits touched; None when a bot is running.
    """
    import asyncio

    from kenobot.ports.errors import ConfigError

    try:
        with home.lock():
            return asyncio.run(_agree(home, loaded, options.clock_of(clock)))
    except ConfigError as error:
        if "already running" in str(error):
            return None
        raise


async def _agree(home: "Home", loaded: "ResolvedSettings", clock: "Clock") -> int:
    from zoneinfo import ZoneInfo

    from kenobot.agent.background.sleep import sleep_policy
    from kenobot.cognitive.mirror.memory_files import MemoryFiles
    from kenobot.storage.database import Database

    database = Database.open(home.database, home.backups)
    try:
        zone, policy = ZoneInfo(loaded.settings.bot.timezone), sleep_policy(loaded.settings.sleep)
        tree = MemoryFiles(home.memory, database, clock, zone, policy, pause=0)
        touched = await tree.sync_in()
        await tree.sync_out()
        touched += await tree.sync_in()
        await tree.stop()
        for problem in tree.problems:
            print(problem, file=sys.stderr)
        return touched
    finally:
        await database.close()


def _list(text: str) -> list[Any]:
    import json

    found = json.loads(text)
    return found if isinstance(found, list) else []
