"""Spanish or English?"""

import re
from string import Formatter

import pytest

from kenobot.core import texts
from kenobot.core.i18n import Language, Text, find_language, guess_language, talk_language
from kenobot.ports.memory_changes import UndoError
from tests.cases import each
from tests.cost import assert_bounded
from tests.sources import find_modules


@pytest.mark.parametrize(
    "text",
    [
        "Hola, ¿qué tal?",
        "recuerda que mi perro se llama Toby",
        "RECUERDA QUE VIVO EN MADRID",
        "¿Kubernetes?",
        "mañana",
        "gracias",
        "Prefiero respuestas cortas, por favor",
        "el meeting es a las cinco",
        "He cancelado Netflix",
        "Mira esta carta",
        "Lee la carta",
        "abre el enlace",
        "revisa este correo",
        "esta noche",
        "léeme la de ayer",
        "mándamelo ya",
    ],
)
def test_spanish_is_recognised(text: str) -> None:
    """From small words and Spanish signs, also in capitals and with a foreign word in it."""
    assert guess_language(text) == "es"


@pytest.mark.parametrize(
    "text",
    [
        "Hello, how are you?",
        "remember that my dog is called Toby",
        "thanks!",
        "What does 'mañana' mean in the song?",
        "I live in Los Angeles and work on the weekend",
        "read this letter",
        "send me a pizza",
        "Mira called",
    ],
)
def test_english_is_recognised(text: str) -> None:
    """Also with a Spanish word in it."""
    assert guess_language(text) == "en"


@pytest.mark.parametrize("text", ["", "   ", "123 + 4", "👍", "Kubernetes", "你好", "مرحبا", "\ud83d"])
@pytest.mark.parametrize("default", ["en", "es"])
def test_what_speaks_for_neither_gets_the_default(text: str, default: Language) -> None:
    """There is nothing to guess from."""
    assert guess_language(text, default) == default


@each(
    "text",
    [
        "no problem",
        "no",
        "no, 5pm",
        "no wait, Max",
        "Pizza Friday",
        "error: timeout",
        "buy: tomatoes, rice",
        "todo: call bank, pay gas bill",
        "todo",
        "hotel Max",
        "final",
        "me",
        "a",
        "animal",
        "no, mejor a las 5",
        "El Paso trip",
        "Los Angeles trip in May",
        "La La Land",
        "The Hague",
        "Black Friday",
        "jalapeños, 2 kg",
        "Mira Sorvino",
        "Mira and Lee",
        "Jérôme",
        "Ángela",
        "el show",
        "“¿dónde vivo?”",
    ],
)
def test_words_that_both_languages_have_tell_neither(text: str) -> None:
    """Nor does one small word that stands in names of the other, or what is quoted."""
    assert find_language(text) is None


@pytest.mark.parametrize(
    ("said", "replies", "language"),
    [
        (["me too", "soy Ana"], [], "en"),
        (["no", "pizza", "soy Ana", "I live in Rome"], ["This is what I remember:"], "es"),
        (["no", "Max"], ["I'll remember: “el pan de la abuela y los huevos”."], "en"),
        (["no", "Max"], ["Lo recordaré: «the bread of my aunt and the eggs»."], "es"),
        (["no", "Max"], [], None),
    ],
)
def test_a_talk_keeps_the_language_of_what_was_said_last(
    said: list[str], replies: list[str], language: Language | None
) -> None:
    """Where a person said nothing of either language, that of the answers, without what these quote."""
    assert talk_language(said, replies) == language


def test_a_long_text_is_not_read_to_its_end() -> None:
    """A megabyte costs no more than its beginning."""
    assert_bounded(guess_language, "the cat and the dog " * 100_000)


def gaps(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def test_the_names_in_use_are_those_of_the_catalogue() -> None:
    """A misspelt name, or a sentence that nothing says, does not pass."""
    used = {name for path in find_modules() for name in re.findall(r"\btexts\.([A-Z_]+)", path.read_text("utf-8"))}
    assert used == texts.SENTENCES.keys()
    with pytest.raises(AttributeError, match="NO_SUCH_SENTENCE"):
        texts.NO_SUCH_SENTENCE  # noqa: B018 - the access is what is tested


def test_an_error_in_a_sentence_is_worded_in_its_language() -> None:
    """By its key, as a command says why it could not do something."""
    said = texts.UNDO_HINDERED("es", why=UndoError("memory.no_change", event=9))
    assert said == "No puedo deshacer eso: No hay ningún cambio 9: `kenobot memory log` los muestra."


@each("sentence", texts.SENTENCES.values())
def test_every_sentence_is_said_in_both_languages(sentence: Text) -> None:
    """They differ, have the same gaps, and no gap is left once they are filled; only a list takes more than a line."""
    english, spanish = sentence
    assert english != spanish or gaps(english)
    assert gaps(english) == gaps(spanish)
    languages: tuple[tuple[Language, str], ...] = (("en", english), ("es", spanish))
    for language, text in languages:
        assert text == text.strip()
        assert "\n" not in text or "lines" in gaps(text)
        filled = sentence(language, **{name: f"[{name}]" for name in gaps(text)})
        assert not set("{}%") & set(filled)
        assert all(f"[{name}]" in filled for name in gaps(text))
