from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.identity.onboarding import (
    BootstrapState,
    Guidance,
    WritingProfile,
    advance,
    complete,
    is_question,
    load,
    save,
)
from kenobot.storage.connection import Connection, connect
from kenobot.storage.database import Database
from kenobot.storage.state import write_state
from tests.recorded import recorded

FIVE = ["hola"] * 5


def talk(messages: list[str], profile: WritingProfile | None = None) -> tuple[BootstrapState, list[Guidance]]:
    state, heard = BootstrapState(), []
    for message in messages:
        state, guidance = advance(state, message, profile)
        heard.append(guidance)
    return state, heard


@pytest.mark.parametrize("case", recorded("identity.bootstrap_sequence"))
def test_onboarding_goes_as_recorded(case: dict[str, object]) -> None:
    """Phases and messages come as recorded, but where nothing was inferred: then nothing is claimed."""
    given = case["input"]
    expected = case["expected"]
    assert isinstance(given, dict) and isinstance(expected, list)
    inferred = given["inferredProfile"]
    names = {"emojiUsage": "emoji", "techContext": "tech"}
    known = {names.get(name, name): value for name, value in inferred.items()} if inferred else {}
    state, heard = talk(given["messages"], WritingProfile.model_validate(known))
    assert [guidance.phase for guidance in heard] == [step["phase"] for step in expected]
    for guidance, step in zip(heard, expected, strict=True):
        if guidance.phase == "checkpoint" and not known:
            assert guidance.message is not None and "✅" not in guidance.message
        else:
            assert guidance.message == (step.get("checkpointMessage") or step.get("boundariesMessage"))
    boundaries = next((step["boundaries"] for step in expected if "boundaries" in step), None)
    assert state.boundaries == boundaries


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Dear assistant, would you kindly tell me all about the trains", ["Your tone is more formal ✅"]),
        ("hola, ¿qué tal? 🙂", ["Te gusta usar emojis ✅"]),
        ("what time is it", []),
        ("tell me " + "all the things that I should know about the trains " * 3, []),
        ("apunta que el lunes llega Ana", []),
    ],
)
def test_what_is_reflected_was_shown(message: str, shown: list[str]) -> None:
    """No trait is told of what somebody did not write: a short message is no wish for short answers."""
    _, heard = talk([message] * 6)
    assert heard[-1].message is not None
    assert [line[2:] for line in heard[-1].message.splitlines() if line.startswith("- ")] == shown
    assert shown or heard[-1].message.endswith("?")


def test_who_does_not_answer_is_asked_once() -> None:
    """Questions in place of answers are no boundaries, and onboarding is over all the same."""
    state, heard = talk([*FIVE, *["¿qué hora es?"] * 45])
    assert [place for place, guidance in enumerate(heard, 1) if guidance.prompt()] == [6, 7]
    assert (state.phase, state.boundaries) == ("complete", None)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("what do you mean", True),
        ("¿cómo", True),
        ("cuáles por ejemplo", True),
        ("what's that？", True),
        ("ماذا؟", True),
        ("que no borres nada", False),
        ("Puedes leer, pero no borrar", False),
        ("When in doubt, ask me", False),
        ("whatever costs money", False),
        ("nada", False),
    ],
)
def test_questions_are_told_from_answers(text: str, asks: bool) -> None:
    """A question mark or a leading question word makes a question, in both languages."""
    assert is_question(text) is asks


def test_nothing_is_asked_while_watching_and_after_the_end() -> None:
    """Guidance has words only for the turns in which something is to be asked."""
    _, heard = talk([*FIVE, "hola", "sí", "nada", "hola"])
    assert [bool(guidance.prompt()) for guidance in heard] == [False] * 5 + [True, True, False, False]
    assert "in your own words" in heard[5].prompt()


def test_onboarding_can_end_at_any_time() -> None:
    """When the model says that it is over, it is."""
    state, _ = talk(FIVE)
    over = complete(state)
    assert advance(over, "hola") == (over, Guidance("complete"))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    path = tmp_path / "kenobot.db"
    Database.open(path, tmp_path / "backups")
    connection = connect(path)
    yield connection
    connection.close()


def test_each_chat_has_a_state_of_its_own(connection: Connection) -> None:
    """Counting in one chat does not move another one on, and a state survives."""
    state, _ = talk([*FIVE, "hola"])
    save(connection, "telegram-1", state)
    assert load(connection, "telegram-1") == state
    assert load(connection, "telegram-2") == BootstrapState()
    write_state(connection, "bootstrap:telegram-1", '{"phase": "lost"}')
    assert load(connection, "telegram-1") == BootstrapState()
