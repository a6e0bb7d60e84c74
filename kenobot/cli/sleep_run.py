"""What `kenobot sleep` is made of: a night beside a bot or without one, a rehearsal, and taking a night back."""

import contextlib
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.agent.background.extraction import ExtractionContext as Study
from kenobot.agent.background.extraction import build_extraction_worker
from kenobot.agent.background.sleep import SleepContext, sleep_policy
from kenobot.agent.model_router import ModelRouter
from kenobot.app import plugin_instances, wiring
from kenobot.cli import db_write, options
from kenobot.cli.memory_options import owner_context
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy.sleep import Phase
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.index.indexer import Indexer
from kenobot.cognitive.sleep import run_rows, undo_night
from kenobot.cognitive.sleep.cycle import NightProgress
from kenobot.cognitive.sleep.report import NightReport
from kenobot.cognitive.sleep.undo_night import UndoConflict
from kenobot.cognitive.store import sleep_plans
from kenobot.core.bus import Bus
from kenobot.core.settings.home import AlreadyLocked, Home
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError
from kenobot.storage import database as db
from kenobot.storage import migrate
from kenobot.storage.database import Database

_DRAFT = ".sleep-"
_AT_ONCE = 20  # decisions that are taken back in one transaction
_AFTER_ALL = 2**62


class NoSuchSleepRun(KenobotError):
    """There is no such night, or none that can be taken back."""


@dataclass(frozen=True, slots=True)
class SleepRunUndone:
    """What was taken back of a night, what was not, and how many decisions changed no memory."""

    run: int
    undone: tuple[int, ...]
    conflicts: tuple[UndoConflict, ...]
    unchanged: int


# ── a night ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def run_sleep(home: Home, loaded: ResolvedSettings, clock: Clock, phases: tuple[Phase, ...]) -> NightReport:
    """One night, or the rest of one that was cut short and then what was asked for. Raises Held, or StoreError."""
    with contextlib.ExitStack() as stack:
        alone = True
        try:
            stack.enter_context(home.lock())
        except AlreadyLocked:
            alone = False
            db_write.require_current_schema(home)
        async with _bedroom(home, loaded, clock, alone=alone) as (rooms, asked):
            sleeper = wiring.build_sleep_worker(loaded.settings, rooms, asked, unthrottled=alone)
            done = await sleeper.sleep("command", phases, print_progress)
            if not set(phases) <= set(done.run.phases):
                print("That was the rest of a night that had been cut short.", file=sys.stderr)
                done = await sleeper.sleep("command", phases, print_progress)
            return done


@contextlib.asynccontextmanager
async def _bedroom(
    home: Home, loaded: ResolvedSettings, clock: Clock, *, alone: bool
) -> AsyncIterator[tuple[SleepContext, ModelRouter | None]]:
    """The house, as far as sleep needs it. Alone, conversations are read, and the Markdown files kept, as well."""
    zone = ZoneInfo(loaded.settings.bot.timezone)
    parts = plugin_instances.load_providers(home, loaded, clock)
    model = wiring.build_model_router(loaded.settings, parts.providers, clock)
    asked = wiring.choose_background_model(loaded.settings, parts, model, clock)
    database = Database.open(home.database, home.backups)
    index, bus = SideIndex(home.index), Bus(clock)
    try:
        tree = MemoryFiles(home.memory, database, clock, zone, sleep_policy(loaded.settings.sleep), pause=0)
        reading = build_extraction_worker(
            loaded.settings.extraction, Study(database, bus, clock, zone, tree, index), asked
        )
        if alone:
            await tree.sync_in()
        yield (
            SleepContext(
                database,
                bus,
                clock,
                zone,
                home.sleep_lock,
                tree if alone else None,
                reading if alone else None,
                Indexer(database, index),
            ),
            asked,
        )
        if alone:
            await reading.stop()
            await tree.sync_out()
            await tree.stop()
    finally:
        await bus.close()
        for provider in (*parts.providers, *([parts.extraction_provider] if parts.extraction_provider else [])):
            close = getattr(provider, "aclose", None)
            if close is not None:
                await close()
        await database.close()
        index.close()


async def dry_run(home: Home, loaded: ResolvedSettings, clock: Clock, phases: tuple[Phase, ...]) -> NightReport:
    """What a night would come to, played on a copy of the database; nobody is asked. Raises Held, or StoreError."""
    with home.sleep_lock():
        for left in home.path.glob(f"{_DRAFT}*"):  # by a kill
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=home.path) as folder:
            database = Database.open(_copied(home, Path(folder)), Path(folder) / "backups")
            bus = Bus(clock)
            try:
                zone = ZoneInfo(loaded.settings.bot.timezone)
                rooms = SleepContext(database, bus, clock, zone, contextlib.nullcontext)
                return await wiring.build_sleep_worker(loaded.settings, rooms, None, unthrottled=True).sleep(
                    "rehearsal", phases, print_progress
                )
            finally:
                await bus.close()
                await database.close()


def _copied(home: Home, folder: Path) -> Path:
    """A copy of the database in one snapshot; a bot that writes meanwhile does not wait for it."""
    migrate.check(home.database)
    target = folder / "kenobot.db"
    try:
        with contextlib.closing(db.connect(home.database, readonly=True)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise db.to_store_error(error) from error
    return target


async def print_progress(step: NightProgress) -> None:
    """How far it is, on stderr."""
    where = f"{step.number}/{step.total} {step.sleep_pass.phase}: {step.sleep_pass.name}"
    if step.result is None:
        options.show_progress(f"{where} …")
        return
    came = "failed" if step.result.trouble and not step.result.done else f"{step.result.done} decisions"
    options.show_progress()
    print(f"{where}, {came}", file=sys.stderr, flush=True)


async def _nothing() -> None:
    pass


def is_asleep(home: Home) -> bool:
    """Whether some process sleeps in this home right now."""
    try:
        with home.sleep_lock():
            return False
    except AlreadyLocked:
        return True


# ── taking back ──────────────────────────────────────────────────────────────────────────────────────────────────


def undo_sleep_run(home: Home, loaded: ResolvedSettings, clock: Clock, number: int | None) -> SleepRunUndone:
    """Undo what a night decided and what still stands, some in a transaction, so that a bot beside it does not wait.

    Without a number, the last night that is not taken back. Raises NothingYet, NoSuchNight, Held, or StoreError.
    """
    undone, kept, unchanged, before = list[int](), list[UndoConflict](), 0, _AFTER_ALL
    db_write.require_current_schema(home)
    with home.sleep_lock():
        with db_write.transaction(home) as connection:
            night = run_rows.last_run(connection) if number is None else run_rows.get_run(connection, number)
        if night is None:
            what = "no night that could be taken back" if number is None else f"no night {number}"
            raise NoSuchSleepRun(f"There is {what}: `kenobot sleep status` shows the last one.")
        if night.state == "running":
            raise NoSuchSleepRun(f"Night {night.id} was cut short: `kenobot sleep run` ends it, then it can be undone.")
        while before:
            with db_write.transaction(home) as connection:
                at = owner_context(loaded, clock.now())
                some = undo_night.undo_decisions(connection, night.id, before, _AT_ONCE, at)
                undone += some.undone
                kept += some.conflicts
                unchanged += some.unchanged
                before = some.oldest_event
                if not before:
                    sleep_plans.mark_night_undone(connection, night.id, at.at)
    return SleepRunUndone(night.id, tuple(undone), tuple(kept), unchanged)
