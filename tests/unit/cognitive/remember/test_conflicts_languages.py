"""The same value of an attribute in Spanish and English is one memory, another value takes its place."""

from collections.abc import Iterator

import pytest

from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory

_OCCASION = AdmitContext(START, "2026-02-14", "owner")


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def told(memory: Connection, *texts: str) -> list[str]:
    return [admit(memory, Candidate("note", "owner", text, source="command"), _OCCASION).action for text in texts]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Vivo en Madrid", "I live in Madrid"),
        ("I live in Madrid", "Resido en Madrid"),
        ("Vivo en Londres", "I live in London"),
        ("I moved to Paris", "Vivo en París"),
        ("Ana vive en Nueva York", "Ana lives in New York"),
        ("My favourite colour is blue", "Mi color favorito es el azul"),
        ("Mi mujer se llama Carmen", "My wife is called Carmen"),
        ("Me llamo Ana", "My name is Ana"),
    ],
)
def test_one_value_in_two_languages_is_reinforced(memory: Connection, one: str, other: str) -> None:
    """Nothing is superseded, whichever comes first."""
    assert told(memory, one, other) == ["created", "reinforced"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Vivo en Londres", "I live in Paris"),
        ("My favourite colour is blue", "Mi color favorito es el verde"),
        ("Me llamo Carmen", "My name is Ana"),
    ],
)
def test_another_value_in_the_other_language_takes_its_place(memory: Connection, one: str, other: str) -> None:
    """As it would in the same language."""
    assert told(memory, one, other) == ["created", "replaced"]


def test_what_somebody_is_takes_no_name_away(memory: Connection) -> None:
    """Of a wife there is one name, and more to tell."""
    assert told(memory, "Mi mujer se llama Carmen", "Mi mujer es alérgica al marisco") == ["created", "created"]
