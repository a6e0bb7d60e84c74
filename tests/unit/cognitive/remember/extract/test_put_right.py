"""A value that was just told is put right in few words."""

from datetime import date

import pytest

from kenobot.cognitive.remember.extract.changes import KnownStatement
from kenobot.cognitive.remember.extract.heuristic import Message, extract_facts, needs_before, read_messages

_SAID = date(2026, 6, 1)


@pytest.mark.parametrize(
    ("told", "correction", "instead"),
    [
        ("My favourite colour is green", "Actually no, it's blue", "My favourite colour is blue"),
        ("My favourite colour is green", "no wait, it's dark blue", "My favourite colour is dark blue"),
        ("Mi color favorito es el verde", "no, perdona, es el azul", "Mi color favorito es el azul"),
        ("My boss is called Bob", "Sorry, I meant Rob", "My boss is called Rob"),
        ("Vivo en Madrid", "bueno, en realidad en Getafe", "Vivo en Getafe"),
        ("el wifi es fabada1", "corrección: fabada2", "el wifi es fabada2"),
    ],
)
def test_few_words_put_right_what_the_message_before_told(told: str, correction: str, instead: str) -> None:
    known = [KnownStatement(fact.text) for fact in extract_facts(told, _SAID)]
    assert needs_before(correction)
    (fact,) = read_messages([Message(correction, _SAID, 2, told)], known)
    assert (fact.text, fact.verdicts) == (instead, ((1, "contradiction"),))


@pytest.mark.parametrize(
    "said", ["no, it's fine", "no, es broma", "actually it's raining", "sorry, it's late", "no, es que estoy cansado"]
)
def test_remarks_put_nothing_right(said: str) -> None:
    known = [KnownStatement("My favourite colour is green")]
    facts = read_messages([Message(said, _SAID, 2, known[0].text)], known)
    assert not any(fact.verdicts for fact in facts)


def test_what_was_not_told_right_before_stays() -> None:
    known = [KnownStatement("My favourite colour is green")]
    assert not read_messages([Message("Actually no, it's blue", _SAID, 2, "what a day")], known)


def test_a_message_that_puts_itself_right_tells_the_right_value_alone() -> None:
    facts = extract_facts("My favourite colour is green. Actually no, it's blue.", _SAID)
    assert [fact.text for fact in facts] == ["My favourite colour is blue"]
