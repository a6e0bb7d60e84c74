"""Real processes, really killed: no message is lost, and none is answered twice by the core.

The short form, which `make test-long` plays; `make crash` plays hundreds of kills and the other
faults, and prints a table.
"""

import pytest

from tests.crash import kills
from tests.crash.checker import check
from tests.crash.world import Lab, until

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]

KILLS = 4
MESSAGES = 40


async def test_no_kill_loses_a_message_or_has_the_core_answer_twice(lab: Lab) -> None:
    """After seeded kill -9s at random moments every message has been answered by exactly one turn, in order."""
    line = await kills.play(lab, KILLS, MESSAGES, worlds=1)
    assert not line.broken
    assert (line.times, line.messages, line.lost, line.doubled) == (KILLS, MESSAGES, 0, 0)


async def test_a_message_whose_turn_was_killed_is_answered_once_after_the_restart(lab: Lab) -> None:
    """Killed while the model was writing, the bot answers on the next start, once, and before what came later."""
    async with lab.world("killed turn", chats=1) as world:
        world.model.script = [{"match": "m00000", "times": 1, "delay": 60}]
        await world.bot.start()
        await world.say()
        assert await until(lambda: world.model.calls, 20)
        await world.bot.kill()
        await world.say()
        await world.bot.start()
        assert await world.settles()
        assert await world.bot.terminate() == 0
        assert [item.text for item in world.telegram.sent] == ["answer 2 to m00000", "answer 3 to m00001"]
        verdict = check(world)
        assert verdict.holds, verdict
        assert (verdict.messages, verdict.repeated_calls, verdict.repeated_parts) == (2, 1, 0)
