"""Time travel: what was live at a moment, and with which wording."""

from datetime import datetime, timedelta

import pytest

from kenobot.storage.times import stamp
from tests.unit.cognitive.recall.house import Memory


def _days_ago(memory: Memory, days: float) -> datetime:
    return memory.now - timedelta(days=days)


async def _then(memory: Memory, text: str, days: float) -> list[str]:
    return await memory.texts(text, as_of=_days_ago(memory, days))


async def test_what_came_later_was_not_known(memory: Memory) -> None:
    """And what was known is found."""
    await memory.learn("The bakery opens at six", days_ago=10)
    assert await _then(memory, "when does the bakery open?", 11) == []
    assert await _then(memory, "when does the bakery open?", 9) == ["The bakery opens at six"]


async def test_a_superseded_fact_held_until_it_was_replaced(memory: Memory) -> None:
    """Its heir from then on; a default recall knows the heir alone."""
    old = await memory.learn("The office is in Vigo", days_ago=20)
    at = _days_ago(memory, 5)
    await memory.learn("The office is in Lugo", days_ago=5)
    await memory.change(old, "superseded", at, status="superseded", valid_to=stamp(at))
    assert await memory.texts("where is the office?") == ["The office is in Lugo"]
    assert await _then(memory, "where is the office?", 6) == ["The office is in Vigo"]
    assert await _then(memory, "where is the office?", 4) == ["The office is in Lugo"]
    assert await _then(memory, "where is the office?", 5) == ["The office is in Lugo"]


async def test_a_changed_wording_is_found_by_the_words_of_then(memory: Memory) -> None:
    """And shown with them."""
    record = await memory.learn("The meeting is on Tuesday", days_ago=20)
    await memory.change(record, "replaced", _days_ago(memory, 5), text="The meeting is on Friday")
    await memory.change(record, "replaced", _days_ago(memory, 2), text="The meeting is on Monday")
    assert await _then(memory, "Tuesday", 10) == ["The meeting is on Tuesday"]
    assert await _then(memory, "the meeting", 3) == ["The meeting is on Friday"]
    assert await _then(memory, "the meeting", 1) == ["The meeting is on Monday"]


async def test_what_was_away_for_a_while_is_away_then(memory: Memory) -> None:
    """Archived and put back: each change counts from when it happened."""
    record = await memory.learn("The cello needs new strings", days_ago=20)
    await memory.change(record, "archived", _days_ago(memory, 10), status="archived")
    await memory.change(record, "undone", _days_ago(memory, 5), status="active")
    seen = [bool(await _then(memory, "cello", days)) for days in (15, 7, 1)]
    assert seen == [True, False, True]


@pytest.mark.parametrize("days", [15, 1])
async def test_what_is_forgotten_is_hidden_at_every_moment(memory: Memory, days: float) -> None:
    """Also as of a day on which it was known, by what it said then."""
    record = await memory.learn("The gift is a telescope", days_ago=20)
    await memory.change(record, "replaced", _days_ago(memory, 10), text="The gift is a microscope")
    await memory.change(record, "forgotten", _days_ago(memory, 5), status="forgotten")
    assert await _then(memory, "the gift is a telescope or microscope", days) == []


async def test_what_held_before_it_was_told_counts_from_when_it_held(memory: Memory) -> None:
    """A person wrote a line into an older log."""
    told = _days_ago(memory, 30)
    await memory.learn("The roof was mended", days_ago=2, valid_from=stamp(told))
    assert await _then(memory, "the roof", 31) == []
    assert await _then(memory, "the roof", 29) == ["The roof was mended"]
