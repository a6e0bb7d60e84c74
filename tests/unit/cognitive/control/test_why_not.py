"""Why something was not remembered: which of the four it was."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.cognitive.control.why_not import explain_absence
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.ports.explanations import AbsenceExplanation, ReplyExplanation, UsedMemory
from kenobot.storage.scopes import ALL_SCOPES
from tests.unit.cognitive.recall.house import REACH, ZONE, Memory, open_memory


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with open_memory(tmp_path) as opened:
        yield opened


async def explain(memory: Memory, text: str, question: str, *shown: int) -> AbsenceExplanation:
    """Ask why `text` was not remembered when `question` was answered, with these records before the model."""
    used = tuple(UsedMemory(number, None, "message") for number in shown)
    at = (memory.now + timedelta(hours=1)).isoformat()
    reply = ReplyExplanation("telegram-1", 9, at, question, "I do not know.", used)
    query = MemoryQuery(text, REACH, memory.now + timedelta(hours=1), ZONE, "telegram-1")
    await memory.database.read(memory.index.catch_up)
    return await memory.database.read(lambda c: explain_absence(c, memory.index, text, query, reply, ALL_SCOPES))


async def test_what_came_out_behind_others_is_told_with_its_place_and_these(memory: Memory) -> None:
    """Of the same search as for the question that was answered."""
    for number in range(30):
        await memory.learn(f"the garden gate number {number} is painted green every spring")
    shed = await memory.learn("a window of the shed looks over the garden", days_ago=300, importance=0.1)
    found = await explain(memory, "the shed's window looks over the garden", "which garden gate is painted green?")
    assert (found.outcome, found.item and found.item.number) == ("not_shown", shed)
    assert found.rank == 0 or found.rank > 12
    assert len(found.before) == 3
    assert all("gate" in text for text in found.before)


async def test_each_reason_not_to_be_shown_has_its_name(memory: Memory) -> None:
    """A live one in reach comes before one that ended or is elsewhere."""
    await memory.learn("Ana keeps bees in Lugo", scope="chat:telegram--5")
    found = await explain(memory, "Ana keeps bees in Lugo", "where are Ana's bees?")
    assert (found.outcome, found.reason) == ("not_eligible", "out of reach")
    old = await memory.learn("Ana keeps bees in Lugo")
    await memory.change(old, "superseded", status="superseded")
    assert (await explain(memory, "Ana keeps bees in Lugo", "where are Ana's bees?")).reason == "superseded"
    gone = await memory.learn("Ana keeps bees in Lugo", expires="2020-01-01T00:00:00+00:00")
    assert (await explain(memory, "Ana keeps bees in Lugo", "where are Ana's bees?")).reason == "expired"
    await memory.change(gone, "archived", status="archived")
    live = await memory.learn("Ana keeps her bees in Lugo")
    assert (await explain(memory, "Ana keeps bees in Lugo", "where?", live)).outcome == "unused"
    assert (await explain(memory, "Bo repairs violins", "who repairs violins?")).outcome == "never_stored"


async def test_what_was_said_and_became_no_memory_is_found_too(memory: Memory) -> None:
    """A message of the chat is stored as such; the question itself is no answer."""
    await memory.say("yesterday my cousin Bo repaired the old violin", 3)
    found = await explain(memory, "Bo repaired the old violin", "what is the capital of Chad?")
    assert (found.outcome, found.item and found.item.kind) == ("not_shown", "turn")
    await memory.say("who painted the blue boat?", 9)
    assert (await explain(memory, "who painted the blue boat", "who painted the blue boat?")).outcome == "never_stored"
