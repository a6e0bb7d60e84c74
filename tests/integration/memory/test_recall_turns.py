"""A whole KenoBot with more memory than a prompt holds: what matters for a message is in its prompt."""

from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.cognitive.recall.prompt.usage import explain_turn
from kenobot.storage.connection import Connection
from kenobot_testing.provider import ScriptedProvider
from tests.scene import Scene
from tests.unit.cognitive.recall.house import insert

_SMALL = {"KENOBOT_CONTEXT__MEMORY_TOKENS": "600"}  # so that few memories are too many


async def _crowded(scene: Scene, many: int = 300) -> None:
    """Memories of all sorts of things, over half a year."""

    def work(connection: Connection) -> None:
        for number in range(many):
            text = f"Note {number}: the {number % 97}th thing about garden tools, invoices and weather"
            at = scene.clock.now() - timedelta(days=180 * (1 - number / many))
            insert(connection, text, {}, at, quietly=True)

    await scene.app.database.write(work)
    await scene.app.indexer.index_all()


async def _ask(scene: Scene, text: str, chat: str = "1") -> None:
    """A turn, without waiting for the files of so many memories."""
    await scene.put(text, chat)
    await scene.app.loop.wait_idle()


async def test_a_fact_told_in_one_chat_is_in_the_next_prompt_of_another(tmp_path: Path) -> None:
    """Among five thousand others, and not in the prompt of a guest."""
    replies = ["Noted. <memory>The spare key lies under the blue flowerpot</memory>", "It lies there.", "No idea."]
    async with Scene(tmp_path, replies, owners=("1", "2")) as scene:
        await _crowded(scene, 5000)
        await _ask(scene, "Remember: the spare key lies under the blue flowerpot", chat="1")
        await _ask(scene, "where is the spare key?", chat="2")
        await _ask(scene, "where is the spare key?", chat="9")
        _, owner, guest = scene.requests
    assert "The spare key lies under the blue flowerpot" in owner
    assert "flowerpot" not in guest


async def test_an_old_fact_is_found_and_the_prefix_stays(tmp_path: Path) -> None:
    """What is recalled stands behind its message, and no later prompt shows it there."""
    async with Scene(tmp_path, ["ok"], environ=_SMALL) as scene:
        old = await scene.app.database.write(
            lambda c: insert(c, "The plumber is called Ignacio Ferrer", {}, scene.clock.now() - timedelta(days=300))
        )
        await _crowded(scene)
        await scene.say("good morning to you my friend")
        await scene.say("how is the plumber called?")
        await scene.say("and what does the plumber cost?")
        assert isinstance(scene.provider, ScriptedProvider)
        first, second, third = scene.provider.requests
        rows = await scene.rows(f"SELECT use_count, stability FROM record WHERE id = {old}")
    assert first.system == second.system == third.system
    line = "- The plumber is called Ignacio Ferrer _("
    assert [line in message.text for message in first.messages] == [False]
    assert sum(line in message.text for message in second.messages) == 1
    assert [line in message.text for message in third.messages] == [False] * 4 + [True]
    assert line in second.messages[-1].text_blocks[-1].text
    assert second.messages[-1].text_blocks[0] == third.messages[-3].text_blocks[0]
    assert rows == [(2, pytest.approx(1.2))]


async def test_a_small_memory_is_shown_whole_and_searched_for_nothing(tmp_path: Path) -> None:
    """And what the frame showed counts as used once, however many messages it serves."""
    async with Scene(tmp_path, ["a <memory>The cat is called Misu</memory>", "b", "c"]) as scene:
        await scene.say("my cat is called Misu")
        scene.clock.advance(days=1)  # type: ignore[attr-defined]
        await scene.say("what is my cat called?")
        await scene.say("what is my cat called?")
        uses = await scene.rows("SELECT use_count FROM record WHERE text = 'The cat is called Misu'")
        assert "Remembered about this" not in scene.requests[-1]
    assert uses == [(1,)]


async def test_when_nothing_is_remembered_the_model_is_told(tmp_path: Path) -> None:
    """So that it does not guess; a thank-you is not searched for."""
    async with Scene(tmp_path, ["ok"], environ=_SMALL) as scene:
        await _crowded(scene)
        await scene.say("what is the name of my dentist?")
        await scene.say("thanks!")
        first, second = scene.requests
    assert "nothing is remembered that seems to be about this message" in first
    assert "nothing is remembered that seems" not in second


async def test_a_reply_can_be_explained_by_what_it_was_given(tmp_path: Path) -> None:
    """By the inbox number of its message, later too."""
    async with Scene(tmp_path, ["ok"], environ=_SMALL) as scene:
        await scene.app.database.write(
            lambda c: insert(c, "The vet is Dr. Aranda", {}, scene.clock.now() - timedelta(days=300))
        )
        await _crowded(scene)
        await scene.say("who is the vet?")
        await scene.say("tell me a joke about the moon")
        ((inbox,), _) = await scene.rows("SELECT id FROM inbox ORDER BY id")
        told = await scene.app.database.read(lambda c: explain_turn(c, int(str(inbox)), ("owner", "chat:telegram-1")))
    first = told[0]
    assert first.record is not None
    assert (first.record.text, first.where) == ("The vet is Dr. Aranda", "message")
    assert any(each.where == "frame" for each in told)


async def test_what_was_said_long_ago_in_this_chat_is_quoted(tmp_path: Path) -> None:
    """Where no memory was made of it, and not to others."""
    async with Scene(tmp_path, ["I see."], environ={"PromptLimits.history_min": 2}, owners=("1", "2")) as scene:
        await scene.say("We saw a heron at the Albufera lagoon")
        for number in range(4):
            await scene.say(f"small talk number {number}")
        scene.clock.advance(days=1)  # type: ignore[attr-defined]
        await scene.say("which bird was it at the Albufera?")
        await scene.say("which bird was it at the Albufera?", chat="2")
        await scene.say("which bird was it at the Albufera?", chat="7")
        here, other_chat, elsewhere = scene.requests[-3:]
    assert "was said: We saw a heron at the Albufera lagoon" in here
    assert "was said in another chat: We saw a heron at the Albufera lagoon" in other_chat
    assert "heron" not in elsewhere


_FACTS = (
    ("The spare key lies under the flowerpot", "where does the spare key lie?"),
    ("My locker is 14", "what number is my locker?"),
    ("My sister Ana lives in Porto", "where does my sister live?"),
    ("Bea's birthday is on 12 May", "when is Bea's birthday?"),
    ("I play tennis on Mondays", "when do I play tennis?"),
    ("The plumber is called Ignacio Ferrer", "what is the plumber called?"),
    ("Calzo un 42", "¿qué número calzo?"),
    ("Mi color favorito es el verde", "¿cuál es mi color favorito?"),
)


@pytest.mark.parametrize("anew", [True, False])
async def test_a_prompt_never_denies_what_it_shows(tmp_path: Path, anew: bool) -> None:
    """Each fact stands in it once, in a new conversation and in the one in which it was told."""
    replies = [f"Noted. <memory>{fact}</memory>" for fact, _ in _FACTS]
    async with Scene(tmp_path, [*replies, "ok"]) as scene:
        for fact, _ in _FACTS:
            await scene.say(fact)
        if anew:
            await scene.say("/new")
        for fact, question in _FACTS:
            await scene.say(question)
            assert isinstance(scene.provider, ScriptedProvider)
            last = scene.provider.requests[-1].messages[-1].text
            assert fact in scene.requests[-1]
            assert "do not guess" not in last
            assert "### Said earlier" not in last
