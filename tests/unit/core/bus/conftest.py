"""A bus of one's own for each test."""

from collections.abc import AsyncIterator

import pytest

from kenobot.core.bus import Bus
from kenobot.testing.clock import ManualClock


@pytest.fixture
async def bus(clock: ManualClock) -> AsyncIterator[Bus]:
    """A bus whose receivers have a tenth of a second."""
    made = Bus(clock, deadline=0.1)
    yield made
    await made.close()
