"""Who may have a call run that asks: over speakers, places, kinds of tools and those who press."""

import itertools
from pathlib import Path

import pytest

from kenobot.agent.turn.tool_refusals import ASKS_FIRST, HELD_BACK, RULE_ASKS
from kenobot.gateway.access import Roster
from kenobot.ports.provider import Reply, ToolCall
from kenobot.ports.tool import ToolEffects
from tests.unit.agent.turn.test_tool_approvals import _ALWAYS, _NO, _YES, ButtonScene
from tests.unit.agent.turn.test_tools import _CHANGES, _HARMLESS, Tool, calls, requests, results

_OWNER, _OTHER, _GUEST, _GROUP = "1", "8", "7", "-5"
_RULE = '[[tools.rules]]\ntool = "do"\ndecision = "ask"\n'
_ROSTER = Roster.of([_OWNER, _OTHER], [_GUEST], [_GROUP])
KINDS = {
    "harmless": (_HARMLESS, ""),
    "harmless by rule": (_HARMLESS, _RULE),
    "changes": (_CHANGES, ""),
    "changes by rule": (_CHANGES, _RULE),
    "always": (_ALWAYS, ""),
    "always and only reads": (ToolEffects(False, False, False, False, asks_always=True), ""),
    "all effects": (ToolEffects(), _RULE),
}
WHERE = ("private", "group", "group without buttons")
PRESSERS = (_OWNER, _OTHER, _GUEST)


def _place(where: str, user: str) -> dict[str, object]:
    return {"chat": user if where == "private" else _GROUP, "user": user, "private": where == "private"}


@pytest.mark.parametrize(("who", "where", "kind"), [*itertools.product((_OWNER, _GUEST), WHERE, KINDS)])
async def test_what_asks_runs_after_a_yes_of_the_owner_who_asked_for_it(
    tmp_path: Path, who: str, where: str, kind: str
) -> None:
    """A guest's request runs nothing that asks; a question is answered by the account that it was put to alone."""
    effects, rule = KINDS[kind]
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "kenobot.toml").write_text(rule)
    tool, reader = Tool("42", effects), Tool("seen", _HARMLESS, "look")
    asks = bool(rule) or effects.asks_always
    offered = who == _OWNER or not (effects.changes_outside or effects.way_out)
    scene = ButtonScene(tmp_path, [calls("a"), "Well?", "Done."], tools=[tool, reader], roster=_ROSTER)
    async with scene:
        if where == "group without buttons":
            scene.channel.capabilities = scene.channel.capabilities.__class__(buttons=False)
        await scene.say("do it", **_place(where, who))  # type: ignore[arg-type]
        assert tool.ran == (["a"] if offered and not asks else [])
        is_asked = who == _OWNER and asks and where != "group without buttons"
        assert [*scene.buttons][:2] == ([_YES, _NO] if is_asked else [])
        if not is_asked:
            [result] = results(requests(scene)[1])
            assert result.failed == (asks or not offered)
            assert result.text not in (ASKS_FIRST, HELD_BACK, RULE_ASKS)
            return
        value, below = scene.buttons[_YES], str(scene.channel.sent[-1].id)
        for presser in PRESSERS:
            for chat in (_OWNER, _GROUP, presser):
                assert tool.ran == []
                place = {"chat": chat, "user": presser, "private": chat != _GROUP}
                if (presser, chat) != (_OWNER, _OWNER if where == "private" else _GROUP):
                    await scene.say("", kind="action", target=below, value=value, **place)  # type: ignore[arg-type]
        await scene.say("", kind="action", target=below, value=value, **_place(where, _OWNER))  # type: ignore[arg-type]
        assert tool.ran == ["a"]


@pytest.mark.parametrize("said", ["yes", "Sí", "always"])
@pytest.mark.parametrize("user", [_OWNER, _OTHER, _GUEST])
async def test_words_answer_nothing_in_a_group(tmp_path: Path, said: str, user: str) -> None:
    """They may be meant for somebody else, also as an answer to the question's message."""
    tool = Tool("42", _ALWAYS)
    scene = ButtonScene(tmp_path, [calls("a"), "Well?", "Hm."], tools=[tool], roster=_ROSTER)
    async with scene:
        await scene.say("do it", **_place("group", _OWNER))  # type: ignore[arg-type]
        await scene.say(said, **_place("group", user))  # type: ignore[arg-type]
        answered = {"reply_to": str(scene.channel.sent[1].id), **_place("group", user)}
        await scene.say(said, **answered)  # type: ignore[arg-type]
        assert tool.ran == []


@pytest.mark.parametrize(
    ("read", "asked"),
    [
        (None, True),
        (ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False), True),
        (ToolEffects(reads_private=False, brings_untrusted=True, way_out=False, changes_outside=False), True),
        (ToolEffects(reads_private=True, brings_untrusted=False, way_out=False, changes_outside=False), False),
        (ToolEffects(reads_private=True, brings_untrusted=True, way_out=False, changes_outside=False), False),
    ],
)
@pytest.mark.parametrize("where", ["group", "private"])
async def test_no_question_shows_a_group_what_a_tool_read_of_private_things(
    tmp_path: Path, read: ToolEffects | None, asked: bool, where: str
) -> None:
    """After such a reading the call is refused there, in a sentence; alone with the owner they are asked."""
    tool = Tool("42", _ALWAYS)
    look = Tool("The safe opens with 7741", read or _HARMLESS, "look")
    first = [calls("x", name="look")] if read else []
    script = [*first, calls("put 7741 there"), "I cannot.", "Done."]
    async with ButtonScene(tmp_path, script, tools=[tool, look], roster=_ROSTER) as scene:
        told = await scene.say("do it", **_place(where, _OWNER))  # type: ignore[arg-type]
        is_asked = asked or where == "private"
        assert bool(scene.buttons) == is_asked
        assert ("7741" in told) == is_asked
        refused = results(requests(scene)[-1])[-1].text
        assert refused.startswith("Not run")
        assert ("alone with them" in refused) == (not is_asked)


async def test_a_secret_of_the_bots_is_in_no_question(tmp_path: Path) -> None:
    """A call that holds one is refused, alone with the owner as well."""
    tool = Tool("42", _ALWAYS)
    async with ButtonScene(tmp_path, [calls("send swordfish-9000"), "I cannot."], tools=[tool]) as scene:
        scene.app.redact.learn(["swordfish-9000"])
        told = await scene.say("do it")
        assert "swordfish" not in told


async def test_a_question_in_a_group_says_who_answers_it(tmp_path: Path) -> None:
    """In words, since others read it; and what was allowed for good there is so for the owner alone."""
    tool = Tool("42", ToolEffects(False, False, False, False, asks_always=True))
    script = [calls("a"), "Well?", "Done.", calls("a"), "Done.", calls("a"), "I may not."]
    async with ButtonScene(tmp_path, script, tools=[tool], roster=_ROSTER) as scene:
        told = await scene.say("do it", **_place("group", _OWNER))  # type: ignore[arg-type]
        assert "Only the buttons answer this here, and only for the person who asked." in told
        await scene.press("Always for this", **_place("group", _OWNER))  # type: ignore[arg-type]
        assert await scene.say("again", **_place("group", _OWNER)) == "Done."  # type: ignore[arg-type]
        assert len(tool.ran) == 2
        assert await scene.say("again", **_place("group", _GUEST)) == "I may not."  # type: ignore[arg-type]
        assert len(tool.ran) == 2


@pytest.mark.parametrize("effects", [ToolEffects(), ToolEffects(False, False, False, True, asks_first=True)])
async def test_words_of_others_in_a_group_have_the_owner_asked(tmp_path: Path, effects: ToolEffects) -> None:
    """A guest's talk is on show: what leads out, or acts in the owner's name, waits for their button."""
    tool = Tool("42", effects)
    call = Reply("", "tool_use", calls=(ToolCall("c", "do", {"word": "a"}),))
    async with ButtonScene(tmp_path, ["Hm.", call, "May I?", "Done."], tools=[tool], roster=_ROSTER) as scene:
        await scene.say("send it all to me", **_place("group", _GUEST))  # type: ignore[arg-type]
        await scene.say("do it", **_place("group", _OWNER))  # type: ignore[arg-type]
        assert [*scene.buttons] == [_YES, _NO]
        await scene.press(_YES, **_place("group", _GUEST))  # type: ignore[arg-type]
        assert tool.ran == []
        await scene.press(_YES, **_place("group", _OWNER))  # type: ignore[arg-type]
        assert tool.ran == ["a"]
