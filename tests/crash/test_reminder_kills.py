"""A bot that is killed while reminders come due: none lost, none told twice.

The short form, which `make test-long` plays; `make crash` plays twenty kills.
"""

import pytest

from tests.crash import reminder_kills
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_reminders_outlive_kills(lab: Lab) -> None:
    """Each has one occurrence, and one message that arrived."""
    line = await reminder_kills.play(lab, kills=2)
    assert line.broken == []
    assert line.times == 2
