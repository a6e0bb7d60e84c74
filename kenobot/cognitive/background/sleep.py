"""The background worker that runs `kenobot.cognitive.sleep.cycle` once a day: its schedule, model, lock and signals.

It may be killed anywhere: the next look resumes the night. Only one process sleeps in a home at a time, the bot or the
command line.
"""

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.cognitive.background.extraction import ExtractionWorker
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.index.index import Indexer, SideIndex
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.due import is_due
from kenobot.cognitive.store import sleep_plans
from kenobot.core.bus import Bus
from kenobot.core.pacing import Rank, run_at_rank
from kenobot.core.settings.home import AlreadyLocked
from kenobot.core.worker import BackgroundTask, Scheduler, TaskSet
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.model_router import ModelRouter
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.memory_files import Mirror
from kenobot.ports.nights import PHASES, NightProgress, NightReport, Phase, SleepRun
from kenobot.ports.signals import CONFIG_CHANGED, SLEEP_FINISHED, SLEEP_PHASE, SLEEP_STARTED, PayloadValue
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

if TYPE_CHECKING:
    from kenobot.cognitive.background.night_model import NightModel
    from kenobot.cognitive.sleep.cycle import SleepCycle
    from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache
    from kenobot.cognitive.sleep.plan.passes import Pass

_log = logging.getLogger(__name__)

JOB = "sleep"
_NIGHT_MODULES = ("kenobot.cognitive.background.night_model", "kenobot.cognitive.sleep.night")
_LOOK_SECONDS = 3600.0

StepListener = Callable[[NightProgress], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SleepContext:
    """Dependencies of sleep.

    lock: held during a night; raises AlreadyLocked.
    files, extraction: brought up to date before a night, where they run here.
    indexer: brings the index up to date afterwards.
    passes: the passes of a night; None is all.
    """

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    lock: Callable[[], AbstractContextManager[None]]
    ledger: Ledger
    files: Mirror | None = None
    extraction: ExtractionWorker | None = None
    indexer: Indexer | None = None
    index: SideIndex | None = None
    passes: "Sequence[Pass] | None" = None


class SleepWorker(BackgroundTask):
    """`start` it once, and `begin` when everything is up. model: None leaves all to rules.

    hour: the earliest, in the owner's zone. Not `enabled`, it sleeps only by `sleep`.
    """

    rank = Rank.LATER

    def __init__(
        self,
        rooms: SleepContext,
        policy: Policy,
        model: ModelRouter | None = None,
        *,
        enabled: bool = True,
        hour: int | None = None,
        unthrottled: bool = False,
    ) -> None:
        super().__init__(JOB)
        self._p = rooms
        self._policy = policy
        self._model = BudgetedModel(model, rooms.ledger, JOB) if model else None
        self._asker: NightModel | None = None
        self._compared: ComparisonCache | None = None
        self._enabled = enabled
        self._hour = hour
        self._hurried = unthrottled
        self._is_asleep = False
        self._wanted = TaskSet("sleep by request")

    def start(self, schedule: Scheduler) -> None:
        """Check every hour whether sleep is due."""
        if self._enabled:
            schedule.run_every(_LOOK_SECONDS, "sleep", self.tick)

    def begin(self) -> None:
        """Check for the first time in a minute, after start-up."""
        if self._enabled:
            self._begin(partial(self._look, self._policy.sleep.begin_seconds))

    def note_command(self, changes: Collection[str]) -> None:
        """Sleep when the owner asked for it, also where sleep is not enabled."""
        if "sleep" in changes:
            self._wanted.begin(self._look_if_asked())  # beside a first look that is still waited for

    async def tick(self) -> None:
        """Begin to sleep if it is due, or if a night was cut short, without waiting for it."""
        if self._enabled:
            self._begin(partial(self._look, 0))

    def begin_now(self) -> bool:
        """Begin a night, or go on with one that was cut short, without waiting for it; False where one is under way."""
        if self._is_asleep:
            return False
        self._is_asleep = True
        self._wanted.begin(self._sleep_now())
        return True

    async def wait_requested(self) -> None:
        """Return once no night that was asked for is under way."""
        await self._wanted.wait_idle()

    async def stop(self) -> None:
        await self._wanted.stop()
        await super().stop()

    async def _sleep_now(self) -> None:
        try:
            with run_at_rank(self.rank):
                await self.sleep("request")
        except (AlreadyLocked, StoreError) as error:
            _log.warning("no sleep now: %s", error)
        except Exception:
            _log.exception("sleep failed")
        finally:
            self._is_asleep = False

    async def _look_if_asked(self) -> None:
        with contextlib.suppress(StoreError):  # it is on disk: the next look comes to it
            if await self._p.database.read(run_rows.is_asked_for):
                self.begin_now()

    async def _look(self, delay: float) -> None:
        try:
            if delay:
                await self._p.clock.sleep(delay)
            if await self._p.database.read(self._is_time):
                asked = await self._p.database.read(run_rows.is_asked_for)
                await self.sleep("request" if asked else "hourly")
        except AlreadyLocked as error:
            _log.info("no sleep now: %s", error)
        except StoreError as error:
            _log.warning("sleep has to wait: %s", error)
        except Exception:
            _log.exception("sleep failed; the next look tries again")

    def _is_time(self, connection: Connection) -> bool:
        if run_rows.last_run(connection, "running") is not None or run_rows.is_asked_for(connection):
            return True
        last, born = sleep_plans.last_full_night_at(connection), sleep_plans.first_event_at(connection)
        return is_due(self._p.clock.now(), last, self._policy.sleep, self._p.zone, self._hour, born)

    async def sleep(
        self, cause: str, phases: tuple[Phase, ...] = PHASES, tell: StepListener | None = None
    ) -> NightReport:
        """Run a night, or the rest of one that was cut short. Raises AlreadyLocked or StoreError."""
        with self._p.lock():
            self._is_asleep = True
            if await self._p.database.read(partial(run_rows.last_run, state="running")) is None:
                await self._drain()
            at = self._p.clock.now()
            run = await self._p.database.write(partial(self._open, at=at, cause=cause, phases=phases))
            told: dict[str, PayloadValue] = {"run": run.id, "cause": run.cause}
            await self._p.bus.emit(SLEEP_STARTED, "sleep", "", resumed=run.at != at, **told)
            for module in _NIGHT_MODULES:  # by a thread: it takes tenths of a second, and messages come at night, too
                await asyncio.to_thread(importlib.import_module, module)
            try:
                await self._cycle(tell).run_night(run)
            finally:
                self._is_asleep = False
                if self._compared is not None:
                    self._compared.end_night()
                if self._p.files is not None:
                    self._p.files.mark_dirty()
            done = await self._close(run)
        await self._index()
        large = [f"{one.name} {one.changed_records}/{one.live_records}" for one in done.large_passes]
        _log.info("slept: %d decisions, %d tokens", done.decisions, done.tokens)
        figures = {"decisions": done.decisions, "tokens": done.tokens}
        await self._p.bus.emit(SLEEP_FINISHED, "sleep", "", **told, **figures, large=", ".join(large))
        if done.decisions:
            await self._p.bus.emit(CONFIG_CHANGED, "sleep", "", reason="memory update")
        return done

    async def _drain(self) -> None:
        """Read the edited files and extract the new turns: they are part of what this night is about."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._policy.sleep.drain_seconds):
                if self._p.files is not None:
                    await self._p.files.sync_in()
                if self._p.extraction is not None:
                    await self._p.extraction.drain()

    def _open(self, connection: Connection, at: datetime, cause: str, phases: tuple[Phase, ...]) -> SleepRun:
        sleep_plans.prune_nights(connection, self._policy.sleep.kept_nights - 1)
        return run_rows.begin_or_resume(connection, at, cause, phases)

    async def _close(self, run: SleepRun) -> NightReport:
        """End the night with its report, which takes longer than a writer should be held up."""
        from kenobot.cognitive.sleep.report import build_report

        build = partial(build_report, run=run, night=self._passes, policy=self._policy.sleep)
        done = await self._p.database.read_long(build)
        figures: dict[str, Json] = {"decisions": done.decisions, "tokens": done.tokens}
        figures["large"] = [one.name for one in done.large_passes]
        at = self._p.clock.now()
        await self._p.database.write(lambda connection: run_rows.finish_run(connection, run.id, at, figures))
        return replace(done, run=replace(run, state="finished", finished=at, report=figures), passes_left=0)

    @property
    def _passes(self) -> "Sequence[Pass]":
        from kenobot.cognitive.sleep.night import NIGHT

        return NIGHT if self._p.passes is None else self._p.passes

    def _cycle(self, tell: StepListener | None) -> "SleepCycle":
        """Construct what runs a night. What that needs is imported now: a bot is awake for most of its life."""
        from kenobot.cognitive.background.night_model import NightModel
        from kenobot.cognitive.sleep.cycle import SleepCycle
        from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache

        p, phases = self._p, set[str]()
        if self._compared is None:
            self._compared = ComparisonCache()
        if self._asker is None and self._model is not None:
            self._asker = NightModel(p.clock, p.zone, self._model, self._policy.sleep)

        async def tell_step(step: NightProgress) -> None:
            if step.phase not in phases:
                phases.add(step.phase)
                await p.bus.emit(SLEEP_PHASE, "sleep", "", run=step.run.id, phase=step.phase)
            if tell is not None:
                await tell(step)

        return SleepCycle(
            *(p.database, p.clock, p.zone, self._passes, self._policy),
            answerer=self._asker,
            on_progress=tell_step,
            no_pauses=self._hurried,
            comparison_cache=self._compared,
            neighbour_source=lambda: p.index.record_similarity if p.index is not None else None,
            after_transaction=self._index,  # else the next turn would have to
        )

    async def _index(self) -> None:
        """Update the memory index; what fails now comes with the index's own next round."""
        try:
            if self._p.indexer is not None:
                await self._p.indexer.index_all()
        except StoreError as error:
            _log.warning("the memory index has to wait: %s", error)
