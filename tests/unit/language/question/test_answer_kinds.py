"""What a question asks for besides its words, and what a memory holds, in Spanish and English."""

import pytest

from kenobot.language.dates import calendar_names
from kenobot.language.question import answers, relations
from kenobot.language.question.question import parse_question
from kenobot.language.words import fold


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("¿Cuándo es la boda?", {"time"}),
        ("When does the lease end?", {"time"}),
        ("¿Cuánto cuesta el billete?", {"number"}),
        ("Who fixed the boiler?", {"person"}),
        ("¿Dónde guardo las llaves?", {"place"}),
        ("¿Qué hago cuando se va la luz?", set()),
        ("I met Ana at the station. What did she say?", set()),
    ],
)
def test_a_question_says_what_kind_of_answer_it_wants(question: str, wanted: set[str]) -> None:
    """By the words it opens with, not by any that comes later."""
    assert answers.classify_kinds(question) == wanted


@pytest.mark.parametrize(
    ("question", "fits", "fails"),
    [
        ("Who fixed the boiler?", "The boiler was fixed by Ramón", "the boiler is old"),
        ("¿Cuánto mide la mesa?", "La mesa mide 180 centímetros", "La mesa es de roble"),
        ("When is the wedding?", "The wedding is on 4 October", "The wedding is small"),
        ("¿Dónde está la llave?", "La llave está en el cajón", "La llave es dorada"),
    ],
)
def test_a_memory_that_holds_such_an_answer_fits(question: str, fits: str, fails: str) -> None:
    """One that holds none does not; and where no kind is asked for, none is worse than another."""
    wanted = answers.classify_kinds(question)
    assert answers.kind_score(wanted, fits) == 1
    assert answers.kind_score(wanted, fails) == 0
    assert answers.kind_score(answers.classify_kinds("What about it?"), fits) == answers.kind_score(
        answers.classify_kinds("What about it?"), fails
    )


@pytest.mark.parametrize(
    "text", ["Never suggest camping", "Odio el cilantro", "¿Qué no debo cocinar?", "I quit smoking"]
)
def test_what_is_turned_down_is_told(text: str) -> None:
    """Also where it is said by a verb, and not where nothing of it is said."""
    assert answers.is_negative(text)
    assert not answers.is_negative("I like walks, me gusta pasear")


def test_days_and_months_are_the_same_in_both_languages() -> None:
    """So that a question in one finds what was told in the other; "may" and "march" are words as well."""
    assert (
        calendar_names(fold("on Thursdays in October")) == calendar_names(fold("los jueves de octubre")) != frozenset()
    )
    assert calendar_names(fold("they may march")) == frozenset()


@pytest.mark.parametrize(
    ("text", "bond"),
    [
        ("¿A qué escuela va la niña?", "daughter"),
        ("May the cat go out?", "cat"),
        ("¿Dónde reside mamá?", "mother"),
        ("Who do I report to?", "boss"),
        ("¿De quién dependo?", "boss"),
        ("What does my flatmate study?", "flatmate"),
    ],
)
def test_who_is_meant_without_a_name_is_told(text: str, bond: str) -> None:
    """By what one calls them, at home also without "my"."""
    assert bond in [each.words[0] for each in relations.find_relationships(text)]


@pytest.mark.parametrize(
    ("text", "bonds"),
    [
        ("¿Cómo se llama mi suegra?", ["mother-in-law"]),
        ("What is my mother-in-law called?", ["mother-in-law"]),
        ("the girl of the shop", []),
    ],
)
def test_somebody_of_another_bond_is_not(text: str, bonds: list[str]) -> None:
    """A mother-in-law is no mother, and a stranger no daughter."""
    assert [bond.words[0] for bond in relations.find_relationships(text)] == bonds


@pytest.mark.parametrize("piece", ["a", "a ", "? ", "¿", "A", "Aa", "the new ", "José ", "in charge of ", "Mi jefe "])
def test_a_message_that_is_all_one_word_is_read_through_once(piece: str) -> None:
    """Nothing goes over the rest again at every place: with 200,000 characters that would take minutes."""
    text = piece * (200_000 // len(piece))
    assert answers.classify_kinds(text) <= {"time", "number", "person", "place"}
    assert answers.is_negative(text) is False
    assert len(parse_question(text).words) <= 8
    assert len(relations.find_relationships(text)) <= 3
    assert len(relations.name_in([text], ("boss", "jefe"))) <= len(text)
