"""A loop of one's own for each test."""

from collections.abc import AsyncIterator

import pytest

from kenobot.storage.database import Database
from tests.unit.agent.loop.house import House


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    """A loop with room for everything."""
    made = House(database)
    yield made
    await made.loop.stop(1)
    await made.bus.close()
