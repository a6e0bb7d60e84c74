"""Consolidation runs of `kenobot sleep`, beside a bot or without one: a run, a dry run, and undoing a run."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from kenobot.agent.background.extraction import build_extraction_worker
from kenobot.agent.background.per_chat_worker import WorkerContext
from kenobot.agent.background.sleep import SleepContext
from kenobot.agent.model_router import ModelRouter
from kenobot.app import background, plugin_instances, wiring
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy.sleep import Phase
from kenobot.cognitive.recall.index.index import Indexer, SideIndex
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.apply_change import NightUndo, undo_decisions
from kenobot.cognitive.sleep.cycle import NightProgress
from kenobot.cognitive.sleep.report import NightReport
from kenobot.cognitive.store import sleep_plans
from kenobot.core import plugins
from kenobot.core.bus import Bus
from kenobot.core.settings.home import AlreadyLocked, Home
from kenobot.storage.database import Database

_DRAFT = ".sleep-"
_BATCH = 20  # decisions that are undone in one transaction
_NEWEST = 2**62


# ── a night ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def run_sleep(context: CommandContext, phases: tuple[Phase, ...]) -> NightReport:
    """Run `phases`, after the rest of an interrupted run. Raises AlreadyLocked or StoreError."""
    with contextlib.ExitStack() as stack:
        alone = True
        try:
            stack.enter_context(context.home.lock())
        except AlreadyLocked:
            alone = False
            context.require_current_schema()
        async with _opened(context, alone=alone) as (parts, model):
            worker = background.build_sleep_worker(context.loaded.settings, parts, model, unthrottled=alone)
            finished = await worker.sleep("command", phases, print_progress)
            if not set(phases) <= set(finished.run.phases):
                print("That was the rest of a night that had been cut short.", file=sys.stderr)
                finished = await worker.sleep("command", phases, print_progress)
            return finished


@contextlib.asynccontextmanager
async def _opened(context: CommandContext, *, alone: bool) -> AsyncIterator[tuple[SleepContext, ModelRouter | None]]:
    """The parts of a bot that sleep needs. Alone, turns are extracted and the Markdown files synchronised as well."""
    home, loaded, clock, zone = context.home, context.loaded, context.clock, context.zone
    instances = plugin_instances.load_providers(home, loaded, clock)
    _, model = wiring.build_models(loaded.settings, instances, clock)
    database = Database.open(home.database, home.backups)
    index, bus = SideIndex(home.index), Bus(clock)
    try:
        files = MemoryFiles(home.memory, database, clock, zone, wiring.sleep_policy(loaded.settings.sleep), pause=0)
        extraction = build_extraction_worker(
            loaded.settings.extraction, WorkerContext(database, bus, clock, zone, files, index), model
        )
        if alone:
            await files.sync_in()
        parts = SleepContext(
            database,
            bus,
            clock,
            zone,
            home.sleep_lock,
            files if alone else None,
            extraction if alone else None,
            Indexer(database, index),
        )
        yield parts, model
        if alone:
            await extraction.stop()
            await files.sync_out()
            await files.stop()
    finally:
        await bus.close()
        await plugins.close(instances.closable)
        await database.close()
        index.close()


async def dry_run(context: CommandContext, phases: tuple[Phase, ...]) -> NightReport:
    """Run `phases` on a copy of the database, without a model. Raises AlreadyLocked or StoreError."""
    home, settings = context.home, context.loaded.settings
    with home.sleep_lock():
        for leftover in home.path.glob(f"{_DRAFT}*"):  # of a run that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=home.path) as folder:
            copy = Path(folder) / "kenobot.db"
            context.copy_database(copy)
            database = Database.open(copy, Path(folder) / "backups")
            bus = Bus(context.clock)
            try:
                parts = SleepContext(database, bus, context.clock, context.zone, contextlib.nullcontext)
                worker = background.build_sleep_worker(settings, parts, None, unthrottled=True)
                return await worker.sleep("rehearsal", phases, print_progress)
            finally:
                await bus.close()
                await database.close()


async def print_progress(step: NightProgress) -> None:
    """Print the progress of a run on stderr."""
    where = f"{step.number}/{step.total} {step.sleep_pass.phase}: {step.sleep_pass.name}"
    if step.result is None:
        options.show_progress(f"{where} …")
        return
    outcome = "failed" if step.result.trouble and not step.result.done else f"{step.result.done} decisions"
    options.show_progress()
    print(f"{where}, {outcome}", file=sys.stderr, flush=True)


def is_asleep(home: Home) -> bool:
    """Return whether some process sleeps in this home right now."""
    try:
        with home.sleep_lock():
            return False
    except AlreadyLocked:
        return True


# ── undo ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def undo_sleep_run(context: CommandContext, number: int | None) -> NightUndo:
    """Undo the decisions of a run that still stand, some in a transaction, so that a bot beside it does not wait.

    Without a number, the last run that is not undone. Raises NothingFound, AlreadyLocked or StoreError.
    """
    context.require_current_schema()
    with context.home.sleep_lock():
        with context.read() as connection:
            night = run_rows.last_run(connection) if number is None else run_rows.get_run(connection, number)
        if night is None:
            what = "no night that could be taken back" if number is None else f"no night {number}"
            raise options.NothingFound(f"There is {what}: `kenobot sleep status` shows the last one.")
        if night.state == "running":
            raise options.NothingFound(
                f"Night {night.id} was cut short: `kenobot sleep run` ends it, then it can be undone."
            )
        outcome, before = NightUndo(night.id), _NEWEST
        while before:
            with context.write() as connection:
                before = undo_decisions(connection, outcome, before, _BATCH, context.owner)
                if not before:
                    sleep_plans.mark_night_undone(connection, night.id, context.now)
    return outcome
