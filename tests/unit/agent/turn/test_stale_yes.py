"""A yes counts for the question as it was put: whatever took its ground away since, the call is not run."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.storage import tool_grants
from kenobot_testing.clock import EagerClock
from tests.unit.agent.turn.test_tool_approvals import _ALWAYS, _ASKED, _EVER, _NO, _YES, ButtonScene
from tests.unit.agent.turn.test_tools import Tool, calls

_OVER = "That question is over"
Happen = Callable[["Asked"], Awaitable[object]]


class Asked:
    """A person who said hello and then asked for something, and the question about the call that the model made."""

    def __init__(self, scene: ButtonScene, clock: EagerClock) -> None:
        self.scene, self.clock = scene, clock
        self.value = ""
        self.below = ""

    async def say(self, text: str, name: str, **more: object) -> str:
        return await self.scene.say(text, **{"platform_id": name, "user": "1", **more})  # type: ignore[arg-type]

    async def edit(self, text: str, name: str) -> None:
        await self.say(text, name, kind="edit", target=name)

    async def ask(self, **more: object) -> None:
        await self.say("hello", "m1", **more)
        assert _ASKED.split("?", maxsplit=1)[0] in await self.say("do it", "m2", **more)
        self.value, self.below = self.scene.buttons[_YES], str(self.scene.channel.sent[-1].id)

    async def press(self, label: str = _YES, user: str = "1", **more: object) -> str:
        value = self.value if label == _YES else self.scene.buttons[label]
        return await self.say("", "", kind="action", target=self.below, value=value, user=user, **more)


def _nothing() -> Happen:
    async def happen(asked: Asked) -> None:
        return None

    return happen


def _edit(text: str, name: str) -> Happen:
    return lambda asked: asked.edit(text, name)


def _say(text: str) -> Happen:
    return lambda asked: asked.say(text, "m3")


def _wait(**span: float) -> Happen:
    async def happen(asked: Asked) -> None:
        asked.clock.advance(timedelta(**span).total_seconds())

    return happen


def _press(*labels: str, user: str = "1") -> Happen:
    async def happen(asked: Asked) -> None:
        for label in labels:
            await asked.press(label, user)

    return happen


async def _talk_on_and_edit_that(asked: Asked) -> None:
    await asked.say("by the way", "m3")
    await asked.edit("by the way, what is new?", "m3")


async def _edit_by_another_of_the_chat(asked: Asked) -> None:
    await asked.say("do nothing", "m2", kind="edit", target="m2", user="2")


HAPPENS: Mapping[str, tuple[Happen, int]] = {
    "nothing": (_nothing(), 1),
    "the request is edited": (_edit("do not do it", "m2"), 0),
    "the request is edited a little": (_edit("do it!", "m2"), 0),
    "what was said before is edited": (_edit("good morning", "m1"), 0),
    "an edit that changes nothing": (_edit("do it", "m2"), 1),
    "what was said since is edited": (_talk_on_and_edit_that, 1),
    "another edits it": (_edit_by_another_of_the_chat, 1),
    "other talk": (_say("how are you?"), 1),
    "new": (_say("/new"), 0),
    "nueva": (_say("/nueva"), 0),
    "stop": (_say("stop"), 0),
    "cancel": (_say("Cancel!"), 0),
    "para": (_say("para ya"), 0),
    "a no": (_say("no"), 0),
    "the button no": (_press(_NO), 0),
    "fifty minutes": (_wait(minutes=50), 1),
    "an hour and a minute": (_wait(minutes=61), 0),
    "pressed before": (_press(_YES), 1),
    "pressed twice before": (_press(_YES, _YES), 1),
    "pressed by another before": (_press(_YES, user="2"), 1),
    "always pressed before": (_press(_EVER), 1),
}


@pytest.mark.parametrize("name", HAPPENS)
async def test_a_yes_counts_while_its_question_stands(tmp_path: Path, name: str) -> None:
    """Whatever happens between the question and the press, the call runs once at most, or the person reads why not."""
    happen, times = HAPPENS[name]
    tool, clock = Tool("42", _ALWAYS), EagerClock()
    script = ["Hello.", calls("a"), "May I?", *(["Fine."] * 5)]
    async with ButtonScene(tmp_path, script, tools=[tool], clock=clock) as scene:
        asked = Asked(scene, clock)
        await asked.ask()
        await happen(asked)
        ran_before = len(tool.ran)
        told = await asked.press()
        assert len(tool.ran) == times
        assert told.startswith(_OVER) == (len(tool.ran) == ran_before)


@pytest.mark.parametrize("said", ["stop", "/stop", "basta"])
async def test_a_word_that_stops_ends_the_question(tmp_path: Path, said: str) -> None:
    """There is something to stop: a call that waits."""
    tool = Tool("42", _ALWAYS)
    async with ButtonScene(tmp_path, ["Hello.", calls("a"), "May I?"], tools=[tool]) as scene:
        await Asked(scene, EagerClock()).ask()
        assert await scene.say(said) == "All right, I will not run it."
        assert await scene.say(said) == "There is nothing under way to stop."


RESTARTS: Mapping[str, tuple[str, Sequence[str], bool, int]] = {
    "as it was": ("", ["1"], True, 1),
    "a rule allows it": ('tool = "do"\ndecision = "allow"', ["1"], True, 1),
    "a rule asks": ('tool = "*"\ndecision = "ask"', ["1"], True, 1),
    "a rule denies it": ('tool = "do"\ndecision = "deny"', ["1"], True, 0),
    "a rule denies these arguments": ('tool = "d*"\ndecision = "deny"\narguments = { word = "a*" }', ["1"], True, 0),
    "a rule denies others": ('tool = "do"\ndecision = "deny"\narguments = { word = "b*" }', ["1"], True, 1),
    "a rule denies it elsewhere": ('tool = "do"\ndecision = "deny"\nwhere = "group"', ["1"], True, 1),
    "the tool is gone": ("", ["1"], False, 0),
    "the owner is another": ("", ["9"], True, 0),
}


@pytest.mark.parametrize("name", RESTARTS)
async def test_after_a_restart_the_rules_of_now_count(tmp_path: Path, name: str) -> None:
    """Settings, tools and owners may have changed between the question and the press."""
    rule, owners, has_tool, times = RESTARTS[name]
    tool, other, clock = Tool("42", _ALWAYS), Tool("42", _ALWAYS, "other"), EagerClock()
    async with ButtonScene(tmp_path, ["Hello.", calls("a"), "May I?"], tools=[tool], clock=clock) as scene:
        asked = Asked(scene, clock)
        await asked.ask()
    if rule:
        (tmp_path / "home" / "kenobot.toml").write_text(f"[[tools.rules]]\n{rule}\n")
    tools = [tool if has_tool else other]
    async with ButtonScene(tmp_path, ["Well."], tools=tools, clock=clock, owners=owners) as scene:
        scene.channel.number = 20
        again = Asked(scene, clock)
        again.value, again.below = asked.value, asked.below
        told = await again.press()
        assert len(tool.ran) == times
        assert told.startswith(_OVER) == (owners != ["1"])


async def test_what_was_allowed_for_good_and_is_withdrawn_is_asked_again(tmp_path: Path) -> None:
    """Neither the grant nor the old buttons run it then."""
    tool = Tool("42", _ALWAYS)
    script = ["Hello.", calls("a"), "May I?", "Done.", calls("a"), "Again.", calls("a"), "May I?"]
    async with ButtonScene(tmp_path, script, tools=[tool]) as scene:
        asked = Asked(scene, EagerClock())
        await asked.ask()
        await asked.press(_EVER)
        assert await scene.say("and again") == "Again."
        assert len(tool.ran) == 2
        [(number,)] = await scene.rows("SELECT id FROM tool_grant")
        assert isinstance(number, int)
        await scene.app.database.write(lambda connection: tool_grants.remove_grant(connection, number))
        assert _ASKED in await scene.say("once more")
        assert (await asked.press()).startswith(_OVER)
        assert len(tool.ran) == 2


async def test_a_question_that_another_took_the_place_of_keeps_its_own_call(tmp_path: Path) -> None:
    """Each button runs the call above it."""
    tool = Tool("42", _ALWAYS)
    script = ["Hello.", calls("a"), "May I?", calls("b"), "May I?", "Fine."]
    async with ButtonScene(tmp_path, script, tools=[tool]) as scene:
        asked = Asked(scene, EagerClock())
        await asked.ask()
        await scene.say("or rather b")
        second = scene.buttons[_YES]
        await asked.press()
        await scene.say("", kind="action", target=asked.below, value=second)
        assert tool.ran == ["a", "b"]
