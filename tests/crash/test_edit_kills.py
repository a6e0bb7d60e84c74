"""A bot that is killed while fragments, edits and reactions are in flight: nothing lost, nothing doubled.

The short form, which `make test-long` plays; `make crash` plays fifty kills.
"""

import pytest

from tests.crash import edit_kills
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_edits_and_reactions_outlive_kills(lab: Lab) -> None:
    """Each message stands in the conversation as it reads at the end, once, and its answer stands on Telegram."""
    line = await edit_kills.play(lab, kills=3, burst=6)
    assert line.broken == []
    assert line.times == 3
