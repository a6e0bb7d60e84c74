"""A real `kenobot sleep run`, really killed: the same memory as after a clean run, whatever sync it was killed at.

The short form, which `make test-long` plays; `make crash` plays every sync.
"""

import pytest

from tests.crash import sleep_kills
from tests.crash.tools import no_strace
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]

AT = (4, 17, 40, 75)


async def test_a_night_that_was_killed_comes_to_the_memory_of_a_clean_one(lab: Lab) -> None:
    """Killed early, in the middle and late, then run again: every record, link and file as if nothing had happened."""
    if missing := no_strace():
        pytest.skip(f"nothing can be killed at a sync here: {missing}")
    line = await sleep_kills.play(lab, AT)
    assert line.broken == []
    assert line.times == len(AT)
