"""A question is told as unknown where nothing shown answers it, though it comes near."""

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.results.memory import Excerpt
from kenobot.cognitive.recall.results.render import render_search as render
from kenobot.storage.message_rows import MessageRow
from tests.unit.cognitive.recall.house import Memory


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (("Hannah invests in us", "My own phone number is 600 123 456"), "What is Hannah's phone number?"),
        (("Nora vive en Vigo",), "¿Qué edad tiene Nora?"),
        (("Our Otto is 11", "Otto plays rugby"), "When is Otto's birthday?"),
        (("Iván juega al pádel",), "¿Cómo se apellida Iván?"),
        (("jugamos cuatro: Emilio, Paco, Santos y yo", "Emilio está sordo"), "¿Qué edad tiene Emilio?"),
        (("Javier vive en Alemania, en Stuttgart",), "¿Cómo se llama la mujer de Javier?"),
        (("Belén vive en Zaragoza desde hace 46 años",), "¿En qué calle vive Belén?"),
        (("Belén moved on 2026-03-08, 30 years old",), "What street does Belén live on?"),
    ],
)
async def test_what_only_comes_near_is_shown_and_told_as_unknown(
    memory: Memory, told: tuple[str, ...], question: str
) -> None:
    """It stands in the prompt below the warning that it may be no answer."""
    for text in told:
        await memory.learn(text)
    pack = await memory.recall(question)
    assert pack.memories
    assert pack.level == "none"
    assert pack.answer_probability is not None and pack.answer_probability < DEFAULT.recall.none_below
    assert render(pack).startswith("_What follows may only come near")


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Hannah's phone number is 600 123 456", "What is Hannah's phone number?"),
        ("Nora tiene 11 años", "¿Qué edad tiene Nora?"),
        ("Otto's birthday is on 3 May", "When is Otto's birthday?"),
        ("Iván Robles juega al pádel", "¿Cómo se apellida Iván?"),
        ("Amparo es mi supervisora", "¿Quién es Amparo?"),
        ("Emilio cumple siete en mayo", "¿Qué edad tiene Emilio?"),
        ("Emilio is our seven-year-old", "How old is Emilio?"),
        ("Javier y Anke se casaron en Stuttgart", "¿Cómo se llama la mujer de Javier?"),
        ("Belén vive en Mayor 46", "¿En qué calle vive Belén?"),
    ],
)
async def test_what_may_hold_the_answer_is_not_told_as_unknown(memory: Memory, told: str, question: str) -> None:
    await memory.learn(told)
    assert (await memory.recall(question)).level != "none"


async def test_a_question_asked_before_is_no_answer(memory: Memory) -> None:
    await memory.learn("Sam sells our software")
    await memory.say("How much did Sam earn, 4000 euros?", inbox=7)
    assert (await memory.recall("How much does Sam earn?")).level == "none"


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How much does Sam earn?", True),
        ("cuánto gana Sam", True),
        ("And Sam? Where does he work?", True),
        ("Who is Sam? He sells our software.", False),
        ("what Sam earns is 4000", False),
        ("Sam gana bien", False),
    ],
)
def test_a_turn_that_only_asks_tells_nothing(text: str, asks: bool) -> None:
    """With a mark or without, one question or several; one that has a figure may tell it."""
    assert _said(text).only_asks == asks


async def test_what_is_left_of_a_genitive_finds_nothing(memory: Memory) -> None:
    """The brother's name is not told by what belongs to others."""
    await memory.learn("the interview's been moved to the 30th")
    assert not (await memory.recall("What is my brother's name?")).memories


def _said(text: str) -> Excerpt:
    turn = MessageRow(1, "c-1", "user", text, "2026-03-05T10:00:00Z", 1, "owner", "owner", "owner", False, "1", "Ana")
    return Excerpt(turn, 0.5, (), f"- 2026-03-05 was said: {text}", 10)


@pytest.mark.parametrize(
    ("told", "question", "unknown"),
    [
        (("Call the dentist about the bill", "My landlord is called Piers"), "what's my dentist called?", True),
        (("I have a dentist appointment on Thursday at 10", "My vet is Dr Aranda"), "who is my dentist?", True),
        (("Our school is near the park", "My landlord is called Piers"), "what's our school called?", True),
        (("Llamar al dentista por la factura", "Mi casero se llama Piers"), "¿cómo se llama mi dentista?", True),
        (("Tengo cita con el dentista el jueves", "Me llamo Tomás"), "como se llama mi dentista", True),
        (("La peluquera cobra 25 euros", "Mi casero se llama Piers"), "¿cómo se llama mi peluquera?", True),
        (("Call the dentist about the bill", "My dentist is Dr Almeida"), "what's my dentist called?", False),
        (("Call Piers about the rent", "My landlord is called Piers"), "what's my landlord called?", False),
        (("Our school is near the park", "Our school is Manor House"), "what's our school called?", False),
        (("Tengo cita con la dentista el jueves", "Mi dentista es Almeida"), "¿quién es mi dentista?", False),
        (("Mi gata duerme mucho", "Mi gata se llama misu"), "¿cómo se llama mi gata?", False),
    ],
)
async def test_the_name_of_another_is_no_answer(
    memory: Memory, told: tuple[str, ...], question: str, unknown: bool
) -> None:
    """Nor is a call or an appointment a name."""
    for text in told:
        await memory.learn(text)
    assert ((await memory.recall(question)).level == "none") == unknown
