"""Background work: construct, start and stop the workers that go on behind the turns.

Their modules take longer to load than a turn takes, so the app imports this one only when they are needed.
"""

from dataclasses import replace

from kenobot.agent.commands import (  # noqa: F401 - here, so that no first command waits for them
    browse,
    correct,
    cost,
    forget,
    greeting,
    memory,
    owner,
    people,
    preferences,
    status,
)
from kenobot.agent.safety import way_out  # noqa: F401 - same, and no first turn with others' words
from kenobot.app.wiring import prompt_limits, sleep_policy
from kenobot.cognitive.background.compaction import CompactionWorker
from kenobot.cognitive.background.sleep import SleepWorker
from kenobot.cognitive.memory import Indexer, SleepContext, WorkerContext, build_extraction_worker
from kenobot.cognitive.mirror.cleanup import MissingFilesWorker, PurgeFinisher
from kenobot.cognitive.sleep import night
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings
from kenobot.core.worker import BackgroundTask, Scheduler
from kenobot.ledger.model_router import ModelRouter


class Background:
    """The workers behind the turns. `start` them once, `begin` what may wait until then, `stop` them at the end.

    model: the model of the background work; None leaves all to rules.
    """

    def __init__(
        self, home: Home, settings: Settings, context: WorkerContext, indexer: Indexer, model: ModelRouter | None
    ) -> None:
        database, bus, clock, zone, files = context.database, context.bus, context.clock, context.zone, context.files
        self.extraction = build_extraction_worker(settings.extraction, context, model)
        self.compaction = build_compaction_worker(settings, context, model)
        sleep = SleepContext(
            *(database, bus, clock, zone, home.sleep_lock, context.ledger, files),
            self.extraction,
            indexer,
            context.index,
        )
        self.sleep_worker = build_sleep_worker(settings, sleep, model)
        self.purge_finisher = PurgeFinisher(database, home.database, files, indexer)
        self.missing_files = MissingFilesWorker(database, bus, clock, zone, files)

    @property
    def workers(self) -> tuple[tuple[str, BackgroundTask], ...]:
        """Return those that read and sum up conversations, by name."""
        return (("extraction", self.extraction), ("compaction", self.compaction))

    async def start(self, scheduler: Scheduler) -> None:
        """Take up what an earlier run left behind, and listen for new turns."""
        scheduler.run_every(10.0, "erasing", self.purge_finisher.tick)
        scheduler.run_every(10.0, "lost files", self.missing_files.tick)
        await self.extraction.start(scheduler)
        await self.compaction.start(scheduler)
        self.sleep_worker.start(scheduler)

    async def stop_extracting(self) -> None:
        """Stop what works on the conversations; sleep has been stopped before."""
        await self.extraction.stop()
        await self.compaction.stop()


def build_compaction_worker(settings: Settings, context: WorkerContext, model: ModelRouter | None) -> CompactionWorker:
    """Build the worker that summarizes conversations; model None leaves all to rules."""
    budgeted = context.budgeted(model, "compaction", settings.compaction.daily_tokens)
    return CompactionWorker(context, budgeted, prompt_limits(settings).window, reads=settings.extraction.enabled)


def build_sleep_worker(
    settings: Settings, context: SleepContext, asked: ModelRouter | None, *, unthrottled: bool = False
) -> SleepWorker:
    """Build the worker of sleep. unthrottled: no conversation has to be kept fluent meanwhile."""
    experts = [name for name in night.EXPERTS if getattr(settings.experts, name)]
    context = replace(context, passes=night.with_experts(context.passes, experts))
    hour = settings.sleep.hour if settings.sleep.hour >= 0 else None
    return SleepWorker(
        context, sleep_policy(settings.sleep), asked, enabled=settings.sleep.enabled, hour=hour, unthrottled=unthrottled
    )
