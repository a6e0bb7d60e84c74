"""The workers of memory behind the turns: construct, start and stop them."""

from kenobot.cognitive.background.compaction import CompactionWorker
from kenobot.cognitive.background.extraction import ExtractionWorker, build_extraction_worker
from kenobot.cognitive.background.per_chat_worker import WorkerContext
from kenobot.cognitive.background.sleep import SleepContext, SleepWorker
from kenobot.cognitive.mirror.cleanup import MissingFilesWorker, PurgeFinisher
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.index.index import Indexer
from kenobot.core.history_window import HistoryWindow
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings
from kenobot.core.worker import BackgroundTask, Scheduler
from kenobot.ledger.model_router import ModelRouter


class MemoryWorkers:
    """The workers of a bot. `start` them once, `begin` what may wait until then, `stop` them at the end.

    model: the model of the background work; None leaves all to rules.
    window: of prompts; what is beyond it is summed up.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        context: WorkerContext,
        indexer: Indexer,
        model: ModelRouter | None,
        window: HistoryWindow,
    ) -> None:
        database, bus, clock, zone, files = context.database, context.bus, context.clock, context.zone, context.files
        self.extraction = self.build_extraction(settings, context, model)
        self.compaction = self.build_compaction(settings, context, model, window)
        sleep = SleepContext(
            *(database, bus, clock, zone, home.sleep_lock, context.ledger, files),
            self.extraction,
            indexer,
            context.index,
        )
        self.sleep_worker = self.build_sleep(settings, sleep, model)
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

    @staticmethod
    def build_extraction(settings: Settings, context: WorkerContext, model: ModelRouter | None) -> ExtractionWorker:
        """Build the worker that extracts facts; model None leaves all to rules."""
        return build_extraction_worker(settings.extraction, context, model)

    @staticmethod
    def build_compaction(
        settings: Settings, context: WorkerContext, model: ModelRouter | None, window: HistoryWindow
    ) -> CompactionWorker:
        """Build the worker that summarizes conversations; model None leaves all to rules."""
        budgeted = context.limit_to_budget(model, "compaction")
        return CompactionWorker(context, budgeted, window, reads=settings.extraction.enabled)

    @staticmethod
    def build_sleep(
        settings: Settings, context: SleepContext, asked: ModelRouter | None, *, unthrottled: bool = False
    ) -> SleepWorker:
        """Build the worker of sleep. unthrottled: no conversation has to be kept fluent meanwhile."""
        hour = settings.sleep.hour if settings.sleep.hour >= 0 else None
        policy = Policy.of(settings.sleep)
        return SleepWorker(context, policy, asked, enabled=settings.sleep.enabled, hour=hour, unthrottled=unthrottled)
