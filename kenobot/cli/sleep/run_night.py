"""Consolidation runs of `kenobot sleep`, beside a bot or without one: a run, a dry run, and undoing a run."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from kenobot.app import plugin_instances, wiring
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cognitive.memory import (
    Indexer,
    MemoryFiles,
    MemoryWorkers,
    Nights,
    Policy,
    SideIndex,
    SleepContext,
    WorkerContext,
)
from kenobot.core import plugins
from kenobot.core.bus import Bus
from kenobot.core.settings.home import AlreadyLocked, Home
from kenobot.ledger.model_router import ModelRouter
from kenobot.ports.frozen import dataclass
from kenobot.ports.nights import NightProgress, NightReport, NightUndo, Phase
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_DRAFT = ".sleep-"
_MOST_TURNS = 10_000  # of a chat, that are counted


# ── a night ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def run_sleep(context: CommandContext, phases: tuple[Phase, ...], command: str) -> NightReport:
    """Run the passes of a command in some phases, after the rest of an interrupted run.

    Raises AlreadyLocked or StoreError.
    """
    with contextlib.ExitStack() as stack:
        alone = True
        try:
            stack.enter_context(context.home.lock())
        except AlreadyLocked:
            alone = False
            context.require_current_schema()
        async with _open_parts(context, alone=alone) as (parts, model):
            settings = context.loaded.settings
            cut_short = await parts.database.read(Nights.find_unfinished)
            if cut_short is not None:
                rest = MemoryWorkers.build_sleep(settings, parts, model, unthrottled=alone)
                finished = await rest.sleep("command", phases, print_progress)
                print(say("That was the rest of a night that had been cut short."), file=sys.stderr)
                if set(phases) <= set(finished.run.phases):
                    return finished
            chosen = replace(parts, passes=Nights.passes(command))
            worker = MemoryWorkers.build_sleep(settings, chosen, model, unthrottled=alone)
            return await worker.sleep("command", phases, print_progress)


@dataclass(frozen=True, slots=True)
class ExtractedTurns:
    """Count the turns that were read for memories, and those that still wait."""

    read: int
    waiting: int


async def extract_pending(context: CommandContext) -> ExtractedTurns:
    """Extract from all pending turns and index what is not indexed yet. The home is locked. Raises StoreError."""
    async with _open_parts(context, alone=True) as (parts, _):
        assert parts.extraction is not None and parts.indexer is not None
        before = await parts.database.read(_count_unread)
        await parts.extraction.drain()
        waiting = await parts.database.read(_count_unread)
    with context.index():
        return ExtractedTurns(before - waiting, waiting)


def _count_unread(connection: Connection) -> int:
    return Nights.count_unread(connection, _MOST_TURNS)


@contextlib.asynccontextmanager
async def _open_parts(
    context: CommandContext, *, alone: bool
) -> AsyncIterator[tuple[SleepContext, ModelRouter | None]]:
    """Open the parts of a bot that sleep needs. alone: extract turns and synchronise the Markdown files as well."""
    home, loaded, clock, zone = context.home, context.loaded, context.clock, context.zone
    instances = plugin_instances.load_providers(home, loaded, clock)
    _, model = wiring.build_models(loaded.settings, instances, clock)
    database = Database.open(home.database, home.backups)
    index, bus = SideIndex(home.index), Bus(clock)
    ledger = wiring.build_ledger(loaded.settings, database, clock)
    try:
        files = MemoryFiles(home.memory, database, clock, zone, Policy.of(loaded.settings.sleep))
        extraction = MemoryWorkers.build_extraction(
            loaded.settings, WorkerContext(database, bus, clock, zone, files, ledger, index), model
        )
        if alone:
            await files.sync_in()
        parts = SleepContext(
            database,
            bus,
            clock,
            zone,
            home.sleep_lock,
            ledger,
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


async def dry_run(context: CommandContext, phases: tuple[Phase, ...], command: str) -> NightReport:
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
                ledger = wiring.build_ledger(settings, database, context.clock)
                parts = SleepContext(
                    *(database, bus, context.clock, context.zone, contextlib.nullcontext, ledger),
                    passes=Nights.passes(command),
                )
                worker = MemoryWorkers.build_sleep(settings, parts, None, unthrottled=True)
                return await worker.sleep("rehearsal", phases, print_progress)
            finally:
                await bus.close()
                await database.close()


async def print_progress(step: NightProgress) -> None:
    """Print the progress of a run on stderr."""
    where = f"{step.number}/{step.total} {say(step.phase)}: {step.name}"
    result = step.result
    if result is None:
        options.show_progress(f"{where} …")
        return
    options.show_progress()
    failed = result.trouble and not result.done
    if not failed and (sys.stderr.isatty() or not result.done):
        return  # a person reads the report
    outcome = say("failed") if failed else say("{count} decisions", count=result.done)
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
            night = Nights.last_finished(connection) if number is None else Nights.find(connection, number)
        if night is None:
            if number is None:
                raise options.NothingFound("sleep.no_undoable_night")
            raise options.NothingFound("sleep.no_such_night", night=number)
        if night.state == "running":
            raise options.NothingFound("sleep.night_cut_short", night=night.id)
        outcome, before = NightUndo(night.id), Nights.NEWEST
        while before:
            with context.write() as connection:
                before = Nights.undo_some(connection, outcome, before, context.owner)
    return outcome
