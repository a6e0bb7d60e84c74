"""Errors are worded by their keys in either language."""

import json
import pickle

import pytest

from kenobot.ports.errors import ConfigError, StoreError, Unavailable
from kenobot.ports.sentences import (
    Sentence,
    join_sentences,
    pack,
    pack_text,
    read_catalogue,
    recognise,
    render,
    split_sentences,
    unpack,
    unpack_text,
)


def test_an_error_is_worded_by_its_key_with_its_values() -> None:
    """In English as a text, and in any language that is asked for."""
    error = ConfigError("home.unwritable", path="/nowhere")
    assert str(error) == "/nowhere cannot be written to: give it to the user who runs KenoBot."
    assert error.render("es").startswith("No se puede escribir en /nowhere: ")


@pytest.mark.parametrize(
    ("reason", "english", "spanish"),
    [
        (StoreError("database.damaged"), "damaged", "dañada"),
        (PermissionError(13, "Permission denied"), "permission denied", "permiso denegado"),
        (OSError("The disk is odd"), "the disk is odd", "THE DISK IS ODD"),
        ("plain words", "plain words", "PLAIN WORDS"),
    ],
)
def test_what_goes_wrong_within_an_error_is_worded_too(reason: object, english: str, spanish: str) -> None:
    """Another error by its own key, and words of the system without their numbers, by whatever translates them."""
    error = StoreError("files.unreadable", path="x", reason=reason)
    assert english in str(error)
    assert spanish in error.render("es", str.upper)


def test_a_sentence_of_a_plugin_stays_as_it_is() -> None:
    """Also with braces in it, and with the seconds after which a server wants to be asked again."""
    error = Unavailable("The kettle is {cold}.", 30)
    assert (str(error), error.render("es"), error.retry_after) == ("The kettle is {cold}.", "The kettle is {cold}.", 30)


def test_an_error_goes_through_another_process_whole() -> None:
    """With its key and its values."""
    error = pickle.loads(pickle.dumps(Unavailable("home.missing", retry_after=5, path="x")))
    assert (str(error), error.retry_after) == ("x does not exist: start with `kenobot setup` or `kenobot chat`.", 5)


@pytest.mark.parametrize(
    "place", ["{a._translate.__globals__}", "{a.nothing}", "{a:>999999999999}", "{a[0]}", "{a!r}", "{a:>9|x}"]
)
def test_a_text_of_others_that_looks_like_a_stored_sentence_reaches_nothing(place: str) -> None:
    """A place of it that is more than a name of a value is not filled in."""
    stored = json.dumps({"key": place, "values": {"a": "x"}})
    assert unpack_text(stored) in (place, "x")
    assert unpack_text('{"key":' * 5000) == '{"key":' * 5000


@pytest.mark.parametrize(
    ("stored", "spanish"),
    [
        ("it is new", "es nuevo"),
        ("28 says otherwise", "28 dice otra cosa"),
        ("it stands out (preference: 0.6) and states a fact", "destaca (preference: 0.6) y afirma algo"),
        ("it sums up 4 memories", "resume 4 recuerdos"),
        ("a plugin's own reason", "a plugin's own reason"),
    ],
)
def test_a_reason_that_an_earlier_version_stored_in_words_is_worded_by_its_key(stored: str, spanish: str) -> None:
    """So the history of an old home stays in the language of its reader."""
    found = recognise(stored, "reasons")
    assert (found, found.render("es") if isinstance(found, Sentence) else found) == (stored, spanish)


def test_each_reason_without_values_is_recognised() -> None:
    """By its own words."""
    plain = {key: text for key, text in read_catalogue("en").items() if key.startswith("reasons.") and "{" not in text}
    assert plain
    assert [key for key, text in plain.items() if getattr(recognise(text, "reasons"), "key", "") != key] == []


def test_a_stored_sentence_keeps_the_keys_of_its_values() -> None:
    """What it looks like is told in words, and what a person wrote stays."""
    stored = unpack_text(pack_text(Sentence("reasons.looks_like", kind=Sentence("secrets.password"))))
    assert (stored, render(stored, "es")) == ("it looks like a password", "parece una contraseña")
    assert unpack_text(pack_text(Sentence("reasons.they_said", words="kenobot.toml"))) == "they said so: kenobot.toml"


def test_mistakes_that_are_told_together_are_told_apart_again_by_their_keys() -> None:
    """So a list of them is in the language of its reader."""
    mistakes = [Sentence("mcp.silent"), Sentence("mcp.unreachable")]
    assert [render(each, "es") for each in split_sentences(join_sentences(mistakes))] == [
        render(each, "es") for each in mistakes
    ]
    assert split_sentences("one\ntwo") == ["one", "two"]


@pytest.mark.parametrize("text", ["files.unreadable", "reasons.rebuilt", '{"text": "hi"}', "a.b", "plain words."])
def test_a_text_that_is_the_key_of_a_sentence_stays_that_text(text: str) -> None:
    """It is stored apart from a sentence that is stored by its key."""
    assert unpack(json.loads(json.dumps(pack(text)))) == text
    assert unpack_text(pack_text(text)) == text
