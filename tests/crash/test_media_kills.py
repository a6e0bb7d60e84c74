"""A bot that is killed while media are in flight: nothing lost, nothing doubled.

The short form, which `make test-long` plays; `make crash` plays fifty kills.
"""

import pytest

from tests.crash import media_kills
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_pictures_albums_and_files_outlive_kills(lab: Lab) -> None:
    """Each message is answered once, with all that was attached to it."""
    line = await media_kills.play(lab, kills=3, burst=4)
    assert line.broken == []
    assert line.times == 3
