"""What makes one note of a message of several sentences, and what a later sentence takes from it."""

from datetime import date

import pytest

from kenobot.language.facts.heuristic import Message, extract_facts, read_messages
from kenobot.language.sentences import without_sentence

SAID = date(2026, 10, 5)  # a Monday


def _texts(said: str) -> list[str]:
    return [fact.text for fact in extract_facts(said, SAID)]


@pytest.mark.parametrize(
    "text",
    [
        "I accepted the turkey. Collect it on the 21st of December, he'll have it plucked",
        "Gate code at the surgery is 2908. Eileen changed it after the incident with the cleaner",
        "Le prometí a Iván que le paso la ITV al coche. Es un Ibiza viejo, pero va como la seda",
        "mi tutora de practicas se llama consuelo. taquilla 118. candado 4071",
    ],
)
def test_what_means_little_alone_is_noted_with_what_is_around_it(text: str) -> None:
    """One note, in the words of the message."""
    assert _texts(f"{text}.") == [text]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("Me llamo Ana. Soy alérgica a las nueces.", ["Me llamo Ana", "Soy alérgica a las nueces"]),
        ("My brother Tom lives in Leeds and is a vet.", ["My brother Tom lives in Leeds and is a vet"]),
        ("I live in Lyon. I'm vegan.", ["I live in Lyon", "I'm vegan"]),
        ("The dentist is on Tuesday. The vet is on Friday.", ["The dentist is on Tuesday", "The vet is on Friday"]),
        ("I live in Hull with Tom. He is a nurse. I'm vegan.", ["I live in Hull with Tom. He is a nurse", "I'm vegan"]),
        ("wifi at home: mofeta22\nthe key is under the pot", ["wifi at home: mofeta22", "the key is under the pot"]),
        ("Mañana tengo dentista; por cierto, mi jefa se llama Eva", ["Mañana tengo dentista", "mi jefa se llama Eva"]),
    ],
)
def test_what_stands_for_itself_is_noted_apart(text: str, notes: list[str]) -> None:
    """So that one can be put right or forgotten without the other."""
    assert _texts(text) == notes


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("Hola! Mi hermana se llama Lucía. ¿Qué tiempo hace?", ["Mi hermana se llama Lucía"]),
        ("Good morning. My sister is called Kate. What's the weather like?", ["My sister is called Kate"]),
        ("What time is it? My sister is called Kate.", ["My sister is called Kate"]),
        ("Apunta. El código del portal es 1174.", ["El código del portal es 1174"]),
    ],
)
def test_greetings_and_questions_are_no_part_of_a_note(text: str, notes: list[str]) -> None:
    """Nor is the wish to note it."""
    assert _texts(text) == notes


def test_a_long_message_is_noted_in_several_passages() -> None:
    """Each of what its speaker turns to, and none longer than what can be read at a glance."""
    mother = "My mother moved to Seville last month. She lives on Calle Feria now. Her new phone is 600 11 22 33"
    father = "My father stays in Madrid until June. He works at the airport. They see each other on weekends"
    sister = (
        "My sister Clara is getting married on 12 June. "
        "The wedding is in Toledo, at the old mill by the river below the castle"
    )
    assert _texts(f"{mother}. {father}. {sister}.") == [mother, father, sister]
    assert all(len(text) <= 300 for text in _texts("The boiler in Hull leaks again and Kate knows who mends it. " * 12))


def test_a_passage_is_due_on_its_earliest_day() -> None:
    """Where the days are of one thing."""
    [fact] = extract_facts("Aoife is coming home for Christmas. Lands in Dublin on 19 December at 05:40.", SAID)
    assert dict(fact.attributes) == {"due": "2026-12-19"}


def _against(said: str, *known: str) -> list[tuple[str, tuple[tuple[int, str], ...], tuple[tuple[int, str], ...]]]:
    found = read_messages([Message(said, SAID)], known)
    return [(fact.text, fact.verdicts, fact.ended_parts) for fact in found]


def test_what_ends_names_the_sentence_that_it_ends() -> None:
    """The others stand."""
    known = "Ensayo con el coro los martes. La directora es Maruja. Llevo yo las partituras"
    said = "Ya no ensayo con el coro los martes"
    assert _against(said, known) == [(said, ((1, "contradiction"),), ((1, "Ensayo con el coro los martes"),))]


def test_a_correction_in_the_same_message_is_noted_with_what_it_corrects() -> None:
    """No text is put together from two sentences: both are noted, in the order in which they were said."""
    said = "El fontanero cobra 95 euros. Perdón, son 85, no 95."
    assert _texts(said) == [said.rstrip(".")]


@pytest.mark.parametrize("remark", ["Done. Brain is soup", "Sky is green", "odio los lunes y todavia es domingo"])
def test_a_remark_is_no_fact_of_somebody(remark: str) -> None:
    """Whatever stands at the head of its sentence."""
    assert _texts(remark) == []


@pytest.mark.parametrize(
    ("text", "sentence", "left"),
    [
        ("One is so. Two is so. Three is so", "Two is so", "One is so. Three is so"),
        ("The dinner is on Friday. It starts at 8. Ana pays", "The dinner is on Friday", "It starts at 8. Ana pays"),
        ("One is so", "One is so", ""),
        ("One is so", "Two is so", ""),
    ],
)
def test_a_sentence_goes_alone(text: str, sentence: str, left: str) -> None:
    """Taking one sentence out of a text leaves all others word for word."""
    assert without_sentence(text, sentence) == left
