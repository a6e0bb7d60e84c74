"""A bot that is killed between what a shipped tool did and its result.

The short form, which `make test-long` plays; `make crash` plays all tools.
"""

import pytest

from tests.crash import hands_kills
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_what_tools_did_is_not_done_again(lab: Lab) -> None:
    """A request, an edit and a reminder happen once, or the model is told that nobody knows."""
    line = await hands_kills.play(lab, rounds=1, only=("http_request", "edit_file", "remind"))
    assert line.broken == []
    assert line.times == 3
