"""Memory boxes: what lies together, when one is closed, and which share a trace."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.control.forget import forget, plan_purge, purge
from kenobot.cognitive.policy.remember import BoxPolicy
from kenobot.cognitive.remember import boxes
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import boxes as box_store
from kenobot.cognitive.store import records
from kenobot.cognitive.store.boxes import BoxContents, BoxMember
from kenobot.language.words import terms
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START

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
        occasion = AdmitContext(self.at, "2026-02-14", "model", session)

        def work(connection: Connection) -> int:
            decision = admit(connection, candidate, occasion)
            assert decision.record is not None
            row = connection.execute(
                "SELECT dst FROM link WHERE src = ? AND type = 'member' ORDER BY dst DESC", (decision.record,)
            ).fetchone()
            return int(row[0]) if row else 0

        return await self.database.write(work)

    async def box(self, number: int) -> Record:
        found = await self.database.read(lambda c: records.get(c, number, ALL_SCOPES))
        assert found is not None
        return found

    async def members(self, number: int) -> list[BoxMember]:
        return await self.database.read(lambda c: box_store.box_members(c, number))

    async def rest(self, minutes: float) -> int:
        self.at += timedelta(minutes=minutes)
        return await self.database.write(lambda c: boxes.close_idle_boxes(c, ChangeContext(self.at, "memory")))


async def test_what_is_told_about_one_thing_lies_in_one_box(database: Database) -> None:
    """In each scope its own, and another kind of talk opens another."""
    talk = Talk(database)
    await talk.tell("The migration runs on Sunday", "postgres", "migration")
    first = await talk.tell("Its backup is on nas2", "postgres", "migration", "backup")
    assert await talk.tell("Ana's migration is on Monday", "postgres", "migration", scope="chat:c") == 0
    assert await talk.tell("Paella needs bomba rice", "cooking", "rice") == 0
    second = await talk.tell("Bomba rice is from Valencia", "cooking", "rice")
    assert [len(await talk.members(box)) for box in (first, second)] == [2, 2]
    assert (await talk.box(first)).attribute_map["sealed"] == "topic_shift"
    assert (await talk.box(second)).key == box_store.OPEN_KEY


async def test_one_memory_is_no_box(database: Database) -> None:
    """What nothing followed leaves none behind, whatever came after it."""
    talk = Talk(database)
    await talk.tell("The migration runs on Sunday", "postgres")
    await talk.tell("Paella needs bomba rice", "cooking", "rice")
    await talk.tell("Ana is allergic to nuts", minutes=60)
    assert await talk.rest(60) == 0
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM record WHERE form = 'box'").fetchone()) == (0,)


@pytest.mark.parametrize(
    "told",
    [
        ("I live in Madrid", "My sister plays the violin", "The router stands behind the boxes", "Paella needs rice"),
        ("Vivo en Madrid", "Mi hermana toca el violín", "我喜欢喝茶", "🎻 los jueves"),
        ("My bank card ends in 4471", "I have a dentist appointment on Thursday", "My car is a blue Fiesta"),
        ("Mi tarjeta acaba en 4471", "Tengo cita con el dentista el jueves", "Prometí una tarta a Bea"),
    ],
)
async def test_facts_of_all_kinds_without_names_lie_in_no_box(database: Database, told: Sequence[str]) -> None:
    """What shares no word with what was told before it is another topic."""
    talk = Talk(database)
    assert {await talk.tell(text, minutes=5) for text in told} == {0}


@pytest.mark.parametrize(
    "told",
    [
        ("My sister plays the violin", "The violin is from Cremona", "She learned it there", "Cremona is in Italy"),
        ("Mi hermana toca el violín", "El violín es de Cremona", "Lo compró allí", "Y le costó mucho"),
        ("The kettle leaks", "It was expensive", "And I bought it in Lisbon"),
    ],
)
async def test_facts_without_names_that_hang_together_lie_in_one_box(database: Database, told: Sequence[str]) -> None:
    """They share words, or point back; what is said elsewhere closes it."""
    talk = Talk(database)
    boxes_ = [await talk.tell(text, minutes=5) for text in told]
    assert len(set(boxes_[1:])) == 1 and boxes_[1] > 0
    assert len(await talk.members(boxes_[1])) == len(told)
    assert await talk.tell("Something that is said elsewhere", session="d") == 0
    assert (await talk.box(boxes_[1])).attribute_map["sealed"] == "topic_shift"


async def test_a_box_takes_in_both_what_is_tagged_and_what_is_not(database: Database) -> None:
    """Untagged facts do not make a tagged one look like a turn, nor the other way round."""
    talk = Talk(database)
    await talk.tell("The migration runs on Sunday", "postgres", "migration")
    first = await talk.tell("Nobody may be on call then but me and the two from Lisbon")
    assert await talk.tell("Its backup is on nas2", "postgres", "migration") == first
    assert await talk.tell("Paella needs bomba rice", "cooking", "rice") == 0
    assert [member.named for member in await talk.members(first)] == [True, False, True]


@pytest.mark.no_replay("it counts statements, and triggers add theirs")
async def test_laying_one_more_reads_nothing_of_what_lies_in_the_box(database: Database) -> None:
    """The fiftieth costs as many statements as the third, and none of them reads members."""
    talk = Talk(database)

    def lay(connection: Connection, number: int) -> list[str]:
        decision = admit(
            connection,
            Candidate("note", "owner", f"Fact {number} is {number * 7919}", source="edit"),
            AdmitContext(talk.at, "2026-02-14", "owner"),
        )
        assert decision.record is not None
        record = records.get(connection, decision.record, ALL_SCOPES)
        assert record is not None
        run: list[str] = []
        connection.set_trace_callback(run.append)
        boxes.add_together(connection, [record], ("postgres",), ChangeContext(talk.at, "model", "", "c"), PLAIN)
        connection.set_trace_callback(None)
        return run

    counts = []
    for number in range(49):
        talk.at += timedelta(minutes=1)
        counts.append(await database.write(partial(lay, number=number)))
    assert {len(run) for run in counts[2:]} == {3}
    assert not any("type = 'member'" in statement for run in counts[2:] for statement in run)


async def test_an_open_box_that_nothing_is_noted_of_is_gone_on_with(database: Database) -> None:
    """After an import of memory the talk goes on where it stood."""
    talk = Talk(database)
    await talk.tell("The migration runs on Sunday", "postgres", "migration")
    first = await talk.tell("Its backup is on nas2", "postgres", "backup")
    await database.write(lambda c: c.execute("DELETE FROM open_topic"))
    assert await talk.tell("Its log is on nas3", "backup", "log", "postgres") == first
    await database.write(lambda c: c.execute("DELETE FROM open_topic"))
    assert await talk.tell("Paella needs bomba rice", "cooking", "rice") == 0
    assert (await talk.box(first)).attribute_map["sealed"] == "topic_shift"


async def test_what_was_forgotten_meanwhile_begins_no_box(database: Database) -> None:
    """A memory that is no longer live is not what the next one is laid beside, and erased it leaves no topic."""
    talk = Talk(database)
    await talk.tell("The migration runs on Sunday", "postgres")
    occasion = AdmitContext(talk.at, "2026-02-14", "owner")
    newest = await database.read(records.last_record)
    await database.write(lambda c: forget(c, newest, ("owner",), occasion))
    assert await talk.tell("Its backup is on nas2", "postgres") == 0
    box = await talk.tell("Its log is on nas3", "postgres")
    assert newest not in [member.record for member in await talk.members(box)]

    def erase(connection: Connection) -> list[tuple[object, ...]]:
        doomed = plan_purge(connection, records.last_record(connection) - 1, ("owner",))
        assert doomed is not None
        purge(connection, doomed, occasion)
        return connection.execute("SELECT * FROM open_topic").fetchall()

    assert await database.write(erase) == []


async def test_what_rests_leaves_no_note(database: Database) -> None:
    """Of the talk under way no more is noted than goes on, however many people talk."""
    talk = Talk(database)
    for number in range(20):
        await talk.tell("The migration runs on Sunday", "postgres", scope=f"user:{number}", minutes=0)
    await talk.tell("Its backup is on nas2", "postgres", scope="user:1", minutes=0)
    assert await talk.rest(29) == 0
    assert await talk.rest(1) == 1
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM open_topic").fetchone()) == (0,)


async def test_a_pause_closes_a_box(database: Database) -> None:
    """At once when something is told after it, and else with the housekeeping."""
    talk = Talk(database)
    await talk.tell("One", "postgres")
    first = await talk.tell("Two", "postgres", minutes=29.9)
    assert await talk.tell("Three", "postgres", minutes=30) == 0
    second = await talk.tell("Four", "postgres")
    assert first and second != first
    assert (await talk.box(first)).attribute_map["sealed"] == "time_gap"
    assert await talk.rest(29) == 0
    assert await talk.rest(1) == 1
    assert (await talk.box(second)).attribute_map["sealed"] == "time_gap"
    assert await talk.rest(60) == 0


async def test_a_full_box_is_closed(database: Database) -> None:
    """Fifty memories are enough for one."""
    talk = Talk(database)
    found = [await talk.tell(f"Fact number {n} is {n * 7919}", "postgres", minutes=0.1) for n in range(52)]
    assert len(set(found[1:50])) == 1 and found[50] == 0 and found[51] != found[1]
    assert (await talk.box(found[1])).attribute_map["sealed"] == "max_memories"
    assert len(await talk.members(found[1])) == 50


async def test_one_breath_is_one_box(database: Database) -> None:
    """What one turn brings lies together whatever it is about."""
    talk = Talk(database)
    await talk.tell("The migration runs on Sunday", "postgres")
    first = await talk.tell("Ana is allergic to nuts", "health", minutes=0)
    assert len(await talk.members(first)) == 2
    assert await talk.tell("Said elsewhere at the same moment", "garden", minutes=0, session="d") != first


async def test_talk_goes_on_from_what_came_last(database: Database) -> None:
    """A box that has grown is not closed because the next memory names only a little of all that lies in it."""
    talk = Talk(database)
    await talk.tell("x", "k1", "k2")
    found = {await talk.tell(f"Something more {n * 7919}", "k1", f"own{n}", "k2") for n in range(6)}
    assert len(found) == 1 and 0 not in found


async def test_recurring_talk_shares_a_trace(database: Database) -> None:
    """A box that tells of what an earlier one told of is linked to it; the trace has the first one's name."""
    talk = Talk(database)

    async def two(*tags: str, minutes: float) -> int:
        await talk.tell(f"{talk.at} one", *tags, minutes=minutes)
        return await talk.tell(f"{talk.at} two", *tags)

    first = await two("postgres", "migration", minutes=1)
    other = await two("cooking", "rice", minutes=40)
    again = await two("postgres", "migration", minutes=60 * 24 * 3)
    later = await two("postgres", "migration", minutes=60 * 24 * 8)
    await talk.rest(31)
    traces = [(await talk.box(box)).attribute_map["trace"] for box in (first, other, again, later)]
    assert traces[0] == traces[2] == f"trace-{first}"
    assert len(set(traces)) == 3, "after more than a week it is another story"
    links = await database.read(lambda c: c.execute("SELECT src, dst, why FROM link WHERE type = 'trace'").fetchall())
    assert links == [(again, first, "postgres, migration, fact")]


async def test_what_was_said_twice_in_words_shares_a_trace(database: Database) -> None:
    """Where nothing is named the words tell that two boxes tell of the same thing, and nothing else does."""
    talk = Talk(database)

    async def two(one: str, other: str) -> int:
        await talk.tell(one, minutes=40)
        return await talk.tell(other)

    first = await two("The red kettle leaks", "The kettle is from Lisbon")
    other = await two("Paella needs bomba rice", "Rice for paella comes from Valencia")
    again = await two("The red kettle leaks badly now", "A new kettle from Lisbon")
    await talk.rest(31)
    traces = [(await talk.box(box)).attribute_map["trace"] for box in (first, other, again)]
    assert traces[0] == traces[2] != traces[1]


async def test_edits_and_imports_are_no_talk(database: Database) -> None:
    """A thousand imported facts make no thousand boxes."""
    talk = Talk(database)
    assert [await talk.tell("One", source="import"), await talk.tell("Two", source="edit")] == [0, 0]


async def test_a_box_is_no_surer_than_what_lies_in_it(database: Database) -> None:
    """Its trust is the least of its memories', and its words are nobody's."""
    talk = Talk(database)
    await talk.tell("One", "postgres")
    box = await talk.tell("Two", "postgres", trust="tool")
    await talk.rest(40)
    found = await talk.box(box)
    assert (found.trust, found.text) == ("tool", "memories of 2026-02-14")


async def test_the_same_fact_again_lies_in_its_box_once(database: Database) -> None:
    """A repeat in the same talk is no second memory."""
    talk = Talk(database)
    assert await talk.tell("The migration runs on Sunday", "postgres") == 0
    assert await talk.tell("The migration runs on Sunday", "postgres") == 0
    box = await talk.tell("Its backup is on nas2", "postgres")
    assert await talk.tell("The migration runs on Sunday", "postgres") == box
    assert len(await talk.members(box)) == 2


words = st.text("abcñ漢🙂 ", max_size=3)


@given(st.lists(words), st.lists(words))
def test_overlap_is_a_share(one: Sequence[str], other: Sequence[str]) -> None:
    """From 0 to 1, the same both ways, and 1 for the same topics only."""
    share = boxes.topic_overlap(one, other)
    assert 0 <= share <= 1 and share == boxes.topic_overlap(other, one)
    assert (share == 1) == (bool(one) and set(one) == set(other))


@given(st.lists(st.tuples(st.integers(0, 45), st.sets(st.sampled_from("abcdef"), min_size=1)), max_size=12))
def test_nothing_is_taken_into_a_box_that_has_ended(steps: list[tuple[int, set[str]]]) -> None:
    """A pause always ends it, going on with the same thing in time never does."""
    at = START
    for minutes, topics in steps:
        known = BoxContents(tuple(topics), tuple(topics), 1, at, "c")
        at += timedelta(minutes=minutes)
        ended = boxes.close_reason(known, tuple(topics), at, "c", PLAIN)
        assert ended == ("time_gap" if minutes >= 30 else None)


def test_a_thread_ends_with_its_place_or_a_long_pause() -> None:
    """Exactly half an hour is not longer than half an hour."""
    gap, half = PLAIN.close_after, timedelta(minutes=30)
    assert not boxes.starts_new_thread(START, "c", START + half, "c", gap)
    assert boxes.starts_new_thread(START, "c", START + half + timedelta(microseconds=1), "c", gap)
    assert boxes.starts_new_thread(START, "c", START, "d", gap)


@given(st.lists(st.tuples(st.integers(0, 29), st.sets(st.sampled_from("abcdef"))), max_size=12))
def test_only_what_is_named_can_turn_a_talk(steps: list[tuple[int, set[str]]]) -> None:
    """In one conversation without a pause, a memory without topics ends nothing, and nothing ends what has none."""
    at = START
    for minutes, topics in steps:
        named = tuple(topics)
        assert (
            boxes.close_reason(BoxContents(named, named, 1, at, "c"), (), at + timedelta(minutes=minutes), "c", PLAIN)
            is None
        )
        assert (
            boxes.close_reason(BoxContents((), (), 1, at, "c"), named, at + timedelta(minutes=minutes), "c", PLAIN)
            is None
        )
        assert boxes.close_reason(BoxContents((), (), 1, at, "c"), named, at, "d", PLAIN) == "topic_shift"
        at += timedelta(minutes=minutes)


def test_topics_are_words_of_every_script() -> None:
    """Tags and the subject first; words of the text by their stems; single Latin letters say nothing."""
    assert boxes.topics_of(["DB", "x", "漢"], ["C++"], "fact") == ("db", "漢", "c++", "fact")
    assert {"ana", "violin", "🎻"} <= set(boxes.plain_topics(terms("Ana toca el violín 🎻 en Praga"), 24))
    assert len(boxes.plain_topics((f"word{n}" for n in range(99)), PLAIN.max_topics)) == PLAIN.max_topics
