from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.cognitive.identity.onboarding import (
    BootstrapState,
    Guidance,
    WritingProfile,
    advance,
    completed,
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


@pytest.mark.parametrize("with_nothing_inferred", [True, False])
@pytest.mark.parametrize("case", recorded("identity.bootstrap_sequence"))
def test_onboarding_goes_as_recorded(case: dict[str, object], with_nothing_inferred: bool) -> None:
    """Phases and messages come as recorded; messages that say nothing of the person count as nothing inferred."""
    given = case["input"]
    expected = case["expected"]
    assert isinstance(given, dict) and isinstance(expected, list)
    inferred = given["inferredProfile"]
    profile = None if with_nothing_inferred else WritingProfile()
    if inferred:
        names = {"emojiUsage": "emoji", "techContext": "tech"}
        profile = WritingProfile.model_validate({names.get(name, name): value for name, value in inferred.items()})
    state, heard = talk(given["messages"], profile)
    assert [guidance.phase for guidance in heard] == [step["phase"] for step in expected]
    messages = [step.get("checkpointMessage") or step.get("boundariesMessage") for step in expected]
    assert [guidance.message for guidance in heard] == messages
    boundaries = next((step["boundaries"] for step in expected if "boundaries" in step), None)
    assert state.boundaries == boundaries


def test_the_profile_comes_from_the_persons_own_messages() -> None:
    """Language, tone, length and emoji are what the person used."""
    message = "Dear assistant, would you kindly tell me " + "all the things that I should know about the trains " * 3
    _, heard = talk([message] * 6)
    assert heard[-1].message is not None
    assert heard[-1].message.startswith("Hey, we've had a few conversations now.")
    assert "more detailed" in heard[-1].message
    assert "more formal" in heard[-1].message
    assert "without emojis" in heard[-1].message
    _, heard = talk(["hola, ¿qué tal? 🙂"] * 6)
    assert heard[-1].message == (
        "Hey, ya llevamos varias conversaciones. He notado que:\n\n- Prefieres respuestas concisas ✅\n"
        "- Tu tono es casual y directo ✅\n- Te gusta usar emojis ✅\n\n¿Voy bien o ajusto algo?"
    )


def test_a_question_is_not_a_boundary() -> None:
    """Who asks something instead of answering is answered first and asked again."""
    state, heard = talk([*FIVE, "hola", "sí", "¿qué es push?"])
    assert (state.phase, state.boundaries) == ("boundaries", None)
    assert heard[-1].again and heard[-1].message == heard[-2].message
    assert "first" in heard[-1].prompt()
    state, guidance = advance(state, "Nunca borres mis fotos.")
    assert (state.phase, state.boundaries) == ("complete", "Nunca borres mis fotos.")
    assert guidance.prompt() == ""


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
    over = completed(state)
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
