"""The background worker that runs `kenobot.cognitive.sleep.cycle` once a day: its schedule, model, lock and signals.

It may be killed anywhere: the next look resumes the night. Only one process sleeps in a home at a time, the bot or the
command line.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from kenobot.cognitive.background.extraction import ExtractionWorker
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.recall.index.index import Indexer, SideIndex
from kenobot.cognitive.sleep import report, run_rows
from kenobot.cognitive.sleep.cycle import ModelAnswer, SleepCycle, is_due
from kenobot.cognitive.sleep.night import NIGHT
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, Pass
from kenobot.cognitive.store import sleep_plans
from kenobot.core.bus import Bus
from kenobot.core.pacing import Rank, run_at_rank
from kenobot.core.settings.home import AlreadyLocked
from kenobot.core.settings.schema import SleepSettings
from kenobot.core.token_estimate import request_tokens
from kenobot.core.worker import BackgroundTask, Scheduler, TaskSet
from kenobot.language.calendar import local_day
from kenobot.ledger.ledger import NO_CALL, Ledger, ModelCall
from kenobot.ledger.model_router import ModelRouter
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import (
    AccountRefused,
    RateLimited,
    Rejected,
    RemoteError,
    StoreError,
    TruncatedReply,
    Unavailable,
)
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.nights import PHASES, NightProgress, NightReport, Phase, SleepRun
from kenobot.ports.provider import Block, Message, Reply, Request
from kenobot.ports.signals import CONFIG_CHANGED, SLEEP_FINISHED, SLEEP_PHASE, SLEEP_STARTED, PayloadValue
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

JOB = "sleep"
_LOOK_SECONDS = 3600.0
_A_WEEK_OF_HOURS = 7 * 24
_SHORTEST_WAIT = 5.0  # seconds before a model that did not answer is asked again

StepListener = Callable[[NightProgress], Awaitable[None]]


def next_sleep_time(
    settings: SleepSettings, policy: SleepPolicy, last: datetime | None, now: datetime, timezone: str
) -> datetime | None:
    """Return the first full hour from now on at which sleep will be due; None when it is disabled."""
    if not settings.enabled:
        return None
    hour = settings.hour if settings.hour >= 0 else None
    hours = (now + timedelta(hours=number) for number in range(_A_WEEK_OF_HOURS))
    return next((each for each in hours if is_due(each, last, policy, ZoneInfo(timezone), hour)), None)


@dataclass(frozen=True, slots=True)
class SleepContext:
    """Dependencies of sleep.

    lock: held during a night; raises AlreadyLocked.
    files, extraction: brought up to date before a night, where they run here.
    indexer: brings the index up to date afterwards.
    passes: the passes of a night.
    """

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    lock: Callable[[], AbstractContextManager[None]]
    ledger: Ledger
    files: MemoryFiles | None = None
    extraction: ExtractionWorker | None = None
    indexer: Indexer | None = None
    index: SideIndex | None = None
    passes: Sequence[Pass] = NIGHT


class NightModel:
    """Asks a model within the budget of a night; one that is out of reach is not asked again that night."""

    def __init__(self, rooms: SleepContext, model: ModelRouter, policy: SleepPolicy) -> None:
        self._p = rooms
        self._model = BudgetedModel(model, rooms.ledger, JOB)
        self._policy = policy
        self._gone = 0

    async def __call__(self, run: SleepRun, question: ModelQuestion) -> ModelAnswer | None:
        if self._gone == run.id:
            return None
        blocks = (Block(question.text),)
        request = Request((Block(question.system),), (Message("user", blocks),), max_tokens=question.answer_tokens)
        try:
            answer = await self._ask(request, local_day(run.at, self._p.zone))
        except TruncatedReply:
            # The tokens may have been used, and stay reserved.
            return ModelAnswer("", request_tokens(request), NO_CALL.settle)
        except RemoteError as error:
            if isinstance(error, Rejected) and not isinstance(error, AccountRefused):
                _log.warning("the model does not take a question of sleep: %s", error)
                return ModelAnswer("", 0, NO_CALL.settle)
            _log.warning("sleep goes on without a model: %s", error)
            self._gone = run.id
            return None
        if answer is None:
            return None
        reply, use = answer
        return ModelAnswer(reply.text if reply.whole else "", use.tokens, use.settle)

    async def _ask(self, request: Request, day: str) -> tuple[Reply, ModelCall] | None:
        for attempt in range(1, self._policy.max_attempts + 1):
            try:
                return await self._model.ask(request, day)
            except (RateLimited, Unavailable) as error:
                if attempt == self._policy.max_attempts:
                    raise
                wait = max(_SHORTEST_WAIT, error.retry_after or 0.0)
                await self._p.clock.sleep(min(wait, self._policy.max_backoff_seconds))
        raise Unavailable("sleep.not_asked")


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
        self._asker = NightModel(rooms, model, policy.sleep) if model else None
        self._enabled = enabled
        self._hour = hour
        self._hurried = unthrottled
        self._compared = ComparisonCache()
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
            try:
                await self._cycle(tell).run_night(run)
            finally:
                self._is_asleep = False
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
        build = partial(report.build_report, run=run, night=self._p.passes, policy=self._policy.sleep)
        done = await self._p.database.read_long(build)
        figures: dict[str, Json] = {"decisions": done.decisions, "tokens": done.tokens}
        figures["large"] = [one.name for one in done.large_passes]
        at = self._p.clock.now()
        await self._p.database.write(lambda connection: run_rows.finish_run(connection, run.id, at, figures))
        return replace(done, run=replace(run, state="finished", finished=at, report=figures), passes_left=0)

    def _cycle(self, tell: StepListener | None) -> SleepCycle:
        p, phases = self._p, set[str]()

        async def tell_step(step: NightProgress) -> None:
            if step.phase not in phases:
                phases.add(step.phase)
                await p.bus.emit(SLEEP_PHASE, "sleep", "", run=step.run.id, phase=step.phase)
            if tell is not None:
                await tell(step)

        return SleepCycle(
            *(p.database, p.clock, p.zone, p.passes, self._policy),
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
