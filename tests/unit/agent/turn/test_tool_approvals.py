"""The owner's rules say which calls run, and what they are asked about waits for their yes, however it comes."""

from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.agent.turn import tool_policy, tool_refusals
from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.channels.telegram.split import split_message
from kenobot.core.settings.schema import ToolRule
from kenobot.ports.errors import ToolFailed
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.provider import ToolCall
from kenobot.ports.tool import ToolContext, ToolEffects
from kenobot.storage import erasure
from kenobot.testing.clock import EagerClock
from tests.scene import Scene
from tests.unit.agent.turn.test_tools import Tool, Word, calls

_ALWAYS = ToolEffects(
    reads_private=False, brings_untrusted=False, way_out=False, changes_outside=True, asks_always=True
)
_QUIET = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=True)
_ASKED = "May I run this? Yes, no, or always for exactly this."
_YES, _NO, _EVER = "Yes", "No, don't", "Always for this"


class ButtonScene(Scene):
    """A scene on a channel with buttons."""

    async def __aenter__(self) -> "ButtonScene":
        self.channel.capabilities = self.channel.capabilities.__class__(buttons=True)
        await super().__aenter__()
        return self


async def test_a_call_that_is_put_to_the_owner_runs_after_their_yes_once(tmp_path: Path) -> None:
    """The model need not call again, and a second yes to the same question runs nothing."""
    tool = Tool("42", _ALWAYS)
    async with Scene(tmp_path, [calls("a"), "I want to.", "It is 42.", "Fine."], tools=[tool]) as scene:
        asked = await scene.say("do it")
        assert asked == f'I want to.\n{_ASKED}\n```\ndo {{"word": "a"}}\n```'
        assert tool.ran == []
        assert await scene.say("yes") == "It is 42."
        assert tool.ran == ["a"]
        await scene.say("yes")
        assert tool.ran == ["a"]


@pytest.mark.parametrize(("label", "ran"), [(_YES, ["a"]), (_NO, []), (_EVER, ["a"])])
async def test_a_button_is_as_good_as_words(tmp_path: Path, label: str, ran: list[str]) -> None:
    """Each of the three answers has one, and a second press of a yes says that the question is over."""
    tool = Tool("42", _ALWAYS)
    async with ButtonScene(tmp_path, [calls("a"), "May I?", "So it is."], tools=[tool]) as scene:
        await scene.say("do it")
        buttons, below = scene.buttons, scene.channel.sent[-1]
        assert list(buttons) == [_YES, _NO, _EVER]
        press = {"kind": "action", "target": str(below.id), "value": buttons[label]}
        assert await scene.say("", **press) == "So it is."
        assert tool.ran == ran
        if ran:
            assert (await scene.say("", **press)).startswith("That question is over")
        assert tool.ran == ran


async def test_nobody_else_answers_for_the_owner(tmp_path: Path) -> None:
    """Neither by the button nor by words in another chat."""
    tool = Tool("42", _ALWAYS)
    async with ButtonScene(tmp_path, [calls("a"), "May I?", "Hm."], tools=[tool]) as scene:
        await scene.say("do it")
        value = scene.buttons[_YES]
        await scene.say("", "1", "2", kind="action", target="1", value=value)
        await scene.say("yes", "2")
        await scene.say("yes", "1", "2", private=False)
        assert tool.ran == []


async def test_always_is_for_exactly_that_call(tmp_path: Path) -> None:
    """It is kept over a restart; other arguments are asked about."""
    tool = Tool("42", _ALWAYS)
    async with Scene(tmp_path, [calls("a"), "May I?", "Done."], tools=[tool]) as scene:
        await scene.say("do it")
        assert await scene.say("siempre") == "Done."
    async with Scene(tmp_path, [calls("a"), "Again.", calls("b"), "May I?"], tools=[tool]) as scene:
        scene.channel.number = 10
        assert await scene.say("and again") == "Again."
        assert _ASKED in await scene.say("now b")
        assert tool.ran == ["a", "a"]


async def test_a_waiting_call_survives_a_restart_and_is_over_after_an_hour(tmp_path: Path) -> None:
    """It is a row: a yes after the restart runs it, one after its hour does not."""
    tool, clock = Tool("42", _ALWAYS), EagerClock()
    async with Scene(tmp_path, [calls("a"), "May I?"], tools=[tool], clock=clock) as scene:
        await scene.say("do it")
    async with Scene(tmp_path, ["Done.", calls("b"), "May I?", "Hm."], tools=[tool], clock=clock) as scene:
        scene.channel.number = 10
        assert await scene.say("yes") == "Done."
        assert tool.ran == ["a"]
        await scene.say("now b")
        clock.advance(timedelta(hours=2).total_seconds())
        assert await scene.say("yes") == "Hm."
        assert tool.ran == ["a"]


async def test_in_a_group_the_model_is_told_that_nobody_can_be_asked(tmp_path: Path) -> None:
    """Somebody else might say yes."""
    tool = Tool("42", _ALWAYS)
    async with Scene(tmp_path, [calls("a"), "I cannot."], tools=[tool]) as scene:
        assert await scene.say("do it", chat="-5", user="1", private=False) == "I cannot."
        assert tool.ran == []


async def test_the_rules_of_the_settings_count(tmp_path: Path) -> None:
    """Deny, ask and allow, by the values of arguments; the first that matches."""
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "kenobot.toml").write_text(
        '[[tools.rules]]\ntool = "do"\ndecision = "deny"\narguments = { word = "rm*" }\n'
        '[[tools.rules]]\ntool = "d*"\ndecision = "ask"\narguments = { word = "ask*" }\n'
    )
    tool = Tool("42", _QUIET)
    script = [calls("rm all"), "No.", calls("ask me"), "May I?", calls("else"), "Done."]
    async with Scene(tmp_path, script, tools=[tool]) as scene:
        assert await scene.say("remove") == "No."
        assert _ASKED in await scene.say("ask")
        assert await scene.say("else") == "Done."
        assert tool.ran == ["else"]


@pytest.mark.parametrize(
    ("rule", "private", "decision"),
    [
        ({"tool": "*", "decision": "deny"}, True, "deny"),
        ({"tool": "other", "decision": "deny"}, True, "ask"),
        ({"tool": "do", "decision": "allow", "where": "group"}, True, "ask"),
        ({"tool": "do", "decision": "allow", "where": "group"}, False, "allow"),
        ({"tool": "do", "decision": "allow", "where": "private"}, True, "allow"),
        ({"tool": "do", "decision": "allow", "arguments": {"word": "git *"}}, True, "allow"),
        ({"tool": "do", "decision": "allow", "arguments": {"word": "GIT *"}}, True, "ask"),
        ({"tool": "do", "decision": "allow", "arguments": {"word": "git"}}, True, "ask"),
        ({"tool": "do", "decision": "allow", "arguments": {"number": "3"}}, True, "allow"),
        ({"tool": "do", "decision": "allow", "arguments": {"list": "*"}}, True, "ask"),
        ({"tool": "do", "decision": "allow", "arguments": {"missing": "*"}}, True, "ask"),
        ({"tool": "do", "decision": "allow", "arguments": {"word": "git *", "number": "4"}}, True, "ask"),
    ],
)
def test_a_rule_matches_by_tool_arguments_and_place(rule: dict[str, object], private: bool, decision: str) -> None:
    """What matches no rule goes by the tool's own effects; an argument that is no text or number matches nothing."""
    call = ToolCall("c", "do", {"word": "git status", "number": 3, "list": ["x"]})
    assert tool_policy.decide([ToolRule.model_validate(rule)], call, _ALWAYS, private=private) == decision


async def test_what_tools_did_can_be_read(tmp_path: Path) -> None:
    """`/why` names them for the owner, and the log keeps call, outcome and the beginning of the result."""
    tool = Tool("42", _QUIET)
    async with Scene(tmp_path, [calls("a"), "It is 42."], tools=[tool]) as scene:
        await scene.say("do it")
        assert 'Tools that were called for it:\n- `do {"word": "a"}`: done' in await scene.say("/why")
        rows = await scene.rows("SELECT tool, call, outcome, told, session FROM tool_run")
        assert rows == [("do", 'do {"word": "a"}', "done", "42", "telegram-1")]


async def test_a_day_has_a_limit_of_calls(tmp_path: Path) -> None:
    """The model is told that no more may be called; a new day counts anew."""
    tool, clock = Tool("42", _QUIET), EagerClock()
    environ = {"KENOBOT_TOOLS__CALLS_A_DAY": "1"}
    script = [calls("a"), "Done.", calls("b"), "No more.", calls("c"), "Done."]
    async with Scene(tmp_path, script, tools=[tool], clock=clock, environ=environ) as scene:
        for text in ("one", "two"):
            await scene.say(text)
        assert tool.ran == ["a"]
        clock.advance(timedelta(days=1).total_seconds())
        await scene.say("three")
        assert tool.ran == ["a", "c"]


async def test_a_purge_takes_calls_along(tmp_path: Path) -> None:
    """Neither the log nor what is allowed for good says what was erased."""
    tool = Tool("42", _ALWAYS)
    script = ["Noted. <memory>The safe opens with Hyacinth</memory>", calls("Hyacinth"), "May I?", "Done."]
    async with Scene(tmp_path, script, tools=[tool]) as scene:
        for text in ("note it", "do it", "always"):
            await scene.say(text)
        assert len(await scene.rows("SELECT * FROM tool_run UNION ALL SELECT *, 1, 1, 1, 1 FROM tool_grant")) == 3
        await scene.app.database.write(lambda c: erasure.erase_turns(c, (), ["Hyacinth"], OWNER_SCOPE))
        assert await scene.rows("SELECT 1 FROM tool_run UNION ALL SELECT 1 FROM tool_grant") == []


@pytest.mark.parametrize("reply", ["word " * 9000, "I want to.\n\n```", "> ```"], ids=["long", "fence", "quote"])
async def test_no_answer_hides_what_is_asked(tmp_path: Path, reply: str) -> None:
    """The question is a message of its own, with its buttons, whatever the model wrote before it."""
    tool, command = Tool("42", _ALWAYS), "[ls](mailto:rm) `id` **x**"
    scene = ButtonScene(tmp_path, [calls(command), reply, "Done."], tools=[tool])
    scene.channel.render = lambda text: split_message(*parse_markdown(text))  # type: ignore[method-assign]
    async with scene:
        await scene.say("do it")
        assert scene.channel.sent[-1].part.text == f'{_ASKED}\ndo {{"word": "{command}"}}\n'
        assert list(scene.buttons) == [_YES, _NO, _EVER]
        assert await scene.press(_YES) == "Done."
        assert tool.ran == [command]


async def test_a_yes_that_was_written_before_the_question_is_no_answer_to_it(tmp_path: Path) -> None:
    """It waited in the inbox while the model made up its mind; a yes after that counts."""
    tool, look = Tool("42", _ALWAYS), Tool("seen", name="look")
    script = [calls("x", name="look"), calls("a"), "May I?", "Yes what?", calls("a"), "May I?", "Done."]
    async with Scene(tmp_path, script, tools=[tool, look]) as scene:
        run = look.run

        async def run_slowly(arguments: Word, turn: ToolContext) -> str:
            await scene.put("yes")
            return await run(arguments, turn)

        look.run = run_slowly  # type: ignore[method-assign]
        assert (await scene.say("clean up")).endswith("Yes what?")
        assert tool.ran == []
        assert _ASKED in await scene.say("well?")
        assert await scene.say("yes") == "Done."
        assert tool.ran == ["a"]


@pytest.mark.parametrize(
    "hidden", ["\U000e0073", "\u200b", "\u200f", "\u2060", "\u3164", "\ufe01", "\U000e0101", "\xa0"]
)
async def test_nothing_is_hidden_in_what_is_asked(tmp_path: Path, hidden: str) -> None:
    """Letters that nobody sees are escaped: they could carry memory out."""
    tool = Tool("42", _ALWAYS)
    async with Scene(tmp_path, [calls(f"a{hidden}b"), "May I?", "Done."], tools=[tool]) as scene:
        assert f'"a\\u{ord(hidden):04x}b"' in await scene.say("do it")
        assert await scene.say("yes") == "Done."
        assert tool.ran == [f"a{hidden}b"]


@pytest.mark.parametrize(
    "path", ["keys/a", "./keys/a", "x/../keys/a", "/work/keys/a", "keys//a", "notes/../keys/a", "my notes/../keys/a"]
)
def test_no_detour_leads_around_a_rule(path: str) -> None:
    """A path is denied however it is written, and is not allowed for how it begins."""
    rules = [ToolRule.model_validate({"tool": "do", "decision": "deny", "arguments": {"path": "keys/*"}})]
    assert tool_policy.decide(rules, ToolCall("c", "do", {"path": path}), _QUIET, private=True) == "deny"
    rules = [ToolRule.model_validate({"tool": "do", "decision": "allow", "arguments": {"path": "notes/*"}})]
    assert tool_policy.decide(rules, ToolCall("c", "do", {"path": path}), _ALWAYS, private=True) == "ask"


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/x",
        " https://a.example/x",
        "HTTPS://A.example/x",
        "https://a.example:443/y/../x",
        "https://a.example./x",
    ],
)
def test_no_spelling_of_an_address_leads_around_a_rule(url: str) -> None:
    """As the tools of the web read it."""
    rules = [ToolRule.model_validate({"tool": "do", "decision": "deny", "arguments": {"url": "https://a.example/x*"}})]
    assert tool_policy.decide(rules, ToolCall("c", "do", {"url": url}), _QUIET, private=True) == "deny"


@pytest.mark.parametrize("said", tool_refusals.HELD)
async def test_a_tool_cannot_say_that_it_was_not_run(tmp_path: Path, said: str) -> None:
    """One that fails in the words of a refusal is not asked about, so not run again, and the log has it as failed."""
    tool = Tool(ToolFailed(said), _QUIET)
    async with Scene(tmp_path, [calls("a"), "It failed."], tools=[tool]) as scene:
        assert await scene.say("do it") == "It failed."
        await scene.say("yes")
        assert await scene.rows("SELECT DISTINCT outcome FROM tool_run") == [("failed",)]
