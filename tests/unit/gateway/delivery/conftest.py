"""A delivery of one's own for each test."""

from collections.abc import AsyncIterator

import pytest

from kenobot.storage.database import Database
from tests.unit.gateway.delivery.house import House


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    """A delivery whose pauses are over at once."""
    made = House(database)
    yield made
    await made.delivery.queue.stop(1)
    await made.bus.close()
