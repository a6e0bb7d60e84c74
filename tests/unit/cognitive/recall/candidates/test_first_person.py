"""A question about a speaker is compared with what was said as the speaker would put it."""

import pytest

from kenobot.cognitive.recall.candidates.by_meaning import as_speakers_say
from kenobot.language.question.search_terms import in_first_person
from tests.unit.cognitive.recall.house import HERE, Memory
from tests.unit.cognitive.recall.index.test_conversation_rows import talk_of

NAMES = {"ann", "jose", "mary lou", "mary"}


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What did Ann cook?", "What did I cook?"),
        ("Where is Ann's sister?", "Where is my sister?"),
        ("Where is Ann’s sister?", "Where is my sister?"),
        ("What do both Ann and Mary Lou like?", "What do both I and I like?"),
        ("¿Qué estudia José en Lima?", "¿Qué estudia yo en Lima?"),
        ("Ann?", "?"),
        ("When did Annabel leave?", "When did Annabel leave?"),
    ],
)
def test_names_of_speakers_become_pronouns(question: str, asked: str) -> None:
    """In English and Spanish; in a message that tells no language the name is left out, and other names stay."""
    assert in_first_person(question, NAMES) == asked


async def test_only_speakers_within_reach_are_put_so(memory: Memory) -> None:
    """Whoever is spoken of keeps the name, and so does everybody where nobody's talk is searched."""
    await talk_of(memory, ["Ann Smith: I saw Bob", "Carl: Where?"])
    await memory.recall("Bob?")

    assert as_speakers_say(memory.index, None, "Did Ann see Bob?") == "Did I see Bob?"
    assert as_speakers_say(memory.index, [HERE], "Did Ann Smith see Bob?") == "Did I see Bob?"
    assert as_speakers_say(memory.index, ["chat:another"], "Did Ann see Bob?") == "Did Ann see Bob?"


async def test_a_long_message_is_compared_as_it_stands(memory: Memory) -> None:
    """It is hardly a question about somebody."""
    await talk_of(memory, ["Ann: Hello dear friend"])
    await memory.recall("friend?")
    long = "Did Ann say hello? " + "There is more to tell. " * 20
    assert as_speakers_say(memory.index, None, long) == long
