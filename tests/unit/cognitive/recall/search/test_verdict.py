"""What memory says of its own answer is about all that a prompt holds."""

import pytest

from kenobot.cognitive.recall.results.render import render_search
from kenobot.cognitive.recall.search.on_show import ShownTexts
from kenobot.language.question.question import parse_question
from tests.unit.cognitive.recall.house import Memory

_TOLD = (
    ("The spare key lies under the flowerpot", "where does the spare key lie?"),
    ("My locker is 14", "what number is my locker?"),
    ("Mi dentista es la doctora Almeida", "¿quién es mi dentista?"),
    ("Bea's birthday is on 12 May", "when is Bea's birthday?"),
    ("La wifi se llama Nebulosa", "¿cómo se llama la wifi?"),
)


@pytest.mark.parametrize(("text", "question"), _TOLD)
async def test_a_memory_on_show_counts_as_one_that_is_found(memory: Memory, text: str, question: str) -> None:
    """Whatever else is found, the verdict is as sure as without a prompt, and nothing denies what stands there."""
    for number, (other, _) in enumerate(_TOLD, 1):
        await memory.learn(other)
        await memory.say(f"I told my friends: {other}", number, "telegram-2", scope="owner", answer="Nice.")
    alone = await memory.recall(question)
    shown = "### Recent notes\n" + "".join(f"- {other} _(2026-02-14)_\n" for other, _ in _TOLD)
    beside = await memory.recall(question, prompt_text=shown)
    assert alone.level == beside.level != "none"
    assert not beside.memories
    assert "do not guess" not in render_search(beside)


@pytest.mark.parametrize(("text", "question"), _TOLD)
async def test_the_talk_on_show_counts_too(memory: Memory, text: str, question: str) -> None:
    """It is searched like other talk, and not quoted again."""
    await memory.say(text, 1, scope="owner", answer="Noted.")
    found = await memory.recall(question, session="telegram-1", from_message=1)
    assert found.level != "none"
    assert not found.shown


@pytest.mark.parametrize(("text", "question"), _TOLD)
async def test_a_line_that_is_no_memory_counts_too(memory: Memory, text: str, question: str) -> None:
    """People write into their files by hand; a summary tells what was said."""
    await memory.learn("The flowerpot, the locker, el dentista, la wifi and a birthday are on the list of Bea")
    assert ShownTexts(f"# House\n\n{text}.\n").answer(parse_question(question))
    assert (await memory.recall(question, prompt_text=f"# House\n\n{text}.\n")).level != "none"


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("who is my dentist?", "who is my dentist?"),
        ("Call the dentist about the bill", "what's my dentist called?"),
        ("Tengo cita con el dentista el jueves", "¿cómo se llama mi dentista?"),
        ("", "who is my dentist?"),
    ],
)
def test_a_line_that_only_comes_near_answers_nothing(line: str, question: str) -> None:
    """Nor does the question itself."""
    assert not ShownTexts(f"{line}\n").answer(parse_question(question))


async def test_what_is_unknown_is_told_without_a_claim_about_the_rest_of_the_prompt(memory: Memory) -> None:
    """The model is to look at what else is shown before it says that nothing is remembered."""
    await memory.learn("Hannah likes tea")
    text = render_search(await memory.recall("What is Hannah's phone number?"))
    assert text.startswith("_What follows may only come near")
    assert "whatever else is shown here" in text
    assert "say that this is not remembered" in text
