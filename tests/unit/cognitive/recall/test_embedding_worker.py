"""Memory is placed by its meaning in the background: the newest first, nothing twice, and what is told is found."""

import asyncio
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from kenobot.cognitive.control.forget import forget, plan_purge, purge
from kenobot.cognitive.recall.results.trace import RecallTrace
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events
from kenobot.ports.embedder import EmbedKind
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.provider import Role
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.erasure import erase_turns
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import ManualClock
from kenobot_testing.embedder import WordEmbedder
from tests.unit.cognitive.recall.embedded_house import ANIMALS, House, house, learn
from tests.unit.cognitive.recall.house import HERE, REACH, relevant
from tests.unit.cognitive.recall.index.test_conversation_rows import talk_of
from tests.waiting import until

pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")


# ── placing ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_records_and_turns_are_placed_newest_first_and_once(tmp_path: Path) -> None:
    """Each has one vector on disk, and the same words are not placed twice."""
    async with house(tmp_path) as home:
        for text in ("the first note", "the second note", "the first note"):
            await home.memory.learn(text)
        await home.memory.say("what did I say?", 1, answer="the second note")
        await home.embedding.wait_idle()
        assert home.placed == ["the first note", "the second note", "what did I say?"]
        assert await home.rows() == [(1, "words"), (2, "words"), (3, "words")]
        assert home.turns() == [(1, "words"), (2, "words")]
        (size,) = (await home.rows("SELECT DISTINCT length(embedding) FROM vector"))[0]
        assert size == 4 * home.model.dimensions


async def test_a_question_about_a_speaker_is_compared_with_turns_as_the_speaker_would_put_it(tmp_path: Path) -> None:
    """The speaker says "I" of it, and whoever speaks of them a name; notes are compared with the question itself."""
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        await talk_of(
            home.memory, ["Bob: Ann had duerme trouble", "Carl: Indeed dear neighbour", "Ann: I had duerme trouble"]
        )
        await home.memory.recall("trouble?")
        await home.embedding.wait_idle()
        assert await home.embedding.embed_query("What trouble had Ann?")
        asked = [text for text, kind in home.model.embedded if kind == "query"]
        assert {"What trouble had Ann?", "What trouble had I?"} <= {*asked}
        trace = RecallTrace()
        await home.memory.recall("What trouble had Ann?", trace=trace)
        assert trace.ranked["turn", 3].features["e5"] > trace.ranked["turn", 1].features["e5"]


async def test_nothing_is_asked_of_a_model_in_an_empty_home(tmp_path: Path) -> None:
    """It is loaded when there is something to place, and not before."""
    async with house(tmp_path) as home:
        home.embedding.begin()
        await home.embedding.wait_idle()
        assert not await home.embedding.embed_query("anything?", patience=0.05)
        assert home.model.embedded == []
        await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
        assert home.placed == ["the cat sleeps"]


async def test_the_first_memory_is_found_by_a_process_that_begins_with_the_question(tmp_path: Path) -> None:
    """As `kenobot chat -m` twice: the first process ended before its memory was embedded."""
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        assert await home.rows() == []
        assert await home.embedding.embed_query("gato duerme", patience=10)
        assert await home.memory.texts("gato duerme") == ["the cat sleeps"]


async def test_a_restart_loads_what_there_is_and_asks_nothing(tmp_path: Path) -> None:
    """Vectors of records and of turns come from disk, and so does what the cosines mean."""
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        await home.memory.say("my dog barks", 1)
        await home.embedding.wait_idle()
        again = await home.restarted(WordEmbedder(ANIMALS))
        await again.embedding.wait_idle()
        assert again.model.embedded == []
        assert await again.embedding.embed_query("gato duerme")
        assert again.model.embedded == [("gato duerme", "query")]
        assert await home.memory.texts("gato duerme") == ["the cat sleeps"]
        assert await again.embedding.embed_query("dog barks?")
        assert home.memory.index.vectors is not None
        assert list(relevant(home.memory.index.vectors, "dog barks?", (HERE,), turns=True))[:1] == [1]
        await again.embedding.stop()


async def test_a_lost_index_costs_turns_and_no_records(tmp_path: Path) -> None:
    """The side index may be deleted: what was said is placed again, what is remembered stands in the database."""
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        await home.memory.say("my dog barks", 1)
        await home.embedding.wait_idle()
        home.memory.index.close()
        home.memory.path.unlink()
        again = await home.restarted(WordEmbedder(ANIMALS))
        await again.embedding.wait_idle()
        assert again.placed == ["I see.", "my dog barks"]
        assert home.turns() == [(1, "words"), (2, "words")]
        await again.embedding.stop()


async def test_what_a_record_says_now_is_what_it_is_found_by(tmp_path: Path) -> None:
    """A text that is changed has no vector until it is placed anew; other columns change nothing."""
    async with house(tmp_path) as home:
        one = await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
        await home.memory.change(one, "reinforced", confidence=0.99)
        await home.embedding.wait_idle()
        assert home.placed == ["the cat sleeps"]
        await home.memory.change(one, "corrected", text="the dog barks")
        assert await home.rows() == []
        await home.embedding.wait_idle()
        assert home.placed == ["the cat sleeps", "the dog barks"]
        assert await home.rows() == [(1, "words")]
        assert await home.embedding.embed_query("gato duerme")
        assert await home.memory.texts("gato duerme") == []


async def test_what_is_forgotten_is_not_found_and_comes_back_when_undone(tmp_path: Path) -> None:
    """Forgetting hides: the vector stays on disk for the undo, and nobody finds by it meanwhile."""
    async with house(tmp_path) as home:
        one = await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
        occasion = AdmitContext(home.memory.now, "2026-02-14", "owner")
        await home.memory.database.write(lambda c: forget(c, one, ALL_SCOPES, occasion))
        assert await home.embedding.embed_query("gato duerme")
        assert home.memory.index.vectors is not None
        assert relevant(home.memory.index.vectors, "gato duerme", None) == {}
        assert await home.rows() == [(1, "words")]
        await home.memory.change(one, "undone", status="active")
        assert await home.embedding.embed_query("gato duerme")
        assert await home.memory.texts("gato duerme") == ["the cat sleeps"]
        assert home.placed == ["the cat sleeps"]


async def test_what_is_erased_leaves_no_vector_anywhere(tmp_path: Path) -> None:
    """Neither of the record, nor of the turns that told it, nor of their words at hand."""
    async with house(tmp_path) as home:
        one = await home.memory.learn("the cat sleeps", source_messages="[1]")
        await home.memory.say("did I say that the cat sleeps?", 1)
        await home.memory.say("my dog barks", 2)
        await home.embedding.wait_idle()
        assert await home.embedding.embed_query("the cat sleeps")

        def work(connection: Connection) -> None:
            doomed = plan_purge(connection, one, ALL_SCOPES)
            assert doomed is not None
            erased = erase_turns(connection, doomed.turns, doomed.wordings, "owner")
            purge(connection, doomed, AdmitContext(home.memory.now, "2026-02-14", "owner"), erased.messages)

        await home.memory.database.write(work)
        await home.embedding.wait_idle()
        assert await home.rows() == []
        assert home.turns() == [(3, "words"), (4, "words")]
        meaning = home.memory.index.vectors
        assert meaning is not None
        assert meaning.get_cached("words", "query", "the cat sleeps") is None
        assert await home.embedding.embed_query("the cat sleeps")
        assert relevant(meaning, "the cat sleeps", None) == {}
        assert set(relevant(meaning, "the cat sleeps", None, turns=True)) <= {3, 4}


async def test_a_vector_of_what_was_erased_meanwhile_is_not_written(tmp_path: Path) -> None:
    """The model was still at it when the record went."""
    async with house(tmp_path) as home:
        home.model.gate = asyncio.Event()
        one = await home.memory.learn("the cat sleeps")
        home.embedding.wake()
        await until(lambda: bool(home.model.embedded))

        def work(connection: Connection) -> None:
            doomed = plan_purge(connection, one, ALL_SCOPES)
            assert doomed is not None
            purge(connection, doomed, AdmitContext(home.memory.now, "2026-02-14", "owner"))

        await home.memory.database.write(work)
        home.model.gate.set()
        await home.embedding.wait_idle()
        assert await home.rows() == []


async def test_an_index_that_saw_more_takes_nothing_made_of_less(tmp_path: Path) -> None:
    """A snapshot from before an erasure cannot put back what the index has let go."""
    async with house(tmp_path) as home:
        await home.memory.say("my dog barks", 1)
        await home.memory.database.read(home.memory.index.catch_up)
        wrote: list[str] = []
        old = sqlite3.connect(tmp_path / "kenobot.db", isolation_level=None)
        old.execute("BEGIN")
        old.execute("SELECT count(*) FROM event").fetchone()
        act = ChangeContext(home.memory.now, "test")
        await home.memory.database.write(
            lambda c: events.add_event(c, act.at, "test", "purged", data={"messages": [1]})
        )
        await home.memory.database.read(home.memory.index.catch_up)
        home.memory.index.write_derived(old, lambda _: wrote.append("old"))
        await home.memory.database.read(partial(home.memory.index.write_derived, work=lambda _: wrote.append("new")))
        old.close()
        assert wrote == ["new"]


async def test_an_unfit_vector_is_made_anew(tmp_path: Path) -> None:
    """What was imported may be of another size, or no vector at all: it finds nothing and breaks nothing."""
    async with house(tmp_path) as home:
        for text in ("the cat sleeps", "the dog barks"):
            await home.memory.learn(text)
        await home.memory.database.write(
            lambda c: c.executemany(
                "INSERT INTO vector (record_id, model, embedding) VALUES (?, 'words', ?)",
                [(1, b"\xff" * 4 * home.model.dimensions), (2, b"\x01\x02\x03")],
            )
        )
        await home.embedding.wait_idle()
        assert home.placed == ["the dog barks"]
        assert await home.embedding.embed_query("cat sleeps dog barks")
        assert await home.memory.texts("dog barks") == ["the dog barks"]


# ── the next message finds what this one stored ──────────────────────────────────────────────────────────────────


async def test_what_was_stored_just_now_is_found_by_the_next_message(tmp_path: Path) -> None:
    """While much else is still to be placed: the newest goes first."""
    async with house(tmp_path, ManualClock()) as home:
        await home.memory.learn("good morning")
        await home.embedding.wait_idle()
        await learn(home, [*(f"thing {number}" for number in range(400)), "el gato duerme"])
        newest = home.model.embed

        async def stuck(texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
            if kind == "passage" and "el gato duerme" not in texts:
                await asyncio.Event().wait()
            return await newest(texts, kind)

        home.model.embed = stuck  # type: ignore[method-assign]
        meaning = home.memory.index.vectors
        assert meaning is not None
        home.embedding.wake()
        await until(lambda: meaning.size("words") >= 2)
        assert await home.embedding.embed_query("my cat sleeps", patience=10)
        assert (await home.memory.texts("my cat sleeps"))[:1] == ["el gato duerme"]
        assert len(home.placed) < 20


async def test_far_more_news_than_usual_is_looked_through_as_a_whole(tmp_path: Path) -> None:
    """An import of thousands by the command line is placed too, and what it took out is gone."""
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        await home.embedding.wait_idle()
        await learn(home, [f"thing {number % 20}" for number in range(1200)])
        await home.embedding.wait_idle()
        assert (await home.rows("SELECT count(*) FROM vector"))[0][0] == 1201
        assert len(home.placed) == 21


async def test_turns_that_the_index_reads_later_are_placed_too(tmp_path: Path) -> None:
    """Of a long import it reads the newest at once, and the older ones in the background, after that look."""
    async with house(tmp_path) as home:
        await home.memory.learn("the cat sleeps")
        await home.memory.say("my cat sleeps", 1)
        await home.embedding.wait_idle()
        said: list[tuple[Role, str, datetime]] = [("user", f"turn {at}", home.memory.now) for at in range(700)]

        def bring(connection: Connection) -> None:
            conversation.import_history(connection, "telegram-9", said, "owner", "owner")

        await home.memory.database.write(bring)
        home.embedding.wake()
        await home.embedding.wait_idle()
        early = len(home.turns())
        while await home.memory.database.read(home.memory.index.index_backlog):
            pass
        home.embedding.wake()
        await home.embedding.wait_idle()
        assert early < 700 < len(home.turns())


# ── for admit ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_nearness_is_told_where_a_vector_is_at_hand_and_nowhere_else(tmp_path: Path) -> None:
    """Of the same scope and subject only; who did not prepare goes by words."""
    async with house(tmp_path) as home:
        mine = await home.memory.learn("the cat sleeps on the sofa")
        await home.memory.learn("the cat sleeps on the sofa", scope="user:telegram-9")
        await home.memory.learn("the cat sleeps on the sofa", subject="Bea")
        await home.embedding.wait_idle()
        near = home.embedding.nearness
        assert near is not None
        ask = partial(near, scope="owner", subject="owner", text="el gato duerme on the sofa", limit=8)
        assert await home.memory.database.read(ask) == {}
        await home.embedding.prepare_statements(["el gato duerme on the sofa"])
        found = await home.memory.database.read(ask)
        assert list(found) == [mine]
        assert found[mine] > 0.7
        assert REACH == ("owner", HERE)


async def test_what_was_replaced_is_found_among_the_past_and_is_not_placed_again(tmp_path: Path) -> None:
    """By the vector that it has; after a restart too, and not once it is forgotten."""
    async with house(tmp_path) as home:
        old = await home.memory.learn("the cat sleeps")
        new = await home.memory.learn("a dog barks")
        await home.embedding.wait_idle()
        await home.memory.link(new, old, "supersedes")
        await home.memory.change(old, "superseded", status="superseded")
        await home.embedding.wait_idle()
        assert sorted(home.placed) == ["a dog barks", "the cat sleeps"]
        await _is_of_the_past(home, old)
        again = await home.restarted(WordEmbedder(ANIMALS))
        await _is_of_the_past(again, old)
        await again.memory.change(old, "forgotten", status="forgotten")
        await again.embedding.wait_idle()
        meaning = again.memory.index.vectors
        assert meaning is not None
        assert not meaning.similarities("past", "gato?", None, 5)


async def _is_of_the_past(home: House, record: int) -> None:
    await home.embedding.embed_query("gato?")
    await home.embedding.wait_idle()
    meaning = home.memory.index.vectors
    assert meaning is not None
    assert meaning.similarities("past", "gato?", None, 5).keys() == {record}
    assert record not in relevant(meaning, "gato?", None)
