"""Background work: build the workers that go on behind the turns.

Their modules take longer to load than a turn takes, so the app imports this one only when they are needed.
"""

from kenobot.app.wiring import prompt_limits
from kenobot.cognitive.memory import Indexer, MemoryWorkers, WorkerContext
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings
from kenobot.ledger.model_router import ModelRouter


def build_workers(
    home: Home, settings: Settings, context: WorkerContext, indexer: Indexer, model: ModelRouter | None
) -> MemoryWorkers:
    """Build the workers behind the turns. model: of the background work; None leaves all to rules."""
    return MemoryWorkers(home, settings, context, indexer, model, prompt_limits(settings).window)
