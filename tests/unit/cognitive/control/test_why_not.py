"""Why something was not remembered: which of the four it was."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.cognitive.control.find import OverlapSieve, _beginning, word_overlap
from kenobot.cognitive.control.why_not import explain_absence
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.language.words import stems, words
from kenobot.ports.explanations import AbsenceExplanation, ReplyExplanation, UsedMemory
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from tests.cases import each
from tests.sources import ROOT
from tests.unit.cognitive.recall.house import REACH, ZONE, Memory, insert, open_memory


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


async def test_what_was_in_view_comes_before_what_only_repeats_it(memory: Memory) -> None:
    """A summary of the chat that was made after the answer, and a newer memory of the same, are not what was meant."""
    shown = await memory.learn("The dentist is Dr. Ruiz, in Calle Feria 12", days_ago=3)
    await memory.learn("The dentist moved to another street", days_ago=1)
    text = "My sister Carmen. My dentist is Dr. Ruiz, in Calle Feria 12. I am allergic to penicillin."
    summary = await memory.learn(text, days_ago=-1, form="summary", category="session")
    for wanted in ("that my dentist is Dr. Ruiz", "dentist"):
        found = await explain(memory, wanted, "who is my dentist?", shown)
        assert (found.outcome, found.item and found.item.number) == ("unused", shown), wanted
    found = await explain(memory, "allergic to penicillin", "who is my dentist?", shown)
    assert (found.outcome, found.item and found.item.number) == ("not_eligible", summary)


async def test_a_memory_older_than_thousands_with_the_same_words_is_found(memory: Memory) -> None:
    """What is stored is never said not to be, however large memory is; also what ended long ago."""
    jar = await memory.learn("the garden jar of Señora Ibáñez is behind the compost", days_ago=900)
    gone = await memory.learn("the garden fountain was drained by Señor Núñez", days_ago=900)
    await memory.change(gone, "archived", status="archived")

    def crowd(connection: Connection) -> None:
        for number in range(2100):
            text = f"the garden señal {number} was seen by the compost"
            insert(connection, text, {}, memory.now - timedelta(days=800 - number // 4))

    await memory.database.write(crowd)
    while await memory.database.read(memory.index.index_backlog):
        pass
    found = await explain(memory, "the jar of señora ibañez is behind the compost", "where is the moon?")
    assert (found.outcome, found.item and found.item.number) == ("not_shown", jar)
    found = await explain(memory, "the fountain was drained by señor núñez", "where is the moon?")
    assert (found.outcome, found.reason, found.item and found.item.number) == ("not_eligible", "archived", gone)


@each("least", [0.3, 0.5, 0.6, 1.0])
def test_a_text_that_says_enough_passes_the_letters_it_is_sifted_by(least: float) -> None:
    """In every language, the sieve measures as the words do, and keeps nothing that says less."""
    said = [*_SAID, *(line for line in (ROOT / "docs/memory.md").read_text("utf-8").splitlines() if line)]
    for request in _SAID:
        sieve = OverlapSieve(request, least)
        for text in said:
            whole = word_overlap(request, text)
            assert sieve.measure(text) == (whole if whole >= least else 0.0), (request, text)


def test_a_stem_keeps_the_beginning_of_its_word() -> None:
    """Of every word that the repository's pages and tables of words hold, in all scripts."""
    files = [*(ROOT / "docs").glob("*.md"), *(ROOT / "kenobot/language").glob("*.toml")]
    found = {word for file in files for word in words(file.read_text("utf-8"))} | {"dying", "lying", "cries", "using"}
    assert len(found) > 5000
    assert [word for word in found if not all(_beginning(stem) in word for stem in stems(word))] == []


_SAID = [
    "Ana keeps bees in Lugo",
    "¿Guardaba Ana abejas en Lugo el AÑO pasado?",
    "she was dying her hair and lying about it",
    "he lies, and the colours die",
    "¡Qué frío hacía en Ávila! 🐝 y C++ no es C",
    "昨日は東京で友達に会いました",
    "東京の友達",
    "Анна держала пчёл в Луго",
    "الكتاب على الطاولة",
    "using the skis of 2026-01-02, at 7:30",
]
