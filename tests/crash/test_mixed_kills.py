"""A bot that is killed while all that people do is in flight at once: nothing lost, nothing doubled.

The short form, which `make test-long` plays; `make crash` plays fifty kills.
"""

import pytest

from tests.crash import mixed_kills
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_all_at_once_outlives_kills(lab: Lab) -> None:
    """Words, voices, pictures, files, edits and presses in the same chats: each counts once, and memory is right."""
    line = await mixed_kills.play(lab, kills=4)
    assert line.broken == []
    assert line.times == 4
