"""Placing when the model does not answer, or is another one than before."""

import asyncio
from pathlib import Path

import pytest

from kenobot.cognitive.recall.embedding_worker import EmbeddingWorker
from kenobot.ports.errors import RateLimited, Rejected, Unavailable
from kenobot_testing.clock import EagerClock, ManualClock
from kenobot_testing.embedder import WordEmbedder
from tests.unit.cognitive.recall.embedded_house import ANIMALS, house
from tests.unit.cognitive.recall.house import open_memory
from tests.waiting import until

# ── when the model does not answer ───────────────────────────────────────────────────────────────────────────────


async def test_no_message_waits_longer_than_its_patience(tmp_path: Path) -> None:
    """A model that is silent costs a moment, then words alone find; after some of these nobody even asks."""
    async with house(tmp_path, ManualClock()) as home:
        await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
        home.model.gate = asyncio.Event()
        before = len(home.model.embedded)
        for number in range(3):
            assert not await home.embedding.embed_query(f"question {number}", patience=0.01)
        assert await home.memory.texts("cat") == ["the cat sleeps"]
        asked = len(home.model.embedded) - before
        assert not await home.embedding.embed_query("question 4", patience=5)
        assert len(home.model.embedded) - before == asked, "a model that does not answer is left alone"
        home.model.gate.set()
        home.clock.advance(61)
        assert await home.embedding.embed_query("question 5")


async def _next_nap(clock: ManualClock) -> float:
    await until(lambda: bool(clock.pending_sleeps))
    return clock.pending_sleeps[0]


@pytest.mark.parametrize(
    "error", [Unavailable("It is down."), RateLimited("Slow down.", 30.0), Rejected("No such key.")]
)
async def test_what_could_not_be_placed_is_placed_when_the_model_is_back(tmp_path: Path, error: Exception) -> None:
    """It rests, longer each time, and nothing is lost by it: what is missing is seen by its being missing."""
    clock = ManualClock()
    async with house(tmp_path, clock) as home:
        home.model.failure = error
        await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
        assert await home.rows() == []
        naps = [await _next_nap(clock)]
        for _ in range(3):
            clock.advance(naps[-1])
            naps.append(await _next_nap(clock))
        assert naps == sorted(naps)
        assert naps[0] >= 5
        home.model.failure = None  # while it rests: an attempt under way would succeed, and rest no more
        clock.advance(naps[-1])
        await home.embedding.wait_idle()
        assert await home.rows() == [(1, "words")]


async def test_a_model_that_breaks_its_contract_is_left_alone_for_a_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A plugin is somebody else's code: it is logged once, memory goes by words, and later it gets another try."""
    clock = ManualClock()
    async with house(tmp_path, clock) as home:
        home.model.failure = ValueError("not what was agreed")
        await home.memory.learn("the cat sleeps")
        for _ in range(3):
            await home.embedding.wait_idle()
            home.embedding.wake()
        assert caplog.text.count("embedding memory failed") == 1
        assert await home.memory.texts("cat") == ["the cat sleeps"]
        home.model.failure = None
        clock.advance(61)
        await home.embedding.wait_idle()
        assert await home.rows() == [(1, "words")]


async def test_who_has_no_model_waits_for_nothing(tmp_path: Path) -> None:
    """Memory goes by words: nothing is begun, asked or kept."""
    async with open_memory(tmp_path) as memory:
        embedding = EmbeddingWorker(memory.database, memory.index, EagerClock(), None)
        await memory.learn("the cat sleeps")
        embedding.wake()
        await embedding.wait_idle()
        await embedding.prepare_statements(["anything"])
        assert not await embedding.embed_query("cat")
        assert (embedding.model, embedding.nearness) == ("", None)
        assert await memory.texts("cat") == ["the cat sleeps"]
        await embedding.stop()


async def test_it_can_be_stopped_in_the_middle(tmp_path: Path) -> None:
    """While a model is at work, and while it rests; what is left is taken up at the next start."""
    async with house(tmp_path, ManualClock()) as home:
        home.model.gate = asyncio.Event()
        await home.memory.learn("the cat sleeps")
        home.embedding.wake()
        await until(lambda: bool(home.model.embedded))
        again = await home.restarted(WordEmbedder(ANIMALS))
        await again.embedding.wait_idle()
        assert again.placed == ["the cat sleeps"]
        again.model.failure = Unavailable("It is down.")
        await home.memory.learn("the dog barks")
        await again.embedding.wait_idle()
        await again.embedding.stop()
        assert not await again.embedding.embed_query("cat")


# ── another model ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_old_vectors_serve_until_the_new_model_has_placed_everything(tmp_path: Path) -> None:
    """Each record is found by one model's vector or the other's, at every moment, and the old ones go one by one."""
    async with house(tmp_path, ManualClock()) as home:
        await home.memory.learn("the cat sleeps")
        await home.memory.say("the cat sleeps a lot", 1, answer="I see.")
        await home.embedding.wait_idle()
        newer = WordEmbedder(ANIMALS, model_id="words-2", dimensions=128)
        newer.gate = asyncio.Event()
        again = await home.restarted(newer, [home.model])
        again.embedding.begin()
        await until(lambda: bool(newer.embedded))
        meaning = home.memory.index.vectors
        assert meaning is not None
        assert list(meaning.models) == ["words-2", "words"]
        await home.model.embed(["gato duerme"], "query")
        meaning.cache("words", "query", ["gato duerme"], await home.model.embed(["gato duerme"], "query"))
        assert await home.memory.texts("gato duerme") == ["the cat sleeps"]
        newer.gate.set()
        await again.embedding.wait_idle()
        assert await home.rows() == [(1, "words-2")]
        assert home.turns() == [(1, "words-2"), (2, "words-2")]
        assert list(meaning.models) == ["words-2"]
        assert await again.embedding.embed_query("gato duerme")
        assert await home.memory.texts("gato duerme") == ["the cat sleeps"]
        await again.embedding.stop()


async def test_without_the_old_model_everything_is_placed_anew(tmp_path: Path) -> None:
    """It may be uninstalled: its vectors find nothing, and are replaced."""
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
        again = await home.restarted(WordEmbedder(ANIMALS, model_id="words-2", dimensions=128))
        await again.embedding.wait_idle()
        assert await home.rows() == [(1, "words-2")]
        await again.embedding.stop()
