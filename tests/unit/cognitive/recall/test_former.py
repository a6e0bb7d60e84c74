"""What memories took the place of, for a question of what was so before."""

from datetime import timedelta
from functools import partial

import pytest

from kenobot.cognitive.recall.prompt.reader import MemoryReader
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.former import find_former
from kenobot.storage.connection import Connection
from tests.unit.cognitive.recall.house import REACH, Memory

PAST = "where did I live before?"


async def replace(
    memory: Memory, old: str, new: str, *, kind: str = "superseded", status: str = "", **values: str
) -> int:
    """A memory and one in its place; the number of the newer."""
    first = await memory.learn(old, days_ago=9)
    second = await memory.learn(new, days_ago=4, **values)
    await memory.link(second, first, "supersedes")
    ended = memory.now - timedelta(days=4)
    await memory.change(first, kind, ended, status=status or kind, valid_to=ended.isoformat())
    return second


async def lines(memory: Memory, question: str = PAST, **more: object) -> list[str]:
    return [each.line for each in (await memory.recall(question, **more)).former]


async def test_it_has_its_day_and_its_end(memory: Memory) -> None:
    """Until when it was so, where the newer words tell of a change; else only that it was told."""
    await replace(memory, "I live in Madrid", "I live in Valencia now")
    await replace(memory, "I live with Tom", "I live with Ana")
    told, until = (memory.now - timedelta(days=each) for each in (9, 4))
    assert set(await lines(memory)) == {
        f"- I live in Madrid _({told:%Y-%m-%d}, until {until:%Y-%m-%d})_",
        f"- I live with Tom _({told:%Y-%m-%d}, told before, replaced on {until:%Y-%m-%d})_",
    }


@pytest.mark.parametrize("question", ["where do I live?", "I live in Valencia", "who lives in Madrid?"])
async def test_other_questions_are_told_nothing_and_read_nothing(memory: Memory, question: str) -> None:
    """Nor do they cost a statement of SQL."""
    await replace(memory, "I live in Madrid", "I live in Valencia now")
    assert await lines(memory, question) == []
    report = await memory.recall(question)
    run: list[str] = []

    def work(connection: Connection) -> None:
        connection.set_trace_callback(run.append)
        try:
            query = MemoryQuery(question, REACH, memory.now)
            assert find_former(connection, [each.record for each in report.memories], query, 1000) == ()
        finally:
            connection.set_trace_callback(None)

    await memory.database.read(work)
    assert run == []


async def test_what_says_the_same_or_was_taken_back_is_none(memory: Memory) -> None:
    """What a night merged, what was taken back, and what another scope holds; what a model called wrong is told where
    the newer words tell of a change."""
    await replace(memory, "I live in Madrid with Tom", "I live in Madrid", kind="merged", status="superseded")
    await replace(memory, "I live in Porto", "I live in Faro now", kind="undone", status="invalidated")
    await replace(memory, "I live in Rome", "I live in Milan", kind="invalidated")
    await replace(memory, "I live in Oslo", "I live in Bergen now", kind="invalidated")
    await replace(memory, "I live in Lima", "I live in Cuzco", source="command")
    first = await memory.learn("I live in Kyiv", scope="user:telegram-9", status="superseded")
    second = await memory.learn("I live in Lviv now")
    await memory.link(second, first, "supersedes")
    assert [line.partition(" _(")[0] for line in await lines(memory)] == ["- I live in Oslo"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Madrid", "I live in Paris, there's no error"),
        ("I live in Madrid", "I live in Paris now, so the bill is a mistake"),
        ("Vivo en Madrid", "Vivo en París, perdona el error de antes"),
        ("Vivo en Madrid", "Vivo en París, nunca fui feliz allí"),
    ],
)
async def test_a_word_of_a_mistake_alone_hides_nothing(memory: Memory, old: str, new: str) -> None:
    """It may be about something else: what was told is told, and not that it was so."""
    await replace(memory, old, new)
    (line,) = await lines(memory, PAST if "live" in old else "¿dónde vivía antes?")
    assert line.startswith(f"- {old} _(")
    assert "told before, replaced" in line


async def test_it_takes_no_more_room_than_there_is(memory: Memory) -> None:
    """All that is shown stays within the tokens of the search."""
    for number in range(12):
        await replace(memory, f"I live in town {number} of the old days", f"I live in town {number} now, they say")
    report = await memory.recall(PAST, budget=400)
    assert report.former
    assert report.tokens <= 400
    assert len((await memory.recall(PAST, budget=9000)).former) == 8


async def test_beside_what_is_shown_it_takes_only_the_room_that_is_left(memory: Memory) -> None:
    """Of the one budget of a search; nothing where what is shown has taken it all."""
    await replace(memory, "I live in Madrid", "I live in Valencia now")
    report = await memory.recall(PAST)
    taken, (former,) = sum(each.tokens for each in report.memories), report.former
    for more, count in ((-taken + 1, 0), (0, 0), (former.tokens - 1, 0), (former.tokens, 1)):
        query = MemoryQuery(PAST, REACH, memory.now, budget=taken + more)
        found = await memory.database.read(partial(MemoryReader.find_former, found=report.memories, query=query))
        assert len(found) == count


async def test_nothing_is_added_to_a_search_of_another_day(memory: Memory) -> None:
    """What was known then is found by itself."""
    await replace(memory, "I live in Madrid", "I live in Valencia now")
    assert await lines(memory, as_of=memory.now - timedelta(days=6)) == []
