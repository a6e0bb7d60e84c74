"""A bot that is killed while people talk to it over other platforms than Telegram, each through its real server.

The short form, which `make test-long` plays; `make crash` plays twenty-five kills on each.
"""

import pytest

from tests.crash import channel_kills
from tests.crash.platforms import PLATFORMS
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("name", PLATFORMS)
async def test_what_a_server_hands_over_is_answered_once(lab: Lab, name: str) -> None:
    """Whatever the platform's server gave to the bot and the bot stored has one answer, whenever the bot was killed."""
    line = await channel_kills.play_one(lab, name, kills=3, burst=4)
    if line.missing:
        pytest.skip(line.missing)
    assert line.broken == []
    assert (line.times, line.lost, line.doubled) == (3, 0, 0)
