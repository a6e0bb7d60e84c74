"""A bot that is killed while buttons are pressed: nothing lost, nothing done twice.

The short form, which `make test-long` plays; `make crash` plays fifty kills.
"""

import pytest

from tests.crash import press_kills
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_presses_outlive_kills(lab: Lab) -> None:
    """Each button that was pressed has its effect once, and its message says so."""
    line = await press_kills.play(lab, kills=3, burst=4)
    assert line.broken == []
    assert line.times == 3
