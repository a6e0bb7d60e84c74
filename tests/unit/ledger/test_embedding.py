"""What servers are asked to embed is counted, by the tokens that they say or about as many, and within the budget."""

from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest
from pydantic import SecretStr

from kenobot.core.token_estimate import estimate_tokens
from kenobot.ledger.embedding import LedgerMeter
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.limits import Limit
from kenobot.ports.clock import Clock
from kenobot.ports.errors import OverBudget, Unavailable
from kenobot.ports.plugin import PluginContext
from kenobot.providers.embedders import openai
from kenobot.providers.embedders.http import HttpEmbedder
from kenobot.providers.embedders.openai import OpenAISettings
from kenobot.storage import model_calls
from kenobot.storage.database import Database
from kenobot.storage.model_calls import Spending
from kenobot_testing.clock import ManualClock
from tests.integration.providers.embedding_standin import EmbeddingStandIn

TEXTS = ("Ana likes tea", "Oslo has a blue tram")
SMALL = "text-embedding-3-small"  # a fiftieth of a dollar a million tokens


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingStandIn]:
    async with EmbeddingStandIn() as server:
        yield server


def embedder(server: EmbeddingStandIn, database: Database, clock: Clock, *limits: Limit) -> HttpEmbedder:
    settings = OpenAISettings(base_url=f"{server.url}/v1", api_key=SecretStr("k"), model=SMALL)
    made: HttpEmbedder = openai.plugin.build(settings, PluginContext(Path("unused"), clock, "Kenobot"))
    made.meter = LedgerMeter(Ledger(database, clock, UTC, None, limits))  # type: ignore[arg-type]
    return made


async def spent(database: Database) -> list[tuple[str, Spending]]:
    return await database.write(lambda c: model_calls.spending_by(c, "model", "2026-01-01", "2026-12-31"))


async def test_a_request_costs_what_the_server_counted(
    server: EmbeddingStandIn, database: Database, clock: ManualClock
) -> None:
    """Under the plain name of its model, which has a price; where the server does not count, about as many."""
    server.usage = {"usage": {"prompt_tokens": 9, "total_tokens": 9}}
    model = embedder(server, database, clock)
    await model.embed(TEXTS)
    assert await spent(database) == [(f"openai:{SMALL}", Spending(1, 0, 9, 0, 0, 0, 9 * 20_000, 0))]
    server.usage = {}
    await model.embed(TEXTS, "query")
    ((_, told),) = await spent(database)
    assert (told.calls, told.input_tokens) == (2, 9 + sum(map(estimate_tokens, TEXTS)))
    await model.aclose()


async def test_a_server_may_count_as_it_likes(server: EmbeddingStandIn, database: Database, clock: ManualClock) -> None:
    """More tokens than a database holds are taken for ten million."""
    server.usage = {"usage": {"prompt_tokens": 10**30}}
    model = embedder(server, database, clock)
    await model.embed(TEXTS)
    ((_, told),) = await spent(database)
    assert (told.input_tokens, told.unsettled) == (10**7, 0)
    await model.aclose()


async def test_a_request_that_was_refused_costs_nothing(
    server: EmbeddingStandIn, database: Database, clock: ManualClock
) -> None:
    """Its reservation is taken back."""
    server.script = [500]
    model = embedder(server, database, clock)
    with pytest.raises(Unavailable):
        await model.embed(TEXTS)
    assert await spent(database) == []
    await model.aclose()


async def test_nothing_is_sent_beyond_the_budget(
    server: EmbeddingStandIn, database: Database, clock: ManualClock
) -> None:
    """The worker takes the refusal for a server out of reach, and memory is found by words."""
    model = embedder(server, database, clock, Limit("day", "tokens", 15))
    await model.embed(TEXTS)
    await database.write(lambda _: None)
    with pytest.raises(OverBudget):
        await model.embed(TEXTS)
    assert len(server.requests) == 1
    await model.aclose()
