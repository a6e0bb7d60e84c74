"""A bus of one's own for each test."""

from collections.abc import AsyncIterator

import pytest

from kenobot.core.bus import Bus
from kenobot_testing.clock import ManualClock


@pytest.fixture
async def bus(clock: ManualClock) -> AsyncIterator[Bus]:
    """A bus whose receivers have more time than a busy machine needs: who waits for its end makes it shorter."""
    made = Bus(clock, deadline=60)
    yield made
    await made.close()
