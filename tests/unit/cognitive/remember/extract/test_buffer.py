"""Turns wait as rows behind a cursor; and tokens are set aside before they are used."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kenobot.agent.prompt.speakers import message_text
from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.remember.extract.buffer import decide_extraction
from kenobot.core.pattern_set import PatternSet
from kenobot.ports.identity import Trust
from kenobot.ports.turns import ConversationTurn
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot_testing.clock import START, ManualClock
from tests.samples import inbound, plan

POLICY = ExtractPolicy()
NONE = PatternSet(())


def say(
    connection: Connection, session: str, number: int, text: str, *, trust: Trust = "owner", scope: str = "owner"
) -> None:
    """A turn as the runner stores it."""
    turn = conversation.FinishedTurn(session, number, START, text, f"re: {text}", trust, scope)
    conversation.append_turn(connection, turn)


async def test_turns_wait_until_the_cursor_has_passed_them(database: Database) -> None:
    """What was said comes out in order, a batch at a time, both sides of a turn together, each chat for itself."""

    def talk(connection: Connection) -> None:
        for number in range(1, 6):
            say(connection, "chat-1", number, f"one {number}")
        say(connection, "chat-2", 9, "two")

    await database.write(talk)
    assert await database.read(buffer.sessions_with_pending) == ["chat-1", "chat-2"]
    turns = await database.read(lambda c: buffer.pending_turns(c, "chat-1", 3))
    assert [(turn.text, turn.answer, turn.inbox_id) for turn in turns] == [
        ("one 1", "re: one 1", 1),
        ("one 2", "re: one 2", 2),
        ("one 3", "re: one 3", 3),
    ]
    assert await database.write(lambda c: buffer.advance_cursor(c, "chat-1", 0, turns[-1].last_message))
    assert not await database.write(lambda c: buffer.advance_cursor(c, "chat-1", 0, 99)), "somebody else has moved it"
    rest = await database.read(lambda c: buffer.pending_turns(c, "chat-1", 20))
    assert [turn.text for turn in rest] == ["one 4", "one 5"]
    await database.write(lambda c: buffer.advance_cursor(c, "chat-1", turns[-1].last_message, rest[-1].last_message))
    assert await database.read(buffer.sessions_with_pending) == ["chat-2"]


async def test_a_turn_knows_who_spoke_and_where_it_may_go(database: Database, clock: ManualClock) -> None:
    """Scope and trust are those of the turn; in a group its speaker is told by name, as long as anything tells it."""
    message = inbound("Vivo en Lyon\n> y cito", chat="g", private=False)
    await Inbox(database, clock).store(message, "")

    def talk(connection: Connection) -> None:
        say(connection, "chat-g", 1, message_text(message, "guest"), trust="guest", scope="chat:chat-g")
        say(connection, "chat-g", 77, "Bob: hi", trust="guest", scope="chat:chat-g")  # its mail is long gone
        say(connection, "chat-p", 78, "note: buy milk")
        say(connection, "chat-old", 79, "note: older than scopes", scope="")

    await database.write(talk)
    group = await database.read(lambda c: buffer.pending_turns(c, "chat-g", 9))
    assert [(turn.speaker, turn.text, turn.trust, turn.scope) for turn in group] == [
        ("user 1", "Vivo en Lyon\n> y cito", "guest", "chat:chat-g"),
        ("Bob", "hi", "guest", "chat:chat-g"),
    ]
    (alone,) = await database.read(lambda c: buffer.pending_turns(c, "chat-p", 9))
    assert (alone.speaker, alone.text, alone.scope) == ("", "note: buy milk", "owner")
    (old,) = await database.read(lambda c: buffer.pending_turns(c, "chat-old", 9))
    assert (old.speaker, old.text, old.scope) == ("", "note: older than scopes", "chat:chat-old")


async def test_what_is_to_be_forgotten_is_not_read(database: Database) -> None:
    """A veiled turn and an erased one are there, so that the cursor can pass them, and hidden."""

    def talk(connection: Connection) -> None:
        say(connection, "chat-1", 1, "my secret crush is Eve")
        say(connection, "chat-1", 2, "[erased]")
        say(connection, "chat-1", 3, "I live in Lyon")
        connection.execute("INSERT INTO hidden_turn (inbox_id, record_id) VALUES (1, 5)")

    await database.write(talk)
    turns = await database.read(lambda c: buffer.pending_turns(c, "chat-1", 9))
    assert [turn.hidden for turn in turns] == [True, True, False]
    hidden = [replace(turn, text="I prefer tabs") for turn in turns[:2]]
    assert decide_extraction(hidden, hidden[0].at, POLICY, NONE) == "keep_buffering"


async def test_the_next_turns_are_found_by_an_index(database: Database) -> None:
    """However long a conversation is, and however many there are, nothing is scanned."""
    statements: list[str] = []

    def work(connection: Connection) -> str:
        connection.set_trace_callback(statements.append)
        buffer.sessions_with_pending(connection)
        buffer.pending_turns(connection, "chat-1", 9)
        connection.set_trace_callback(None)
        return "".join(plan(connection, sql) for sql in statements)

    text = await database.read(work)
    assert "SCAN message" not in text.replace("USING COVERING INDEX", ""), text
    assert "message_session" in text


@pytest.mark.parametrize(
    ("text", "count", "later", "decision"),
    [
        ("I prefer tabs", 1, 0.0, "extract_now"),
        ("I usually have lunch at two", 1, 0.0, "keep_buffering"),
        ("quiero una receta", 4, 14.9, "keep_buffering"),
        ("ok", 5, 0.0, "extract_batch"),
        ("ok", 1, 15.0, "extract_batch"),
        ("I prefer tabs", 0, 99.0, "keep_buffering"),
    ],
)
def test_when_turns_are_due(text: str, count: int, later: float, decision: str) -> None:
    """At once, when there are enough, or when the oldest has waited long enough."""
    turns = [ConversationTurn(n, n, text, "", START, "owner", "owner") for n in range(count)]
    assert decide_extraction(turns, START + timedelta(minutes=later), POLICY, NONE) == decision


def test_at_once_can_be_switched_off() -> None:
    """Then only number and time count."""
    turns = [ConversationTurn(1, 1, "I prefer tabs", "", START, "owner", "owner")]
    assert decide_extraction(turns, START, POLICY, NONE) == "extract_now"
    assert decide_extraction(turns, START, ExtractPolicy(immediate=False), NONE) == "keep_buffering"
