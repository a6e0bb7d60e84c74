"""Promises whose day has passed are asked about in the owner's chat, by day, seldom, and not again once left."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.ports.channel import Capabilities
from kenobot_testing.clock import ManualClock
from tests.integration.memory.test_offline_voice import offline
from tests.scene import Scene

_HOUR, _DAY = 3600.0, 86_400.0


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Scene]:
    """A home with three promises, the day after the last of them."""
    clock = ManualClock()
    scene = Scene(tmp_path, provider=offline(tmp_path, clock), clock=clock, extraction=True)
    scene.channel.capabilities = Capabilities(buttons=True)
    async with scene as opened:
        for told in ("I promised to call Dad on Sunday", "I promised Bea a cake for Monday"):
            await opened.say(told)
        await opened.say("I have to send Tom the photos by Tuesday")
        await opened.say("I have a dentist appointment on Tuesday at 10")
        wanted = (clock.now() + timedelta(days=4)).replace(hour=10)
        clock.advance((wanted - clock.now()).total_seconds())
        yield opened


async def _ask(house: Scene, hours: float = 0.0) -> str:
    house.clock.advance(hours * _HOUR)  # type: ignore[attr-defined]
    before = len(house.texts)
    await house.app.build_overdue_asker().ask()
    await house.app.wait_drained()
    return "\n".join(house.texts[before:])


async def test_a_promise_is_asked_about_by_day_and_two_a_day_at_most(house: Scene) -> None:
    """The one due last first; each again after a week, none at night, and never what took place."""
    assert (await _ask(house)).startswith("Is it done? “I have to send Tom the photos by Tuesday”")
    assert await _ask(house, 1) == ""
    await house.say("not yet")
    assert await _ask(house, 13) == ""
    assert "cake" in await _ask(house, 10)
    await house.press("Leave it")
    assert "Dad" in await _ask(house, 3)
    await house.press("Not yet")
    assert await _ask(house, 4) == ""
    asked = [await _ask(house, 24) for _ in range(12)]
    assert sum("Tom" in text for text in asked) >= 1 and not any("cake" in text for text in asked)
    assert not any("dentist" in text for text in house.texts[4:])


async def test_done_is_noted_on_the_promise_and_can_be_undone(house: Scene) -> None:
    """By a button or by a plain yes."""
    await _ask(house)
    assert "is done" in await house.press("Done")
    assert "Tom" not in await house.say("what do I have to do?")
    await house.say("/undo")
    assert "Tom" in await house.say("what do I have to do?")
    assert "cake" in await _ask(house, 3)
    assert "“I promised Bea a cake for Monday” is done" in await house.say("yes")
    assert "cake" not in await house.say("what do I have to do?")
