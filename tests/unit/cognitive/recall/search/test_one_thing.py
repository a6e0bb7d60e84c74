"""What is found of one thing stands once, and the newer before the older that it may replace."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.search.one_thing import age_pairs, find_telling_memories, newer_first
from kenobot.ports.provider import Role
from kenobot.storage.message_rows import MessageRow
from tests.unit.cognitive.recall.house import Memory

_OLD = "the rent is 480 a month"
_NEW = "the rent is 510 a month from June, now that the new owner has come"


async def _found(memory: Memory, *told: str) -> list[RecalledMemory]:
    """Memories of these texts, told one after the other, in the order of the texts."""
    for text in told:
        await memory.learn(text)
    pack = await memory.recall("what about the rent and the garden?")
    by_text = {each.record.text: each for each in pack.memories}
    return [
        replace(
            by_text[text],
            record=by_text[text].record._replace(last_seen=f"2026-05-{at:02}T10:00:00", source_messages=f"[{at}]"),
            relevance_parts={"meaning": 1.2},
        )
        for at, text in enumerate(told, 1)
    ]


def _turn(number: int, text: str, role: Role = "user", scope: str = "owner") -> Excerpt:
    at = f"2026-05-{number:02}T10:00:00"
    row = MessageRow(number, "a", role, text, at, number, "owner", scope, "owner", False, None, None)
    return Excerpt(row, 0.5, (), near=1.2)


async def test_a_newer_statement_of_the_same_comes_before_the_older_one(memory: Memory) -> None:
    """Though the older one is as near to the question."""
    items = await _found(memory, _OLD, _NEW)
    assert newer_first(items, age_pairs(items)) == [items[1], items[0]]


async def test_one_of_another_thing_keeps_its_place(memory: Memory) -> None:
    items = await _found(memory, _OLD, "the garden has roses")
    far = [items[0], replace(items[1], relevance_parts={"meaning": 0.2})]
    assert newer_first(far, age_pairs(far)) == far


async def test_the_older_never_comes_before_the_newer(memory: Memory) -> None:
    items = (await _found(memory, _OLD, _NEW))[::-1]
    assert not age_pairs(items)


async def test_what_was_said_in_one_message_keeps_its_order(memory: Memory) -> None:
    old, new = await _found(memory, _OLD, _NEW)
    assert not age_pairs([old, replace(new, record=new.record._replace(source_messages="[1]"))])


def test_questions_replies_and_talk_of_several_people_take_no_part() -> None:
    old = _turn(1, _OLD)
    others = [_turn(2, "is the rent 510 now?"), _turn(3, _NEW, "assistant"), _turn(4, f"Ana: {_NEW}", scope="chat:a")]
    assert not [pair for other in others for pair in age_pairs([old, other])]
    assert age_pairs([old, _turn(5, _NEW)])
    assert age_pairs([old, _turn(6, f"Note: {_NEW}")]), "a private chat has no speakers"


@given(st.permutations(range(1, 9)))
def test_nothing_is_lost_and_nothing_doubled(days: list[int]) -> None:
    items = [_turn(day, f"the rent is {500 + day} now") for day in days]
    found = newer_first(items, age_pairs(items))
    assert sorted(each.key for each in found) == sorted(each.key for each in items)


async def test_a_turn_of_the_words_of_a_memory_is_known_as_told_by_it(memory: Memory) -> None:
    """One that says more is another."""
    (known,) = await _found(memory, _OLD)
    same, more = _turn(1, f"So {_OLD}!"), _turn(2, f"{_OLD}, and the deposit went to the agency in Leeds")
    assert find_telling_memories([same, more], [known]) == {1: known.record.id}
