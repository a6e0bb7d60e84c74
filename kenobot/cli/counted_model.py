"""A model that a command asks: its calls are counted in the home's ledger, and kept to its budgets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kenobot.app.wiring import build_ledger
from kenobot.cli.context import CommandContext
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.load import Settings
from kenobot.ledger.model_router import ModelRouter, ProviderRoute
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.provider import Provider
from kenobot.storage.database import Database

PURPOSE = "test"


@asynccontextmanager
async def counted_model(
    context: CommandContext, settings: Settings, provider: Provider, folder: Path, seconds: float
) -> AsyncIterator[BudgetedModel]:
    """Put a provider behind the ledger.

    folder: where calls are counted as long as the home has no database. seconds: how long an answer may take.
    Raises ConfigError for a database of another version.
    """
    home, clock = context.home, context.clock
    if home.database.exists():
        context.require_current_schema()
        database = Database.open(home.database, home.backups)
    else:
        database = Database.open(folder / home.database.name, folder)
    try:
        router = ModelRouter([ProviderRoute(provider, CircuitBreaker(clock))], seconds, clock)
        yield BudgetedModel(router, build_ledger(settings, database, clock), PURPOSE)
    finally:
        await database.close()
