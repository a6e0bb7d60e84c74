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

from kenobot.agent.background.extraction import Rooms as Study
from kenobot.agent.background.extraction import extraction
from kenobot.agent.background.sleep import Rooms, policy_of
from kenobot.agent.model_router import Model
from kenobot.app import plugin_instances, wiring
from kenobot.cli import db_write, options
from kenobot.cli.memory_options import occasion
from kenobot.cognitive.mirror.tree import Tree
from kenobot.cognitive.policy.sleep import Phase
from kenobot.cognitive.recall.index.index import Index
from kenobot.cognitive.recall.index.indexer import Keeper
from kenobot.cognitive.sleep import sleep_store, takeback
from kenobot.cognitive.sleep.cycle import Step
from kenobot.cognitive.sleep.report import Report
from kenobot.cognitive.sleep.takeback import Kept
from kenobot.cognitive.store import sleep_plans
from kenobot.core.bus import Bus
from kenobot.core.settings.home import Held, Home
from kenobot.core.settings.load import Loaded
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError
from kenobot.storage import database as db
from kenobot.storage import migrate
from kenobot.storage.database import Database

_DRAFT = ".sleep-"
_AT_ONCE = 20  # decisions that are taken back in one transaction
_AFTER_ALL = 2**62


class NoSuchNight(KenobotError):
    """There is no such night, or none that can be taken back."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What was taken back of a night, what was not, and how many decisions changed no memory."""

    run: int
    undone: tuple[int, ...]
    kept: tuple[Kept, ...]
    unchanged: int


# ── a night ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def sleep(home: Home, loaded: Loaded, clock: Clock, phases: tuple[Phase, ...]) -> Report:
    """One night, or the rest of one that was cut short and then what was asked for. Raises Held, or StoreError."""
    with contextlib.ExitStack() as stack:
        alone = True
        try:
            stack.enter_context(home.lock())
        except Held:
            alone = False
            db_write.demand_current(home)
        async with _bedroom(home, loaded, clock, alone=alone) as (rooms, asked):
            sleeper = wiring.sleeper_of(loaded.settings, rooms, asked, hurried=alone)
            done = await sleeper.sleep("command", phases, tell)
            if not set(phases) <= set(done.run.phases):
                print("That was the rest of a night that had been cut short.", file=sys.stderr)
                done = await sleeper.sleep("command", phases, tell)
            return done


@contextlib.asynccontextmanager
async def _bedroom(
    home: Home, loaded: Loaded, clock: Clock, *, alone: bool
) -> AsyncIterator[tuple[Rooms, Model | None]]:
    """The house, as far as sleep needs it. Alone, conversations are read, and the Markdown files kept, as well."""
    zone = ZoneInfo(loaded.settings.bot.timezone)
    parts = plugin_instances.load_models(home, loaded, clock)
    model = wiring.model_of(loaded.settings, parts.providers, clock)
    asked = wiring.thinking(loaded.settings, parts, model, clock)
    database = Database.open(home.database, home.backups)
    index, bus = Index(home.index), Bus(clock)
    try:
        tree = Tree(home.memory, database, clock, zone, policy_of(loaded.settings.sleep), pause=0)
        reading = extraction(loaded.settings.extraction, Study(database, bus, clock, zone, tree.mark, index), asked)
        if alone:
            await tree.take_in()
        yield (
            Rooms(
                database,
                bus,
                clock,
                zone,
                home.sleep_lock,
                reading.drain if alone else _nothing,
                lambda: tree.mark(()),
                Keeper(database, index).keep_up,
            ),
            asked,
        )
        if alone:
            await reading.stop()
            await tree.flush()
            await tree.stop()
    finally:
        await bus.close()
        for provider in (*parts.providers, *([parts.reader] if parts.reader else [])):
            close = getattr(provider, "aclose", None)
            if close is not None:
                await close()
        await database.close()
        index.close()


async def rehearse(home: Home, loaded: Loaded, clock: Clock, phases: tuple[Phase, ...]) -> Report:
    """What a night would come to, played on a copy of the database; nobody is asked. Raises Held, or StoreError."""
    with home.sleep_lock():
        for left in home.path.glob(f"{_DRAFT}*"):  # by a kill
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=home.path) as folder:
            database = Database.open(_copied(home, Path(folder)), Path(folder) / "backups")
            bus = Bus(clock)
            try:
                zone = ZoneInfo(loaded.settings.bot.timezone)
                rooms = Rooms(database, bus, clock, zone, contextlib.nullcontext, _nothing, lambda: None, _nothing)
                return await wiring.sleeper_of(loaded.settings, rooms, None, hurried=True).sleep(
                    "rehearsal", phases, tell
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
        raise db.translate(error) from error
    return target


async def tell(step: Step) -> None:
    """How far it is, on stderr."""
    where = f"{step.number}/{step.of} {step.one.phase}: {step.one.name}"
    if step.passed is None:
        options.passing(f"{where} …")
        return
    came = "failed" if step.passed.trouble and not step.passed.done else f"{step.passed.done} decisions"
    options.passing()
    print(f"{where}, {came}", file=sys.stderr, flush=True)


async def _nothing() -> None:
    pass


def is_asleep(home: Home) -> bool:
    """Whether some process sleeps in this home right now."""
    try:
        with home.sleep_lock():
            return False
    except Held:
        return True


# ── taking back ──────────────────────────────────────────────────────────────────────────────────────────────────


def take_back(home: Home, loaded: Loaded, clock: Clock, number: int | None) -> TakenBack:
    """Undo what a night decided and what still stands, some in a transaction, so that a bot beside it does not wait.

    Without a number, the last night that is not taken back. Raises NothingYet, NoSuchNight, Held, or StoreError.
    """
    undone, kept, unchanged, before = list[int](), list[Kept](), 0, _AFTER_ALL
    db_write.demand_current(home)
    with home.sleep_lock():
        with db_write.transaction(home) as connection:
            night = sleep_store.last(connection) if number is None else sleep_store.get(connection, number)
        if night is None:
            what = "no night that could be taken back" if number is None else f"no night {number}"
            raise NoSuchNight(f"There is {what}: `kenobot sleep status` shows the last one.")
        if night.state == "running":
            raise NoSuchNight(f"Night {night.id} was cut short: `kenobot sleep run` ends it, then it can be undone.")
        while before:
            with db_write.transaction(home) as connection:
                at = occasion(loaded, clock.now())
                some = takeback.some(connection, night.id, before, _AT_ONCE, at)
                undone += some.undone
                kept += some.kept
                unchanged += some.unchanged
                before = some.last
                if not before:
                    sleep_plans.take_back(connection, night.id, at.at)
    return TakenBack(night.id, tuple(undone), tuple(kept), unchanged)
