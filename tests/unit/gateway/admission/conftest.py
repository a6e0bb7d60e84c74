"""A door of one's own for each test."""

from collections.abc import AsyncIterator

import pytest

from kenobot.storage.database import Database
from kenobot_testing.clock import ManualClock
from tests.unit.gateway.admission.house import House


@pytest.fixture
async def house(database: Database, clock: ManualClock) -> AsyncIterator[House]:
    made = House(database, clock)
    await made.door.refresh()
    yield made
