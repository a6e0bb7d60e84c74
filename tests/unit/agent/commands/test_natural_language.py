"""Plain words about memory: heard when they are nothing else, and never where they are not meant."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.agent.commands.natural_language import _PHRASES, match_command, match_without_model, parse_answer
from tests.cost import assert_bounded
from tests.unit.agent.commands import natural_language_corpus as corpus

_LEAST_RECALL = 0.95


def test_the_corpus_is_large_enough() -> None:
    """So that a measure of it says something."""
    sentences = [*corpus.FORGET, *corpus.EVERYTHING, *corpus.TELL, *corpus.OTHER]
    assert len(sentences) == len(set(sentences))
    assert len(sentences) >= 250
    assert len(corpus.OTHER) >= 130


def test_wishes_are_heard() -> None:
    """At least 95 of 100, each as what it is."""
    wanted = [(text, "forget") for text in corpus.FORGET]
    wanted += [(text, "forget_all") for text in corpus.EVERYTHING] + [(text, "tell") for text in corpus.TELL]
    missed = [text for text, kind in wanted if (wish := match_command(text)) is None or wish.kind != kind]
    assert 1 - len(missed) / len(wanted) >= _LEAST_RECALL, missed


def test_nothing_else_is_heard() -> None:
    """Not one sentence that means something else, but for those that depend on what memory has."""
    found = [(text, match_command(text)) for text in corpus.OTHER]
    assert [text for text, wish in found if wish is not None and wish.kind != "forget_known"] == []


@pytest.mark.parametrize(
    ("text", "about", "language"),
    [
        ("Forget that I live in Paris.", "i live in paris", "en"),
        ("forget the spare key", "the spare key", "en"),
        ("olvida la llave de repuesto", "la llave de repuesto", "es"),
        ("forget what I told you about my salary", "my salary", "en"),
        ("erase my phone number from memory", "my phone number", "en"),
        ("Olvida que vivo en Madrid", "vivo en madrid", "es"),
        ("olvida todo lo que te he dicho de mi jefe", "mi jefe", "es"),
        ("borra mi teléfono de tu memoria", "mi telefono", "es"),
    ],
)
def test_what_is_to_be_forgotten(text: str, about: str, language: str) -> None:
    """Without the words around it, in the language of the wish."""
    wish = match_command(text)
    assert wish is not None
    assert (wish.kind.removesuffix("_known"), wish.topic, wish.language) == ("forget", about, language)


@pytest.mark.parametrize(
    ("text", "kind", "language"),
    [
        ("Why do you think that?", "why", "en"),
        ("how do you know?", "why", "en"),
        ("¿Por qué crees eso?", "why", "es"),
        ("¿Cómo lo sabes?", "why", "es"),
        ("undo that", "undo", "en"),
        ("no, take it back", "undo", "en"),
        ("deshaz eso, por favor", "undo", "es"),
        ("Deshazlo", "undo", "es"),
    ],
)
def test_without_a_model_it_may_be_asked_why_and_told_to_undo(text: str, kind: str, language: str) -> None:
    """In plain words, which a model would have answered itself."""
    wish = match_without_model(text)
    assert wish is not None
    assert (wish.kind, wish.language) == (kind, language)
    assert match_command(text) is None


@pytest.mark.parametrize(
    "text", ["why is the sky blue?", "undo the top button", "por qué llueve", "deshaz la maleta", ""]
)
def test_without_a_model_nothing_else_is_such_a_wish(text: str) -> None:
    """Questions and orders about other things stay what they are."""
    assert match_without_model(text) is None


def test_a_long_message_is_no_wish() -> None:
    """And costs nothing to look at, however it is made."""
    for text in ("forget that I " + "live " * 50_000, "hey, " * 400 + "forget my x", "forget that i " + "and, " * 400):
        assert_bounded(match_command, text)
    assert match_command("forget that I live " + "x" * 300) is None


@pytest.mark.parametrize(
    "text", ["yes", "Yes!", "ok", "sí", "Si, por favor", "vale", "do it", "👍", "claro", "Go ahead."]
)
def test_a_yes(text: str) -> None:
    """In both languages, whatever its marks."""
    assert parse_answer(text) == "yes"


@pytest.mark.parametrize("text", ["no", "No.", "no, gracias", "cancel", "mejor no", "never mind", "déjalo", "don't"])
def test_a_no(text: str) -> None:
    """So is a no."""
    assert parse_answer(text) == "no"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("12", {12}),
        ("#12", {12}),
        ("12 y 14", {12, 14}),
        ("#12, #14 and 15", {12, 14, 15}),
        ("el 3", {3}),
        ("1, 2", {1, 2}),
    ],
)
def test_numbers(text: str, numbers: set[int]) -> None:
    """One or several."""
    assert parse_answer(text) == frozenset(numbers)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes but later",
        "not now",
        "maybe",
        "12 eggs please",
        "no idea",
        "what?",
        "yes " * 40,
        "12:30",
        "no sé",
        "si vienes",
    ],
)
def test_no_answer(text: str) -> None:
    """Anything more than an answer is a message like any other."""
    assert parse_answer(text) is None


@given(st.data())
def test_every_wish_has_one_of_the_words_that_are_looked_for_first(data: st.DataObject) -> None:
    """Whatever a pattern matches would not be compiled for otherwise."""
    phrases = data.draw(st.sampled_from(list(_PHRASES.values())))
    pattern, known = data.draw(
        st.sampled_from(
            [(phrases.tell, phrases.tell_words)]
            + [(pattern, phrases.forget_words) for pattern in (*phrases.forget, *phrases.loose)]
        )
    )
    text = data.draw(st.from_regex(re.compile(pattern.pattern), fullmatch=True))
    assert any(word in text for word in known), text
