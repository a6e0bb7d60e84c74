"""A note's words are the person's, with the marks that belong to them."""

from datetime import date

import pytest

from kenobot.language.facts.heuristic import Message, extract_facts, read_messages

SAID = date(2026, 11, 28)


@pytest.mark.parametrize(
    "text",
    [
        "my favourite band is Wham!",
        "I work at Yahoo!",
        "my favourite show is Jeopardy!",
        'My favourite song is "Help!"',
        "my cat is called 'foo'",
        "my favourite language is C#",
        'my favourite film is "what?"',
        "mi canción favorita es «¿Por qué te vas?»",
        "¡Me caso en mayo!",
        "my startup is called Foo Inc.",
        "my dog's name is Bo...",
        "My blood type is A-",
        'my monitor is 27"',
        "I love sushi :)",
        "I'm allergic to nuts!",
    ],
)
def test_the_last_sign_stays(text: str) -> None:
    """What may belong to the last word is kept with it."""
    assert [fact.text for fact in extract_facts(text, SAID)] == [text]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I live in Lyon.", "I live in Lyon"),
        ("I live in Lyon, ", "I live in Lyon"),
        ('remember "I live in Lyon"', "I live in Lyon"),
        ("can you remember that my locker is 14?", "my locker is 14"),
        ("¡Recuerda que me caso en mayo!", "me caso en mayo!"),
        ("I live   in\tLyon", "I live in Lyon"),
        ("I live in  no, \nLyon", "I live in no, Lyon"),
    ],
)
def test_what_is_the_sentences_own_goes(text: str, kept: str) -> None:
    """A full stop, a comma, the mark of the wish, a pair of quotes around it all, and blanks but one."""
    assert [fact.text for fact in extract_facts(text, SAID)] == [kept]


def test_a_passage_keeps_its_last_sign() -> None:
    """Sentences that are noted together end as they were written."""
    text = "We met at a concert in Leeds. It was Wham!"
    assert [fact.text for fact in extract_facts(f"remember: {text}", SAID)][-1].endswith("Wham!")


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("Priya is my sister", "her bday is 3 May"),
        ("Mi hermana se llama Ana", "su cumple es el 3 de mayo"),
        ("My dog is Rex", "he eats twice a day"),
        ("Tom is my brother!", "his number is 07700 900123"),
        ("I have a son", "he's called Bo"),
        ("Mi jefe es Luis", "su teléfono es 600 123 123"),
    ],
)
def test_a_pronoun_keeps_its_person(before: str, told: str) -> None:
    """The sentence that names them stands before it, and no word is put into the speaker's mouth."""
    [fact] = read_messages([Message(told, SAID, before=before)], ())
    mark = "" if before.endswith("!") else "."
    assert fact.text == f"{before}{mark} {told}"


def test_a_pronoun_is_of_nobody_in_a_sentence_that_names_none() -> None:
    """What was said of tea is not what "his" means."""
    [fact] = read_messages([Message("his bday is 3 May", SAID, before="I like tea")], ())
    assert fact.text == "his bday is 3 May"
