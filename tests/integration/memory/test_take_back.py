"""Words that point back, where no model answers: they lead to a question, and a yes undoes what was told last."""

from pathlib import Path

import pytest

from kenobot.ports.channel import Capabilities
from kenobot.ports.plugin import PluginContext
from kenobot.providers.offline import plugin
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

LIVE = "SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id"


def scene(home: Path) -> Scene:
    clock = EagerClock()
    provider = plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))
    found = Scene(home, provider=provider, clock=clock, extraction=True)
    found.channel.capabilities = Capabilities(buttons=True, edits=True)
    return found


async def live(house: Scene) -> list[object]:
    return [text for (text,) in await house.rows(LIVE)]


@pytest.mark.parametrize(
    ("told", "wish", "asks", "yes"),
    [
        ("Remember that the meeting is on Friday", "Forget it", "Shall I forget “the meeting is on Friday”?", "yes"),
        ("my locker is 14", "remove that from your memory", "Shall I forget “my locker is 14”?", "forget it"),
        ("my locker is 14", "Don't remember that", "Shall I forget “my locker is 14”?", "delete it"),
        ("mi perro se llama Toby", "no me hagas caso", "¿Olvido «mi perro se llama Toby»?", "sí"),
        ("mi perro se llama Toby", "bórralo", "¿Olvido «mi perro se llama Toby»?", "olvídalo"),
    ],
)
async def test_words_that_point_back_ask_whether_to_undo_what_was_told_last(
    tmp_path: Path, told: str, wish: str, asks: str, yes: str
) -> None:
    """In the language of the talk; a yes undoes that alone, and one undo restores it."""
    async with scene(tmp_path) as house:
        await house.say("I live in Leeds" if asks.startswith("Shall") else "vivo en Vigo")
        await house.say(told)
        before = await live(house)
        assert (await house.say(wish)).startswith(asks)
        assert await live(house) == before
        await house.say(yes)
        assert await live(house) == before[:1]
        await house.say("/undo")
        assert await live(house) == before


async def test_a_button_answers_as_well(tmp_path: Path) -> None:
    """However the talk went on; a no keeps what was told."""
    async with scene(tmp_path) as house:
        await house.say("my locker is 14")
        await house.say("scratch that")
        assert list(house.buttons) == ["Yes, forget it", "No, keep it"]
        assert "I keep it" in await house.press("No, keep it")
        await house.say("scratch that")
        buttons = house.buttons
        await house.say("good morning")
        await house.say("", kind="action", target="1", value=buttons["Yes, forget it"])
        assert await live(house) == []


async def test_what_one_message_told_is_undone_as_one(tmp_path: Path) -> None:
    """Each of it is named in the question."""
    async with scene(tmp_path) as house:
        await house.say("my cat is Tom and my dog is Rex. I play tennis on Mondays.")
        told = await live(house)
        reply = await house.say("forget what I just said")
        assert len(told) > 1
        assert all(f"“{text}”" in reply for text in told)
        await house.say("yes")
        assert await live(house) == []
        await house.press("Undo")
        assert await live(house) == told
        again = await house.say("scratch that")
        assert all(f"“{text}”" in again for text in told)


async def test_what_was_replaced_comes_back(tmp_path: Path) -> None:
    """The undo is that of the whole decision."""
    async with scene(tmp_path) as house:
        await house.say("I live in Leeds")
        await house.say("I moved to York")
        await house.say("scratch that")
        await house.say("yes")
        assert await live(house) == ["I live in Leeds"]


@pytest.mark.parametrize(
    ("wish", "says"), [("forget it", "I have remembered nothing"), ("olvídalo", "Últimamente no he guardado nada")]
)
async def test_with_nothing_remembered_lately_that_is_said(tmp_path: Path, wish: str, says: str) -> None:
    """Not what was told days ago, or in another chat."""
    async with scene(tmp_path) as house:
        assert (await house.say(wish)).startswith(says)
        await house.say("my locker is 14")
        assert (await house.say(wish, chat="other")).startswith(says)
        assert isinstance(house.clock, EagerClock)
        house.clock.advance(2 * 86_400)
        assert (await house.say(wish)).startswith(says)
        assert await live(house) == ["my locker is 14"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("don't save this: I moved to Rome", "I have kept nothing of that"),
        ("mi hermana está embarazada, no lo apuntes", "de eso no he guardado nada"),
    ],
)
async def test_a_message_may_say_that_it_is_not_to_be_remembered(tmp_path: Path, text: str, says: str) -> None:
    """Nothing of it is, nothing ends by it, and it leads to no question."""
    async with scene(tmp_path) as house:
        await house.say("I live in Leeds")
        assert says in await house.say(text)
        assert list(house.buttons) == []
        assert await live(house) == ["I live in Leeds"]


async def test_forget_it_is_no_yes_to_whether_a_memory_is_over(tmp_path: Path) -> None:
    """It asks about what was told last instead."""
    async with scene(tmp_path) as house:
        await house.say("apunta que entro a trabajar a las 7 y media")
        assert "¿Sustituye" in await house.say("me cambian el turno del trabajo, desde mañana entro a las 13")
        assert "¿Olvido" in await house.say("olvídalo")
        assert len(await live(house)) == 2


async def test_a_model_is_left_to_answer_them(tmp_path: Path) -> None:
    """It sees what they are about; nothing ends by them."""
    async with Scene(tmp_path, ["Noted.", "All right."]) as house:
        await house.say("/remember my locker is 14")
        assert await house.say("forget it") == "Noted."
        assert list(house.buttons) == []
        assert await live(house) == ["my locker is 14"]
