"""Memory boxes: what lies together, when one is closed, and which share a trace."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive import box_store, store
from kenobot.cognitive.change import Act
from kenobot.cognitive.policies.boxes import BoxPolicy
from kenobot.cognitive.reach import WHOLE_HOME
from kenobot.cognitive.remember import boxes
from kenobot.cognitive.remember.admit import Occasion, admit
from kenobot.db import Connection, Database
from kenobot.ports import Candidate
from kenobot.testing.clock import START

PLAIN = BoxPolicy()


class Talk:
    """Somebody who tells memory things, minute after minute."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.at = START

    async def tell(
        self, text: str, *tags: str, scope: str = "owner", minutes: float = 1, session: str = "c", **more: str
    ) -> int:
        """Something told so many minutes after the last; the box it went into."""
        self.at += timedelta(minutes=minutes)
        candidate = replace(Candidate("note", scope, text, tags=tags, source="extraction"), **more)  # type: ignore[arg-type]
        occasion = Occasion(self.at, "2026-02-14", "model", session)

        def work(connection: Connection) -> int:
            decision = admit(connection, candidate, occasion)
            assert decision.record is not None
            row = connection.execute(
                "SELECT dst FROM link WHERE src = ? AND type = 'member' ORDER BY dst DESC", (decision.record,)
            ).fetchone()
            return int(row[0]) if row else 0

        return await self.database.write(work)

    async def box(self, number: int) -> store.Record:
        found = await self.database.read(lambda c: store.get(c, number, WHOLE_HOME))
        assert found is not None
        return found

    async def rest(self, minutes: float) -> int:
        self.at += timedelta(minutes=minutes)
        return await self.database.write(lambda c: boxes.seal_idle(c, Act(self.at, "memory")))


async def test_what_is_told_about_one_thing_lies_in_one_box(database: Database) -> None:
    """In each scope its own, and another kind of talk opens another."""
    talk = Talk(database)
    first = await talk.tell("The migration runs on Sunday", "postgres", "migration")
    assert await talk.tell("Its backup is on nas2", "postgres", "migration", "backup") == first
    assert await talk.tell("Ana's migration is on Monday", "postgres", "migration", scope="chat:c") != first
    second = await talk.tell("Paella needs bomba rice", "cooking", "rice")
    assert second != first
    assert (await talk.box(first)).attributes["sealed"] == "topic_shift"
    assert (await talk.box(second)).key == box_store.OPEN


async def test_a_pause_closes_a_box(database: Database) -> None:
    """At once when something is told after it, and else with the housekeeping."""
    talk = Talk(database)
    first = await talk.tell("One", "postgres")
    assert await talk.tell("Two", "postgres", minutes=29.9) == first
    second = await talk.tell("Three", "postgres", minutes=30)
    assert second != first
    assert (await talk.box(first)).attributes["sealed"] == "time_gap"
    assert await talk.rest(29) == 0
    assert await talk.rest(1) == 1
    assert (await talk.box(second)).attributes["sealed"] == "time_gap"
    assert await talk.rest(60) == 0


async def test_a_full_box_is_closed(database: Database) -> None:
    """Fifty memories are enough for one."""
    talk = Talk(database)
    found = [await talk.tell(f"Fact number {n} is {n * 7919}", "postgres", minutes=0.1) for n in range(51)]
    assert len(set(found[:50])) == 1 and found[50] != found[0]
    assert (await talk.box(found[0])).attributes["sealed"] == "max_memories"


async def test_one_breath_is_one_box(database: Database) -> None:
    """What one turn brings lies together whatever it is about."""
    talk = Talk(database)
    first = await talk.tell("The migration runs on Sunday", "postgres")
    assert await talk.tell("Ana is allergic to nuts", "health", minutes=0) == first
    assert await talk.tell("Said elsewhere at the same moment", "garden", minutes=0, session="d") != first


async def test_talk_goes_on_from_what_came_last(database: Database) -> None:
    """A box that has grown is not closed because the next memory names only a little of all that lies in it."""
    talk = Talk(database)
    topics = [("a1", "b1"), ("b1", "c1"), ("c1", "d1"), ("d1", "e1"), ("e1", "f1")]
    found = {await talk.tell(f"Text {one} {other} {n}", one, other) for n, (one, other) in enumerate(topics, 1)}
    assert len(found) > 1 or boxes.overlap(topics[0], topics[-1]) == 0
    first = await talk.tell("x", "k1", "k2", minutes=60)
    for n in range(6):
        assert await talk.tell(f"Something more {n * 7919}", "k1", f"own{n}", "k2") == first


async def test_recurring_talk_shares_a_trace(database: Database) -> None:
    """A box that tells of what an earlier one told of is linked to it; the trace has the first one's name."""
    talk = Talk(database)
    first = await talk.tell("One", "postgres", "migration")
    other = await talk.tell("Two", "cooking", "rice", minutes=40)
    again = await talk.tell("Three", "postgres", "migration", minutes=60 * 24 * 3)
    later = await talk.tell("Four", "postgres", "migration", minutes=60 * 24 * 8)
    await talk.rest(31)
    traces = [(await talk.box(box)).attributes["trace"] for box in (first, other, again, later)]
    assert traces[0] == traces[2] == f"trace-{first}"
    assert len(set(traces)) == 3, "after more than a week it is another story"
    links = await database.read(lambda c: c.execute("SELECT src, dst, why FROM link WHERE type = 'trace'").fetchall())
    assert links == [(again, first, "postgres, migration, fact")]


async def test_edits_and_imports_are_no_talk(database: Database) -> None:
    """A thousand imported facts make no thousand boxes."""
    talk = Talk(database)
    assert [await talk.tell("One", source="import"), await talk.tell("Two", source="edit")] == [0, 0]


async def test_a_box_is_no_surer_than_what_lies_in_it(database: Database) -> None:
    """Its trust is the least of its memories', and its words are nobody's."""
    talk = Talk(database)
    box = await talk.tell("One", "postgres")
    await talk.tell("Two", "postgres", trust="tool")
    await talk.rest(40)
    found = await talk.box(box)
    assert (found.trust, found.text) == ("tool", "memories of 2026-02-14")


async def test_the_same_fact_again_lies_in_its_box_once(database: Database) -> None:
    """A repeat in the same talk is no second memory."""
    talk = Talk(database)
    box = await talk.tell("The migration runs on Sunday", "postgres")
    await talk.tell("The migration runs on Sunday", "postgres")
    members = await database.read(lambda c: box_store.members(c, box))
    assert len(members) == 1


words = st.text("abcñ漢🙂 ", max_size=3)


@given(st.lists(words), st.lists(words))
def test_overlap_is_a_share(one: Sequence[str], other: Sequence[str]) -> None:
    """From 0 to 1, the same both ways, and 1 for the same topics only."""
    share = boxes.overlap(one, other)
    assert 0 <= share <= 1 and share == boxes.overlap(other, one)
    assert (share == 1) == (bool(one) and set(one) == set(other))


@given(st.lists(st.tuples(st.integers(0, 45), st.sets(st.sampled_from("abcdef"), min_size=1)), max_size=12))
def test_nothing_is_taken_into_a_box_that_has_ended(steps: list[tuple[int, set[str]]]) -> None:
    """A pause always ends it, going on with the same thing in time never does."""
    at = START
    for minutes, topics in steps:
        known = boxes.Contents(tuple(topics), tuple(topics), 1, at, "c")
        at += timedelta(minutes=minutes)
        ended = boxes.ends(known, tuple(topics), at, "c", PLAIN)
        assert ended == ("time_gap" if minutes >= 30 else None)


def test_a_thread_ends_with_its_place_or_a_long_pause() -> None:
    """Exactly half an hour is not longer than half an hour."""
    gap, half = PLAIN.gap, timedelta(minutes=30)
    assert not boxes.boundary(START, "c", START + half, "c", gap)
    assert boxes.boundary(START, "c", START + half + timedelta(microseconds=1), "c", gap)
    assert boxes.boundary(START, "c", START, "d", gap)


def test_topics_are_words_of_every_script() -> None:
    """Tags and the subject first; without tags the words of the text; single Latin letters say nothing."""
    assert boxes.topics_of(["DB", "x", "漢"], ["C++"], "fact", "ignored words") == ("db", "漢", "c++", "fact")
    said = boxes.topics_of([], [], "fact", "Ana toca el violín 🎻 en Praga")
    assert {"ana", "violin", "🎻"} <= set(said)
    assert len(boxes.topics_of([], [], "fact", " ".join(f"word{n}" for n in range(99)))) == PLAIN.most_topics
    assert isinstance(START, datetime)
