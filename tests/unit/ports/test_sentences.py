"""Errors are worded by their keys in either language."""

import pickle

import pytest

from kenobot.ports.errors import ConfigError, StoreError, Unavailable
from kenobot.ports.sentences import Sentence, pack_text, render, unpack_text


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


def test_a_stored_sentence_keeps_the_keys_of_its_values() -> None:
    """What it looks like is told in words, and what a person wrote stays."""
    stored = unpack_text(pack_text(Sentence("reasons.looks_like", kind=Sentence("secrets.password"))))
    assert (stored, render(stored, "es")) == ("it looks like a password", "parece una contraseña")
    assert unpack_text(pack_text(Sentence("reasons.they_said", words="kenobot.toml"))) == "they said so: kenobot.toml"
