"""Recall reads less than it finds, and shows the same as if it had read everything."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.candidates.spreading_activation import spread_activation
from kenobot.cognitive.recall.index import posting_rows
from kenobot.cognitive.recall.index.index import Indexer
from kenobot.cognitive.recall.results.trace import RecallTrace
from kenobot.cognitive.recall.search import ranking
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.store import links
from kenobot.storage.connection import Connection
from tests.unit.cognitive.recall.house import REACH, Memory

_ALL = replace(DEFAULT, recall=replace(DEFAULT.recall, shortlist=1000))
_WORDS = "river stone cloud maple lantern copper violin harbour meadow saddle".split()


async def _full(memory: Memory, rng: Random, *, linked: bool) -> None:
    """A home in which a question finds more than it can be shown: notes, of Zoe and others, and links between them."""
    numbers = []
    for at in range(70):
        said = " ".join(rng.sample(_WORDS, 5))
        subject = "zoe" if at % 3 == 0 else "owner"
        numbers.append(await memory.learn(f"note {at} {said}", subject=subject))
    pairs = {(max(pair), min(pair)) for pair in (rng.sample(numbers, 2) for _ in range(150))}
    for src, dst in sorted(pairs) if linked else ():
        await memory.link(src, dst, confidence=rng.choice([0.4, 0.7, 1.0]))


@pytest.mark.parametrize("seed", [1, 2])
async def test_reading_a_shortlist_shows_what_reading_everything_shows(memory: Memory, seed: int) -> None:
    """Where nothing is looked for by meaning: with names and without, on show already or not."""
    rng = Random(seed)
    await _full(memory, rng, linked=True)
    for _ in range(6):
        asked = " ".join(rng.sample(_WORDS, 2)) + rng.choice(["", "?", " of zoe"])
        first = await memory.recall(asked, policy=_ALL)
        shown = "".join(f"{each.line}\n" for each in first.memories[:9]) if rng.random() < 0.5 else ""
        whole, some = [await memory.recall(asked, policy=p, prompt_text=shown) for p in (_ALL, DEFAULT)]
        assert [(each.record.id, each.score) for each in some.memories] == [
            (each.record.id, each.score) for each in whole.memories
        ]


async def test_what_falls_out_of_a_shortlist_is_made_up_for(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes that may not be shown take no places, and less is read than was found."""
    rng = Random(3)
    await _full(memory, rng, linked=False)
    read: list[int] = []
    whole = RecallFilter.filter_records

    def noted(sieve: RecallFilter, connection: Connection, ids: list[int]) -> object:
        read.append(len(ids))
        return whole(sieve, connection, ids)

    monkeypatch.setattr(RecallFilter, "filter_records", noted)
    narrow = replace(DEFAULT, recall=replace(DEFAULT.recall, shortlist=2))
    pack = await memory.recall("river zoe", limit=4, policy=narrow)
    assert len(pack.memories) == 4
    assert sum(read) < 28
    hidden = [each.record.id for each in pack.candidates]
    for number in hidden:
        await memory.change(number, "invalidated", status="invalidated")
    again = await memory.recall("river zoe", limit=4, policy=narrow)
    assert len(again.memories) == 4
    assert not {each.record.id for each in again.memories} & set(hidden)


def test_neighbours_are_read_as_far_as_they_may_come_to_be_shown() -> None:
    """Those among the first, and so many beyond; all where there is room."""
    assert ranking._count_wanted([0.9, 0.5, 0.4, 0.1], [-0.8, -0.45], most=4, beyond=0) == 2
    assert ranking._count_wanted([0.9, 0.5, 0.4, 0.1], [-0.8, -0.45], most=4, beyond=1) == 3
    assert ranking._count_wanted([0.9, 0.5], [], most=4, beyond=0) == 2


async def test_links_of_many_records_are_those_of_each(memory: Memory) -> None:
    """Both ways, the newest, only within reach, in one query."""
    await _full(memory, Random(5), linked=True)

    def look(connection: Connection) -> None:
        numbers = [row[0] for row in connection.execute("SELECT id FROM record")]
        each = links.links_around_each(connection, numbers, REACH, 3)
        for number in numbers:
            rows = connection.execute(
                "SELECT * FROM (SELECT src, dst FROM link WHERE src = :number ORDER BY dst DESC LIMIT 3) UNION ALL "
                "SELECT * FROM (SELECT src, dst FROM link WHERE dst = :number ORDER BY src DESC LIMIT 3)",
                {"number": number},
            )
            assert sorted((link.src, link.dst) for link in each.get(number, [])) == sorted(rows.fetchall())
        assert links.links_around_each(connection, numbers, ("user:fake-2",), 3) == {}

    await memory.database.read(look)


async def test_activation_goes_no_farther_than_it_is_asked_to(memory: Memory) -> None:
    """And no farther than the policy has it."""
    chain = [await memory.learn(f"link {at}") for at in range(6)]
    for one, other in pairwise(chain):
        await memory.link(other, one)

    def far(connection: Connection, steps: int | None) -> int:
        return len(spread_activation(connection, {chain[0]: 1.0}, REACH, steps=steps))

    for steps, wanted in ((1, 1), (2, 2), (None, 3), (9, 3)):
        assert await memory.database.read(lambda connection, steps=steps: far(connection, steps)) == wanted  # type: ignore[misc]


async def test_the_lists_are_merged_in_the_background(memory: Memory) -> None:
    """Each write leaves a piece; what is found is the same before and after, and erasing is not needed for it."""
    for at in range(30):
        await memory.learn(f"the {_WORDS[at % 10]} of day {at}")
        await memory.recall(f"day {at}")
    before = await memory.texts("what about the river?")
    scattered = memory.index.read(posting_rows.segment_count, 0)
    await Indexer(memory.database, memory.index).index_all()
    assert memory.index.read(posting_rows.segment_count, 0) < scattered
    assert await memory.texts("what about the river?") == before
    assert len(before) == 3


async def test_an_index_that_has_grown_is_merged_whole(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, and again when it has grown by a quarter."""
    monkeypatch.setattr(posting_rows, "_WORTH_IT", 8)
    for grown, wanted in ((8, True), (1, False), (1, True)):
        for at in range(grown):
            await memory.learn(f"maple {grown} {at}")
            await memory.recall("maple")
        assert memory.index.read(posting_rows.is_full_merge_due, False) == wanted
        await Indexer(memory.database, memory.index).index_all()
        if wanted:
            assert memory.index.read(posting_rows.segment_count, 0) == 1


async def test_the_trace_knows_what_was_found_and_not_read(memory: Memory) -> None:
    """Places go on behind what was read, so that nothing that was found passes for never found."""
    rng = Random(5)
    await _full(memory, rng, linked=False)
    some, whole = RecallTrace(), RecallTrace()
    narrow = replace(DEFAULT, recall=replace(DEFAULT.recall, shortlist=1))
    await memory.recall(" ".join(_WORDS[:3]), limit=4, trace=some, policy=narrow)
    await memory.recall(" ".join(_WORDS[:3]), limit=4, trace=whole, policy=_ALL)
    assert some.estimates
    assert not whole.estimates
    assert {*some.ranked, *some.dropped} == {*whole.ranked, *whole.dropped}
    places = sorted(each.rank for (kind, _), each in some.ranked.items() if kind == "record")
    assert places == list(range(1, len(places) + 1))


async def test_the_trace_knows_turns_past_the_last_that_is_ranked(memory: Memory) -> None:
    """What is shown does not change by being watched."""
    for number in range(12):
        await memory.say(f"{_WORDS[number % 5]} and the river number {number}", number + 1)
    few = replace(DEFAULT, recall=replace(DEFAULT.recall, max_ranked_turns=3))
    trace = RecallTrace()
    watched = await memory.recall("what about the river?", policy=few, trace=trace)
    alone = await memory.recall("what about the river?", policy=few)
    assert sum(kind == "turn" for kind, _ in trace.ranked) > 3
    assert [each.turn.id for each in watched.excerpts] == [each.turn.id for each in alone.excerpts] != []
