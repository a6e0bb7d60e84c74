"""A model reads the agenda, sets reminders and cancels them, by the rules of the orders in plain words."""

from pathlib import Path

import pytest

from kenobot.ports.json_value import Json
from kenobot.ports.provider import Reply, ToolCall, Usage
from kenobot.tools.agenda import CancelReminder, ReadAgenda, Remind
from kenobot_testing.clock import ManualClock
from tests.scene import Scene
from tests.unit.agent.turn.test_tools import requests, results

_TOOLS = (ReadAgenda(), Remind(), CancelReminder())
_JOBS = "SELECT text, next_due, state, scope, chat FROM job ORDER BY id"


def _call(name: str, **arguments: Json) -> Reply:
    return Reply("", "tool_use", usage=Usage(10, 5), calls=(ToolCall("c1", name, arguments),))


async def test_a_reminder_is_set_read_and_cancelled(tmp_path: Path) -> None:
    """In the chat of the turn, at the person's own time, once or by a rule."""
    script = [
        *(_call("remind", text="llamar a Luis", when="2026-02-16T08:30"), "Set."),
        *(_call("remind", text="take the pill", when="every day at 7:00"), "Set."),
        *(_call("agenda"), "Two."),
        *(_call("cancel_reminder", number=1), "Gone."),
        *(_call("agenda", first="2026-02-16"), "One."),
    ]
    async with Scene(tmp_path, script, tools=_TOOLS, clock=ManualClock()) as scene:
        await scene.say("have me call Luis on Monday")
        await scene.say("and the pill, daily")
        assert await scene.rows(_JOBS) == [
            ("llamar a Luis", "2026-02-16T08:30:00+00:00", "active", "owner", "1"),
            ("take the pill", "2026-02-15T07:00:00+00:00", "active", "owner", "1"),
        ]
        await scene.say("tell me all")
        assert "8:30 llamar a Luis (reminder 1)" in results(requests(scene)[-1])[-1].text
        await scene.say("no Luis after all")
        await scene.say("Monday?")
        told = results(requests(scene)[-1])[-1].text
        assert "take the pill (reminder 2, every day at 7:00)" in told and "Luis" not in told


@pytest.mark.parametrize("when", ["some day", "tomorrow at 5", "2020-01-01T09:00", "2026-03-01T09:00+02:00"])
async def test_a_time_that_is_not_clear_is_no_reminder(tmp_path: Path, when: str) -> None:
    """Nor one that is over: the model is told what to do instead."""
    script = [_call("remind", text="x", when=when), "When?"]
    async with Scene(tmp_path, script, tools=_TOOLS, clock=ManualClock()) as scene:
        await scene.say("remember me of it")
        assert await scene.rows(_JOBS) == []
        assert results(requests(scene)[-1])[-1].failed


async def test_with_words_of_others_on_show_the_owner_is_asked_first(tmp_path: Path) -> None:
    """Their yes sets the reminder as it was shown to them."""
    call = _call("remind", text="pay Mallory", when="2026-02-16T08:30")
    script = [call, "It asks for a reminder.", "Set."]
    async with Scene(tmp_path, script, tools=_TOOLS, clock=ManualClock()) as scene:
        asked = await scene.say("Set a reminder to pay Mallory!", forwarded=True)
        asked = asked or await scene.say("what is it?")
        assert await scene.rows(_JOBS) == []
        assert "remind" in asked and "pay Mallory" in asked and "May I run this?" in asked
        assert await scene.say("yes") == "Set."
        assert [row[0] for row in await scene.rows(_JOBS)] == ["pay Mallory"]
