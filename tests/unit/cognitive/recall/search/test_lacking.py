"""A question is told as unknown where nothing shown may hold the answer of the type that it asks for."""

import pytest

from kenobot.cognitive.recall.results.render import render_search as render
from tests.unit.cognitive.recall.house import Memory


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (("Hannah invests in us", "My own phone number is 600 123 456"), "What is Hannah's phone number?"),
        (("Nora vive en Vigo",), "¿Qué edad tiene Nora?"),
        (("Our Otto is 11", "Otto plays rugby"), "When is Otto's birthday?"),
        (("Iván juega al pádel",), "¿Cómo se apellida Iván?"),
    ],
)
async def test_what_only_comes_near_is_shown_and_told_as_unknown(
    memory: Memory, told: tuple[str, ...], question: str
) -> None:
    """It stands in the prompt below the warning that it probably is no answer."""
    for text in told:
        await memory.learn(text)
    pack = await memory.recall(question)
    assert pack.memories
    assert (pack.level, pack.answer_probability) == ("none", 0.0)
    assert render(pack).startswith("_Memory probably does not hold")


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Hannah's phone number is 600 123 456", "What is Hannah's phone number?"),
        ("Nora tiene 11 años", "¿Qué edad tiene Nora?"),
        ("Otto's birthday is on 3 May", "When is Otto's birthday?"),
        ("Iván Robles juega al pádel", "¿Cómo se apellida Iván?"),
        ("Amparo es mi supervisora", "¿Quién es Amparo?"),
    ],
)
async def test_what_may_hold_the_answer_is_not_told_as_unknown(memory: Memory, told: str, question: str) -> None:
    await memory.learn(told)
    assert (await memory.recall(question)).level != "none"


async def test_a_question_asked_before_is_no_answer(memory: Memory) -> None:
    await memory.learn("Sam sells our software")
    await memory.say("How much did Sam earn, 4000 euros?", inbox=7)
    assert (await memory.recall("How much does Sam earn?")).level == "none"
