"""What a tool wants to know is put to the owner as a row that waits, and the call goes on with their answer."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kenobot.agent.turn.input_values import Refusal, Value, read_value
from kenobot.agent.turn.tool_input import asks_secret
from kenobot.core import texts
from kenobot.ports.json_value import Json
from kenobot.ports.tool import ToolContext, ToolEffects
from kenobot.ports.tool_input import GivenInput, InputField, InputWanted, WantedInput
from kenobot_testing.clock import EagerClock
from tests.cases import each
from tests.scene import Scene
from tests.unit.agent.turn.test_tool_approvals import ButtonScene
from tests.unit.agent.turn.test_tools import Tool, Word, calls, requests, results
from tests.waiting import until

_EFFECTS = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False)
_PEOPLE = InputField("q", "people", "integer", "A table for `how` many?", "People", least=1, most=12)
_NAME = InputField("q", "name", "text", "Under which name?", "Name")
_ROOM = InputField("q", "room", "choice", "Where?", "Room", (("in", "Inside"), ("out", "Terrace")), required=False)
_DOGS = InputField("q", "dogs", "boolean", "Dogs?", "Dogs", default=False)


class Asking(Tool):
    """Wants to know something, and tells then what it was given."""

    def __init__(self, *fields: InputField, seconds: float = 3600.0) -> None:
        super().__init__("", _EFFECTS)
        self.wanted = WantedInput("house", fields, "m1", seconds)
        self.given: list[GivenInput] = []

    async def run(self, arguments: Word, turn: ToolContext) -> str:
        self.ran.append(arguments.word)
        if turn.given is None:
            raise InputWanted("It wants a number of people.", self.wanted)
        if self.hangs:
            await asyncio.Event().wait()
        self.given.append(turn.given)
        return "declined" if turn.given.declined else json.dumps(turn.given.values)


async def test_the_call_goes_on_with_the_answer_once(tmp_path: Path) -> None:
    """The question shows whose words it has; a second answer is a message like any other."""
    tool = Asking(_PEOPLE)
    script = [calls("a"), "I need to know more.", "Booked.", "Fine."]
    async with Scene(tmp_path, script, tools=[tool]) as scene:
        asked = await scene.say("book a table")
        assert asked.startswith("I need to know more.\n“house” asks, before it goes on:\n```\nA table for 'how' many?")
        assert "From 1 to 12." in asked
        assert await scene.say("4") == "Booked."
        assert tool.given == [GivenInput("m1", {"q": {"people": 4}})]
        assert results(requests(scene)[-1])[-1].text == '{"q": {"people": 4}}'
        assert await scene.say("4") == "Fine."
        assert tool.ran == ["a", "a"]
        [(call,)] = await scene.rows("SELECT call FROM tool_run WHERE outcome = 'done'")
        assert call == 'do {"word": "a"} answered {"q": {"people": 4}}'


@pytest.mark.parametrize("said", ["no", "decline", "nope"])
async def test_a_no_is_told_to_the_tool(tmp_path: Path, said: str) -> None:
    """It can end what it began."""
    tool = Asking(_PEOPLE)
    async with Scene(tmp_path, [calls("a"), "More.", "Left."], tools=[tool]) as scene:
        await scene.say("book a table")
        assert await scene.say(said) == "Left."
        assert tool.given == [GivenInput("m1", {}, declined=True)]


@pytest.mark.parametrize("said", ["thanks, and what about Laura?", "14 February suits her", ""])
async def test_other_words_are_no_answer(tmp_path: Path, said: str) -> None:
    """A message that is not what was asked for goes to the model, and nothing to the tool."""
    tool = Asking(_PEOPLE)
    async with Scene(tmp_path, [calls("a"), "More.", "I see."], tools=[tool]) as scene:
        await scene.say("book a table")
        await scene.say(said or "hm")
        assert tool.given == []


async def test_a_form_is_asked_field_by_field_and_shown_whole_before_it_is_sent(tmp_path: Path) -> None:
    """What does not fit is asked for again; what is left out is left out; nothing goes before the yes."""
    tool = Asking(_NAME, _PEOPLE, _ROOM, _DOGS)
    async with ButtonScene(tmp_path, [calls("a"), "More.", "Booked."], tools=[tool]) as scene:
        await scene.say("book a table")
        assert "People" in await scene.say("Laura Pérez")
        assert (await scene.say("40")).startswith("That does not fit.")
        assert "1. Inside\n2. Terrace" in await scene.say("4")
        assert list(scene.buttons) == ["1", "2", "Leave out", "Don't answer"]
        assert "Dogs?" in await scene.press("2")
        shown = await scene.press("Default")
        assert "name: Laura Pérez\npeople: 4\nroom: out\ndogs: false" in shown
        assert tool.given == []
        assert await scene.press("Yes") == "Booked."
        assert tool.given[0].values == {"q": {"name": "Laura Pérez", "people": 4, "room": "out", "dogs": False}}


async def test_a_form_survives_a_restart_and_is_over_after_its_time(tmp_path: Path) -> None:
    """It is a row; afterwards its button says so."""
    tool, clock = Asking(_PEOPLE, seconds=240), EagerClock()
    async with ButtonScene(tmp_path, [calls("a"), "More."], tools=[tool], clock=clock) as scene:
        await scene.say("book a table")
    async with ButtonScene(tmp_path, ["Booked.", calls("b"), "More.", "Hm."], tools=[tool], clock=clock) as scene:
        scene.channel.number = 10
        assert await scene.say("4") == "Booked."
        await scene.say("and another")
        clock.advance(300)
        assert (await scene.press("Don't answer")).startswith("That question is over")
        await scene.say("4")
        assert len(tool.given) == 1


@pytest.mark.parametrize(("changes", "ran"), [(False, ["a"]), (True, [])])
async def test_a_call_that_a_crash_broke_off_keeps_its_answer(tmp_path: Path, changes: bool, ran: list[str]) -> None:
    """It goes on with it, unless it may have changed something: then nobody knows, and it is not made again."""
    effects = replace(_EFFECTS, changes_outside=changes)
    broken = Asking(_PEOPLE)
    broken.effects = effects
    async with Scene(tmp_path, [calls("a"), "More."], tools=[broken]) as scene:
        await scene.say("book a table")
        broken.hangs = True
        await scene.put("4")
        await until(lambda: len(broken.ran) == 2)
        await scene.app.loop.stop(0.0)
    tool = Asking(_PEOPLE)
    tool.effects = effects
    async with Scene(tmp_path, ["So it is."], tools=[tool]) as scene:
        await scene.app.wait_drained()
        note = "" if ran else f"\n\n{texts.TOOL_INTERRUPTED('en', tools='do')}"
        assert (tool.ran, scene.texts) == (ran, [f"So it is.{note}"])
        assert [given.values for given in tool.given] == [{"q": {"people": 4}}] * len(ran)


async def test_a_secret_is_neither_asked_for_nor_passed_on(tmp_path: Path) -> None:
    """A form that wants one is declined at once; one that the owner types stays here."""
    wants = Asking(InputField("q", "value", "text", "Please enter your API key", "Value"))
    async with Scene(tmp_path, [calls("a"), "It wanted a secret."], tools=[wants]) as scene:
        assert await scene.say("book a table") == "It wanted a secret."
        assert wants.given[0].declined
        assert "never passed on" in results(requests(scene)[-1])[-1].text
    tool = Asking(_NAME)
    async with Scene(tmp_path / "b", [calls("a"), "More."], tools=[tool]) as scene:
        await scene.say("book a table")
        assert "nothing was sent" in await scene.say("my password is hunter2secret")
        assert tool.given == []


@pytest.mark.parametrize(
    ("field", "declined"),
    [
        (InputField("q", "x", "text", "Please type your password."), True),
        (InputField("q", "x", "text", "", "Code: The PIN of your card"), True),
        (InputField("q", "accessToken", "text", "One thing more."), True),
        (InputField("q", "x", "text", "", form="password"), True),
        (InputField("q", "x", "text", "Don't worry: we need your API key"), True),
        (
            InputField(
                "q", "x", "integer", "", "Integer: Your favourite (do not give us your phone number, pin or so)"
            ),
            False,
        ),
        (InputField("q", "x", "text", "Which city? Never send your password."), False),
        (InputField("q", "x", "text", "¿Qué ciudad? No escribas tu contraseña."), False),
        (InputField("q", "x", "boolean", "Shall I reset your password?"), False),
        (InputField("q", "max_tokens", "integer", "How many?"), False),
    ],
)
def test_a_form_asks_for_a_secret_or_not(field: InputField, declined: bool) -> None:
    """By its names and words, but for warnings against giving one; a yes or no is none."""
    assert asks_secret(WantedInput("house", (field,))) == declined


async def test_only_the_owner_alone_is_asked(tmp_path: Path) -> None:
    """In a group the model is told what the tool wants."""
    tool = Asking(_PEOPLE)
    async with Scene(tmp_path, [calls("a"), "It wants a number."], tools=[tool]) as scene:
        assert await scene.say("book", chat="-5", user="1", private=False) == "It wants a number."
        assert results(requests(scene)[-1])[-1].text == "It wants a number of people."


async def test_an_address_is_shown_and_never_opened(tmp_path: Path) -> None:
    """In a block, where no chat makes a link of it; the owner says when they are done."""
    address = "https://bank.example.org/pay?id=7"
    tool = Asking(InputField("q", "", "address", "Pay there.", address))
    async with ButtonScene(tmp_path, [calls("a"), "More.", "Paid."], tools=[tool]) as scene:
        asked = await scene.say("pay")
        assert f"```\nPay there.\n{address}\n```" in asked
        assert await scene.press("Done") == "Paid."
        assert tool.given[0].values == {}


_COLOURS = (("r", "Red"), ("g", "Green"), ("b", "Blue"))


@each(
    ("asked", "said", "value"),
    [
        (_PEOPLE, "12", 12),
        (_PEOPLE, "13", None),
        (_PEOPLE, "2.5", None),
        (_PEOPLE, "four", ...),
        (InputField("q", "n", "number", ""), "2,5", 2.5),
        (InputField("q", "n", "number", ""), "-3", -3),
        (InputField("q", "n", "number", ""), "1e9", ...),
        (_DOGS, "sí", True),
        (_DOGS, "no", False),
        (_DOGS, "default", "skip"),
        (_DOGS, "decline", "decline"),
        (_PEOPLE, "no", "decline"),
        (_PEOPLE, "skip", ...),
        (_ROOM, "terrace", "out"),
        (_ROOM, "2", "out"),
        (_ROOM, "3", None),
        (_ROOM, "omitir", "skip"),
        (InputField("q", "n", "choice", "", choices=(("1", "2"), ("2", "1"))), "2", "1"),
        (InputField("q", "c", "choices", "", choices=_COLOURS, most=2), "1, blue", ["r", "b"]),
        (InputField("q", "c", "choices", "", choices=_COLOURS, most=2), "red, green and blue", None),
        (InputField("q", "c", "choices", "", choices=_COLOURS, most=2), "what are those?", ...),
        (InputField("q", "m", "text", "", form="email"), "ana@example.org", "ana@example.org"),
        (InputField("q", "m", "text", "", form="email"), "ana", None),
        (InputField("q", "d", "text", "", form="date"), "2026-12-24", "2026-12-24"),
        (InputField("q", "d", "text", "", form="date"), "Christmas", None),
        (InputField("q", "t", "text", "", most=3), "abcd", None),
        (InputField("q", "t", "text", ""), "x" * 501, ...),
    ],
)
def test_what_is_said_is_read_as_a_value(asked: InputField, said: str, value: Json | object) -> None:
    """None: it does not fit; an ellipsis: it is no answer to this."""
    read = read_value(asked, said)
    found: object = ... if read is None else None if isinstance(read, Refusal) else read
    assert (found.value if isinstance(found, Value) else found) == value
    assert not isinstance(value, bool) or (isinstance(found, Value) and found.value is value)
