"""Rules compare what they find in a turn with what the tags of its reply have stored, new or long known."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract.known_memories import select_told
from kenobot.ports.memory import Candidate
from kenobot.ports.turns import ConversationTurn
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory

SESSION = "telegram-1"


@pytest.fixture
def connection() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def store(connection: Connection, text: str, turn: int, *, day: int = 0) -> int:
    at = START + timedelta(days=day)
    occasion = AdmitContext(at, at.date().isoformat(), "model", SESSION, evidence=turn)
    number = admit(connection, Candidate("note", "owner", text), occasion).record
    assert number is not None
    return number


def turn(number: int, text: str, *, hidden: bool = False) -> ConversationTurn:
    return ConversationTurn(2 * number, number, text, "", START, "owner", "owner", hidden=hidden)


def found(connection: Connection, *turns: ConversationTurn) -> list[int]:
    known = select_told(connection, session=SESSION, turns=turns, policy=DEFAULT.extract)
    return [record.id for record in known]


def test_what_a_tag_stored_is_found_and_what_other_turns_said_is_not(connection: Connection) -> None:
    store(connection, "La abuela vive en Cádiz", 1)
    new = store(connection, "The dentist is in Main Street", 2)
    assert found(connection, turn(2, "Remember: the dentist is in Main Street")) == [new]


def test_an_old_memory_that_a_tag_repeated_is_found_behind_any_number_of_newer_ones(connection: Connection) -> None:
    old = store(connection, "La abuela vive en Cádiz", 1)
    for number in range(2, 40):
        store(connection, f"Project {number} has the colour number {number * 7}", number, day=1)
    assert store(connection, "La abuela vive en Cádiz", 50, day=2) == old
    assert found(connection, turn(50, "Recuerda que la abuela vive en Cádiz")) == [old]


def test_a_hidden_turn_has_no_memories(connection: Connection) -> None:
    store(connection, "La abuela vive en Cádiz", 1)
    assert found(connection, turn(1, "La abuela vive en Cádiz", hidden=True)) == []
