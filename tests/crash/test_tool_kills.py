"""A bot that is killed while tools are at work: nothing lost, nothing done twice.

The short form, which `make test-long` plays; `make crash` plays thirty kills.
"""

import pytest

from tests.crash import tool_kills
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_tools_outlive_kills(lab: Lab) -> None:
    """Each message is answered once, and what may happen once happens once or is told as unknown."""
    line = await tool_kills.play(lab, kills=2, burst=4)
    assert line.broken == []
    assert line.times == 2


async def test_tasks_outlive_kills(lab: Lab) -> None:
    """Each has one result, and what may happen once happens once or is told as unknown."""
    line = await tool_kills.play_tasks(lab, kills=1, burst=2)
    assert line.broken == []
    assert line.times == 1
