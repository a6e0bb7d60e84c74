"""Questions with buttons: a press decides once, edits the question, and means the same as the words."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.channel import Capabilities
from tests.scene import Scene

BUTTONS = Capabilities(buttons=True, edits=True)


def _with_buttons(scene: Scene) -> Scene:
    scene.channel.capabilities = BUTTONS
    return scene


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with Scene(tmp_path, ["Hm."]) as scene:
        yield _with_buttons(scene)


async def _notes(scene: Scene) -> list[object]:
    rows = await scene.rows("SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode')")
    return [text for (text,) in rows]


async def test_a_press_forgets_and_the_question_becomes_the_answer(scene: Scene) -> None:
    """The message is edited to what was decided, with a button that takes it back, and so on."""
    await scene.say("/remember likes tea")
    question = await scene.say("Forget that I like tea")
    assert "likes tea" in question
    asked = scene.channel.sent[-1]
    assert list(scene.buttons) == ["Yes, forget it", "No, keep it"]
    assert (await scene.press("Yes, forget it")).startswith("Forgotten:")
    assert scene.channel.sent[-1].replaces == str(asked.id)
    assert await _notes(scene) == []
    assert "I remember #1" in await scene.press("Undo")
    assert await _notes(scene) == ["likes tea"]
    assert scene.channel.sent[-1].replaces == str(asked.id)
    assert scene.requests == []


async def test_two_presses_do_it_once(scene: Scene) -> None:
    """The second one under way is answered by nothing, a later one is not let in at all."""
    await scene.say("/remember likes tea")
    value, sent = scene.buttons["Undo"], len(scene.channel.sent)
    await scene.app.memory_files.wait_caught_up()
    for _ in range(2):
        await scene.put("", kind="action", target="1", value=value)
    await scene.app.wait_drained()
    assert len(scene.channel.sent) == sent + 1
    assert not await scene.put("", kind="action", target="1", value=value)
    assert await scene.rows("SELECT count(*) FROM event WHERE type = 'undone'") == [(1,)]


async def test_buttons_outlive_a_restart(tmp_path: Path) -> None:
    """What was asked yesterday is decided today, also when the words would mean something else by now."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await _with_buttons(scene).say("/remember likes tea")
        await scene.say("Forget that I like tea")
        pressed, number = scene.buttons["Yes, forget it"], scene.channel.number
        await scene.say("Tell me a joke")
    async with Scene(tmp_path, ["Hm."]) as scene:
        _with_buttons(scene).channel.number = number + 10
        scene.clock.advance(30 * 3600)  # type: ignore[attr-defined]
        assert await scene.say("yes") == "Hm."
        assert "Forgotten" in await scene.say("", kind="action", target="1", value=pressed)
        assert await _notes(scene) == []


async def test_one_of_several_is_chosen_by_its_number(scene: Scene) -> None:
    """Each memory has its button; all of them have one."""
    for text in ("the red car needs oil", "the blue car needs tyres"):
        await scene.say(f"/remember {text}")
    await scene.say("/forget car")
    assert sorted(scene.buttons) == ["#1", "#2", "All", "No, keep it"]
    await scene.press("#2")
    assert await _notes(scene) == ["the red car needs oil"]


async def test_what_words_decided_a_button_decides_no_more(scene: Scene) -> None:
    """The other way round too: a question is answered once."""
    await scene.say("/remember likes tea")
    await scene.say("Forget that I like tea")
    buttons = scene.buttons
    assert "I keep it" in await scene.say("no")
    assert "decided already" in await scene.say("", kind="action", target="1", value=buttons["Yes, forget it"])
    assert await _notes(scene) == ["likes tea"]
    await scene.say("Forget that I like tea")
    await scene.press("No, keep it")
    assert await scene.say("yes") == "Hm."
    assert await _notes(scene) == ["likes tea"]


async def test_the_buttons_speak_the_language_of_the_message(scene: Scene) -> None:
    """A press has no words, so what it gets is in the language of what it was pressed below."""
    await scene.say("/recuerda vivo en Madrid")
    await scene.say("Olvida que vivo en Madrid")
    assert (await scene.press("Sí, olvídalo")).startswith("Olvidado:")
    assert "vuelvo a recordar" in await scene.press("Deshacer")


async def test_in_a_group_only_those_it_is_up_to_may_press(scene: Scene) -> None:
    """A guest's wish about another's words has buttons for the other and the owner, not for the guest."""
    group: dict[str, Any] = {"chat": "-7", "private": False}
    await scene.say("/remember the code of the gate is in the shed", user="2", user_name="Ana", **group)
    await scene.say("/forget gate", user="3", user_name="Bo", **group)
    value = scene.buttons["Yes, forget it"]
    assert not await scene.put("", user="3", kind="action", target="1", value=value, **group)
    assert await _notes(scene) != []
    assert "Forgotten" in await scene.press("Yes, forget it", user="2", **group)
    assert await _notes(scene) == []


async def test_a_channel_without_buttons_shows_the_words(tmp_path: Path) -> None:
    """Nothing is stored for what nobody can press."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember likes tea")
        await scene.say("Forget that I like tea")
        assert scene.buttons == {}
        assert await scene.rows("SELECT count(*) FROM keyboard") == [(0,)]
        assert "Forgotten" in await scene.say("yes")


# ── paging through memory ────────────────────────────────────────────────────────────────────────────────────────


async def test_memory_is_paged_opened_and_forgotten_by_buttons(scene: Scene) -> None:
    """One message all along: pages, a memory, where it comes from, and its end, which can be taken back."""
    for number in range(20):
        await scene.say(f"/remember plant {number} stands in room {number * 7}")
    await scene.say("/memory")
    first = scene.channel.sent[-1]
    assert {"#20", "#14", "Older ›"} <= set(scene.buttons)
    assert "‹ Newer" not in scene.buttons
    assert "plant 11" in await scene.press("Older ›")
    [(found,)] = await scene.rows("SELECT id FROM record WHERE text LIKE 'plant 3 %'")
    plant = f"#{found}"
    assert "plant 3" in await scene.press("Older ›")
    assert "Older ›" not in scene.buttons
    assert "“plant 3 stands in room 21”" in await scene.press(plant)
    assert "you told me to remember it" in await scene.press("Why?")
    assert "Forgotten" in await scene.press("Forget")
    assert f"I remember {plant}" in await scene.press("Undo")
    assert {outbound.replaces for outbound in scene.channel.sent[-6:]} == {str(first.id)}
    await scene.say("/memory page 3")
    await scene.press(plant)
    assert "plant 3" in await scene.press("‹ Back")


async def test_a_correction_is_the_next_message(scene: Scene) -> None:
    """It takes the place of the memory; neither it nor the question enters the conversation."""
    await scene.say("/remember the cat is called Mia")
    await scene.say("/memory cat")
    await scene.press("#1")
    assert "How should #1 “the cat is called Mia” read?" in await scene.press("Correct")
    assert "I will remember: the cat is called Lia" in await scene.say("the cat is called Lia")
    assert await _notes(scene) == ["the cat is called Lia"]
    assert scene.requests == []
    await scene.press("Undo")
    assert await _notes(scene) == ["the cat is called Mia"]
    assert await scene.say("what a nice cat") == "Hm."


@pytest.mark.parametrize("leave", ["no", "cancel", "/cancel", "para", "/stop", "No, leave it.", "press"])
async def test_a_correction_can_be_left(scene: Scene, leave: str) -> None:
    """By a word or the button; the next message is talk again."""
    await scene.say("/remember the cat is called Mia")
    await scene.say("/correct 1")
    answer = await (scene.press("Leave it") if leave == "press" else scene.say(leave))
    assert answer == "Good, I keep it."
    assert await scene.say("the cat is called Lia") == "Hm."
    assert await _notes(scene) == ["the cat is called Mia"]


@pytest.mark.parametrize("between", ["/memory", "/new", "What do you know about me?"])
async def test_another_command_leaves_a_correction(scene: Scene, between: str) -> None:
    """What is said after it is talk, and takes no memory's place."""
    await scene.say("/remember the cat is called Mia")
    await scene.say("/correct 1")
    await scene.say(between)
    assert await scene.say("what a nice day") == "Hm."
    assert await _notes(scene) == ["the cat is called Mia"]


async def test_another_command_after_a_restart_leaves_a_correction_too(tmp_path: Path) -> None:
    """Though nothing in this run has asked whether one is open."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember the cat is called Mia")
        await scene.say("/correct 1")
        number = scene.channel.number
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.channel.number = number
        await scene.say("/memory")
        assert await scene.say("what a nice day") == "Hm."
        assert await _notes(scene) == ["the cat is called Mia"]


async def test_an_edit_of_an_earlier_message_is_no_correction(scene: Scene) -> None:
    """It is of what it edits, though a memory waits for its words."""
    await scene.say("/remember the cat is called Mia")
    await scene.say("/memory 1")
    menu = scene.channel.sent[-1]
    await scene.say("I like rain", platform_id="p")
    value = next(each.value for row in menu.part.buttons for each in row if each.label == "Correct")
    assert "How should" in await scene.say("", kind="action", target=str(menu.id), value=value)
    await scene.say("I like rain a lot", kind="edit", target="p", platform_id="p")
    assert await _notes(scene) == ["the cat is called Mia"]


async def test_only_what_says_something_is_opened_and_corrected(scene: Scene) -> None:
    """A day's box and the like hold memories together, and keep their names."""
    await scene.say("/remember the cat is called Mia")
    await scene.say("/remember the cat likes the gate")
    holders = await scene.rows("SELECT id FROM record WHERE status = 'active' AND form IN ('box', 'entity')")
    assert holders
    for (number,) in holders:
        assert "I remember nothing with the number" in await scene.say(f"/correct {number} my own box")
        assert "I remember nothing with the number" in await scene.say(f"/why {number}")
        assert "I remember nothing about" in await scene.say(f"/memory {number}")
    assert holders == await scene.rows("SELECT id FROM record WHERE status = 'active' AND form IN ('box', 'entity')")
    assert "is called Lia" in await scene.say("/correct 1\nthe cat is called Lia")


async def test_the_words_of_a_correction_can_be_edited(scene: Scene) -> None:
    """They correct the same memory again, each time; another's edit, or of another message, corrects nothing."""
    await scene.say("/remember the cat is called Mia")
    await scene.say("/correct 1")
    await scene.say("the cat is calld Lia", platform_id="p")
    for text in ("the cat is called Liam", "the cat is called Lia"):
        assert f"I will remember: {text}" in await scene.say(text, kind="edit", target="p", platform_id="p")
        assert await _notes(scene) == [text]
    await scene.say("hello there", platform_id="q")
    await scene.say("hello you", kind="edit", target="q", platform_id="q")
    assert await _notes(scene) == ["the cat is called Lia"]


async def test_a_yes_is_no_wording(scene: Scene) -> None:
    """Whoever agrees to correct is asked once more for the words."""
    await scene.say("/recuerda el gato se llama Mía")
    await scene.say("/corrige 1")
    assert "¿Cómo debe decir #1" in await scene.say("sí")
    assert "el gato se llama Lía" in await scene.say("el gato se llama Lía")
    assert await _notes(scene) == ["el gato se llama Lía"]


async def test_only_words_of_the_person_and_of_the_moment_correct(scene: Scene) -> None:
    """Another person's message, a forwarded one, and one after ten minutes are messages like any other."""
    group: dict[str, Any] = {"chat": "-7", "private": False}
    await scene.say("/remember the cat likes the gate", user="2", **group)
    await scene.say("/correct 1", user="2", **group)
    assert await scene.say("I am painting it", user="3", **group) == "Hm."
    await scene.say("/correct 1", user="2", **group)
    assert await scene.say("it was red", user="2", forwarded=True, **group) == "Hm."
    await scene.say("/correct 1", user="2", **group)
    scene.clock.advance(601)  # type: ignore[attr-defined]
    assert await scene.say("the gate is blue", user="2", **group) == "Hm."
    assert "Someone else said that" in await scene.say("/correct 1 the gate is mine", user="3", **group)
    assert "I will remember" in await scene.say("/correct 1 the gate is yellow", user="2", **group)
    assert await _notes(scene) == ["the gate is yellow"]


async def test_a_wanted_correction_outlives_a_restart(tmp_path: Path) -> None:
    """In Spanish as well, and without buttons too."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/recuerda el gato se llama Mía")
        assert "¿Cómo debe decir #1" in await scene.say("/corrige 1")
        number = scene.channel.number
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.channel.number = number
        assert "He aprendido que: el gato se llama Lía" in await scene.say("el gato se llama Lía")
        assert "no cambia nada" in await scene.say("/corrige 2 el gato se llama Lía")
        assert "no recuerdo" in (await scene.say("/corrige 77 algo")).lower()
