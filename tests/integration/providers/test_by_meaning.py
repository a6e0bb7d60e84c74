"""A whole KenoBot that finds by meaning: what was said in other words or another language is in the next prompt."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_context import PromptPlan, PromptRequest
from kenobot.app.embedder_choice import auto_embedders
from kenobot.app.machine import this_machine
from kenobot.cognitive.recall.prompt.usage import explain_turn
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.recall import recall
from kenobot.ports.errors import Unavailable
from kenobot.storage.connection import Connection
from kenobot_local import both
from kenobot_testing.clock import ManualClock
from kenobot_testing.embedder import WordEmbedder
from tests.scene import Scene
from tests.unit.cognitive.recall.house import crowd, insert, relevant

SMALL = {"KENOBOT_CONTEXT__MEMORY_TOKENS": "300"}
SAME = [("plumber", "fontanero"), ("called", "llama"), ("boiler", "caldera"), ("repaired", "reparo")]


async def _crowded(scene: Scene) -> None:
    """More memories than a frame holds."""
    await scene.app.database.write(lambda connection: crowd(connection, scene.clock.now()))


async def _learn(scene: Scene, *texts: str) -> None:
    def work(connection: Connection) -> None:
        for text in texts:
            insert(connection, text, {}, scene.clock.now())

    await scene.app.database.write(work)


def _later(scene: Scene) -> None:
    """What was said is no longer among the latest, which every prompt shows."""
    assert isinstance(scene.clock, ManualClock)
    scene.clock.advance(days=200)


def remembered(prompt: str) -> str:
    """What the prompt says is remembered about the last message."""
    _, known, last = prompt.rpartition("### Remembered about this\n")
    return last.partition("\n\n")[0] if known else ""


async def test_a_fact_told_in_spanish_answers_in_english(tmp_path: Path) -> None:
    """Not one word in common; the prompt has it, and the reply can be explained by it."""
    replies = ["Apuntado. <memory>El fontanero se llama Ramón</memory>", "ok", "His name is Ramón."]
    async with Scene(tmp_path, replies, environ=SMALL, embedder=WordEmbedder(SAME)) as scene:
        await scene.say("mi fontanero se llama Ramón")
        _later(scene)
        await _crowded(scene)
        await scene.app.embedding.wait_idle()
        await scene.say("good morning to everybody here", chat="2", user="1")
        await scene.say("plumber called?", chat="2", user="1")
        assert "El fontanero se llama Ramón" in remembered(scene.requests[-1])
        inbox = (await scene.rows("SELECT max(inbox_id) FROM message"))[0][0]
        assert isinstance(inbox, int)
        told = await scene.app.database.read(lambda c: explain_turn(c, inbox, ("owner", "chat:telegram-2")))
        assert next(each.reason.ways for each in told if each.reason is not None) == ("meaning",)


async def test_the_first_message_that_looks_for_anything_finds_by_meaning_too(tmp_path: Path) -> None:
    """Nobody could know before that it would: the prompt is built once more."""
    async with Scene(tmp_path, ["ok"], environ=SMALL, embedder=WordEmbedder(SAME)) as scene:
        long_ago = scene.clock.now() - timedelta(days=200)
        await scene.app.database.write(lambda c: insert(c, "El fontanero se llama Ramón", {}, long_ago))
        await _crowded(scene)
        await scene.app.embedding.wait_idle()
        await scene.say("plumber called?")
        assert "Ramón" in remembered(scene.requests[-1])


async def test_what_was_said_long_ago_in_other_words_is_quoted(tmp_path: Path) -> None:
    """Turns are found by meaning as well: in the owner's chats, and in no chat of another person's."""
    async with Scene(tmp_path, ["Qué bien."], environ=SMALL, embedder=WordEmbedder(SAME)) as scene:
        await scene.say("ayer reparo la caldera")
        for number in range(3):
            await scene.say(f"thing {number}")
        await scene.app.embedding.wait_idle()
        mine = MemoryQuery("boiler repaired", ("owner", "chat:telegram-1"), scene.clock.now(), force=True)
        assert await scene.app.embedding.embed_query(mine.text)
        pack = await scene.app.database.read(lambda c: recall(c, scene.app.index, mine))
        assert "ayer reparo la caldera" in [each.turn.text for each in pack.excerpts]
        other = MemoryQuery("boiler repaired", ("owner", "chat:telegram-2"), scene.clock.now(), force=True)
        pack = await scene.app.database.read(lambda c: recall(c, scene.app.index, other))
        assert "ayer reparo la caldera" in [each.turn.text for each in pack.excerpts]
        theirs = MemoryQuery("boiler repaired", ("user:telegram:2", "chat:telegram-2"), scene.clock.now(), force=True)
        pack = await scene.app.database.read(lambda c: recall(c, scene.app.index, theirs))
        assert pack.excerpts == ()


async def test_another_persons_memory_is_not_found_by_meaning(tmp_path: Path) -> None:
    """However near it is: neither in the prompt nor in what a guest can sound out."""
    replies = ["ok <memory>El fontanero se llama Ramón</memory>", "I do not know."]
    async with Scene(tmp_path, replies, environ=SMALL, embedder=WordEmbedder(SAME)) as scene:
        await scene.say("mi fontanero se llama Ramón")
        await scene.app.embedding.wait_idle()
        await scene.say("plumber called?", chat="9", user="9")
        assert "Ramón" not in scene.requests[-1]
        meaning = scene.app.index.vectors
        assert meaning is not None
        assert relevant(meaning, "plumber called?", ("user:telegram-9", "chat:telegram-9")) == {}


async def test_the_same_in_other_words_is_no_second_memory(tmp_path: Path) -> None:
    """Admit compares by meaning where it has vectors, in the turn's own transaction."""
    replies = [
        "<memory>El fontanero reparo la caldera</memory> ok",
        "<memory>el plumber repaired la boiler</memory> ok",
    ]
    async with Scene(tmp_path, replies, embedder=WordEmbedder(SAME)) as scene:
        await scene.say("one")
        await scene.app.embedding.wait_idle()
        await scene.say("two")
        live = await scene.rows("SELECT text, mentions FROM record WHERE status = 'active' AND form = 'note'")
    assert [seen for _, seen in live] == [2]


async def test_a_reply_never_fails_for_want_of_a_model(tmp_path: Path) -> None:
    """It is down, then silent: what words find is in the prompt, and people get their answers."""
    embedder = WordEmbedder(SAME)
    replies = ["ok <memory>El fontanero se llama Ramón</memory>", "Ramón."]
    async with Scene(tmp_path, replies, environ=SMALL, embedder=embedder, clock=ManualClock()) as scene:
        embedder.failure = Unavailable("It is down.")
        assert await scene.say("mi fontanero se llama Ramón") == "ok"
        _later(scene)
        await _crowded(scene)
        assert await scene.say("¿quién era el fontanero?", chat="2", user="1") == "Ramón."
        assert "El fontanero se llama Ramón" in remembered(scene.requests[-1])
        embedder.failure, embedder.gate = None, asyncio.Event()
        assert await scene.say("¿y el fontanero otra vez?", chat="3", user="1") == "Ramón."


async def test_the_model_that_ships_finds_in_both_languages(tmp_path: Path) -> None:
    """As `auto` chooses it, where the wheels are installed: a Spanish note, an English question, and the other way."""
    if why := both.unavailable_reason():
        pytest.skip(why)
    notes = {
        "Mi hermana Lucía es alérgica a los frutos secos": "What can my sister not eat?",
        "The rent is due on the fifth of each month": "¿cuándo tengo que pagar el alquiler?",
        "El coche pasa la ITV en marzo": "when is the vehicle inspection due?",
    }
    environ = {**SMALL, "KENOBOT_MEMORY__EMBEDDER": "auto"}
    async with Scene(tmp_path, ["ok"], environ=environ) as scene:
        assert scene.app.embedding.model.partition(":")[0] == auto_embedders(this_machine())[0]
        await _learn(scene, *notes)
        _later(scene)
        await _learn(scene, *(f"The {number}th entry of the garden diary speaks of weather" for number in range(4, 40)))
        await scene.app.embedding.wait_idle()
        for number, (note, question) in enumerate(notes.items()):
            await scene.say(question, chat=str(number + 10), user="1")
            assert note in remembered(scene.requests[-1]), question


async def test_a_question_is_planned_once_and_an_edit_just_before_it_is_found_by_meaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question is searched for in any case, so no plan is made to find that out; an edited note is embedded first."""
    plans: list[PromptRequest] = []
    plan = ContextBuilder.plan

    def counted(self: ContextBuilder, connection: Connection, request: PromptRequest) -> PromptPlan:
        plans.append(request)
        return plan(self, connection, request)

    replies = ["Apuntado. <memory>El fontanero se llama Ramón</memory>", "ok", "ok"]
    async with Scene(tmp_path, replies, environ=SMALL, embedder=WordEmbedder(SAME)) as scene:
        await scene.say("mi fontanero se llama Ramón")
        _later(scene)
        await _crowded(scene)
        await scene.app.embedding.wait_idle()
        await scene.app.memory_files.wait_caught_up()
        files = scene.home.memory.rglob("*.md")
        file = next(each for each in files if "El fontanero se llama Ramón" in each.read_text("utf-8"))
        file.write_text(file.read_text("utf-8").replace("Ramón", "Anselmo"), "utf-8")
        monkeypatch.setattr(ContextBuilder, "plan", counted)
        await scene.say("plumber called?", chat="2", user="1")
        assert "Anselmo" in remembered(scene.requests[-1])
        plans.clear()
        await scene.say("plumber called?", chat="2", user="1")
        assert len(plans) == 1
