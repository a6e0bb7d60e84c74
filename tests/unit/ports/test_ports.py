"""Session ids: fit for a file name, and never shared."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.identity import is_session_id, session_id, user_scope
from tests.cases import each
from tests.recorded import CONFORMANCE

_CASES = CONFORMANCE / "kenobot.jsonl"
_ids_recorded = pytest.mark.skipif(not _CASES.exists(), reason="the conformance cases are not beside this repository")

_HOSTILE = [
    "../../etc/passwd",
    "..",
    ".",
    "/",
    "a/b",
    "a\\b",
    "a\nb",
    "\n",
    "\0",
    "-1001234567890",
    str(2**63),
    str(-(2**63)),
    "",
    " ",
    "-",
    "--",
    "ñandú",
    "n\u0303andu",
    "你好",
    "👩‍👩‍👧",
    "\ud83d",
    "x" * 128,
    "x" * 129,
    "x" * 100_000,
    "y" * 100_000,
    "a b",
    "a_b",
    "a.b",
    "CON",
    "~",
    "$(rm -rf ~)",
    "%2e%2e",
    "\u202e\u200b",
]


def _cases(area: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in _CASES.read_text("utf-8").splitlines()]
    return [row for row in rows if row["area"] == area]


@each("chat", _HOSTILE)
def test_any_chat_id_gives_a_safe_session(chat: str) -> None:
    """It is a file name of letters, digits, hyphens and underscores, and stays the same."""
    session = session_id("telegram", chat)
    assert is_session_id(session)
    assert session.startswith("telegram")
    assert Path("chats", session, "MEMORY.md").parts == ("chats", session, "MEMORY.md")
    assert session_id("telegram", chat) == session


@pytest.mark.parametrize("chat", ["123456789", "-1001234567890", str(2**63), "local", "A_b-3"])
def test_an_ordinary_chat_id_stays_legible(chat: str) -> None:
    """A person finds the chat's folder by its number."""
    assert session_id("telegram", chat) == f"telegram-{chat}"


def test_a_uuid_stays_legible() -> None:
    """Its last group looks like a short hash, and is not one."""
    chat = "http-550e8400-e29b-41d4-a716-446655440000"
    assert session_id("http", chat) == f"http-{chat}"


def test_two_chats_never_share_a_session() -> None:
    """Of all pairs of channel and chat id, with hyphens and hostile characters in either."""
    channels = ["telegram", "a", "a-b", "a-b-c", "ñ", "", "-"]
    chats = [*_HOSTILE, "b-c", "c", "b", "-c"]
    pairs = list(itertools.product(channels, chats))
    assert len({session_id(*pair) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize("chat", ["../../etc/passwd", "a b", "", "\n", "x" * 300])
def test_nobody_can_choose_the_session_of_another(chat: str) -> None:
    """Whoever picks their own chat id cannot pick the hashed form of somebody else's."""
    theirs = session_id("http", chat)
    mine = theirs.removeprefix("http-")
    assert session_id("http", mine) != theirs or mine == chat


def test_a_person_and_a_chat_are_named_alike_but_never_mixed() -> None:
    """The scope of a person's memory is safe in the same way."""
    assert user_scope("telegram", "42") == "user:telegram-42"
    assert is_session_id(user_scope("telegram", "../42").removeprefix("user:"))


@pytest.mark.parametrize("text", ["telegram-1", "a", "_", "-", "x" * 128])
def test_what_names_a_session(text: str) -> None:
    """Letters, digits, hyphens and underscores, 128 at most."""
    assert is_session_id(text)


@pytest.mark.parametrize("text", ["", "a.b", "../x", "a b", "ñ", "a\n", "x" * 129, "a/b", "\0", "١"])
def test_what_does_not(text: str) -> None:
    """Nothing that a file system might understand otherwise."""
    assert not is_session_id(text)


@_ids_recorded
def test_valid_ids_are_those_of_the_original() -> None:
    """Every recorded case, but for length: a file name has an end, so a long chat id gets a hashed session."""
    cases = _cases("session.id_valid")
    assert len(cases) == 7
    for case in cases:
        text, expected = case["input"], case["expected"] is True
        if isinstance(text, dict):
            text = text["repeat"] * text["times"]
            assert not is_session_id(text)
            assert is_session_id(session_id("telegram", text))
            continue
        assert is_session_id(text) == expected, text


@_ids_recorded
def test_ids_are_built_as_in_the_original() -> None:
    """`channel-chat`, where the webhook channel puts `http-` before what it was given."""
    cases = _cases("session.id_format")
    assert len(cases) == 4
    for case in cases:
        channel, _, note = case["input"]["channel"].partition(" ")
        chat = case["input"]["chatId"] or "<uuid4>"
        given = chat if note == "(no chat_id)" or not note else f"{channel}-{chat}"
        if "<" in given:
            given, expected = given.replace("<uuid4>", "550e8400-e29b-41d4-a716-446655440000"), case["expected"]
            assert session_id(channel, given) == expected.replace("<uuid4>", given)
        else:
            assert session_id(channel, given) == case["expected"]
