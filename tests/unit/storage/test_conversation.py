"""The conversation of each chat."""

from datetime import datetime, timedelta

import pytest

from kenobot.storage import conversation, prompt_prefix
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.prompt_prefix import PromptPrefix
from kenobot_testing.clock import START
from tests.samples import plan

_FRAME = PromptPrefix("fake-1", "owner chat:fake-1", "memory", "2026-02-14", 7, 3, 1, 2)


async def _talk(database: Database, session: str, count: int) -> None:
    def work(connection: Connection) -> None:
        base = connection.execute("SELECT coalesce(max(inbox_id), 0) FROM message").fetchone()[0]
        for number in range(1, count + 1):
            turn = conversation.FinishedTurn(
                session, base + number, START, f"q{number}", f"a{number}", "owner", context=f"notes {number}"
            )
            conversation.append_turn(connection, turn)

    await database.write(work)


async def test_the_end_of_a_conversation_is_read_oldest_first(database: Database) -> None:
    """The last few messages, in the order people saw them, with what the prompt carried beside them."""
    await _talk(database, "fake-1", 5)
    lines = await database.read(lambda connection: conversation.load_latest(connection, "fake-1", 3))
    assert [(line.role, line.text, line.context) for line in lines] == [
        ("assistant", "a4", ""),
        ("user", "q5", "notes 5"),
        ("assistant", "a5", ""),
    ]


async def test_a_conversation_is_read_on_from_a_message(database: Database) -> None:
    """From the given one on, at most so many."""
    await _talk(database, "fake-1", 5)
    first = (await database.read(lambda connection: conversation.load_latest(connection, "fake-1", 4)))[0].id
    lines = await database.read(lambda connection: conversation.load_since(connection, "fake-1", first, 3))
    assert [line.text for line in lines] == ["q4", "a4", "q5"]


async def test_conversations_do_not_mix(database: Database) -> None:
    """A chat sees its own messages only, even when another's stand between them."""
    for number in range(3):
        await _talk(database, "fake-1", 1)
        await _talk(database, f"fake-{number + 2}", 2)
    lines = await database.read(lambda connection: conversation.load_latest(connection, "fake-1", 100))
    assert [line.text for line in lines] == ["q1", "a1"] * 3
    assert await database.read(lambda connection: conversation.load_latest(connection, "fake-99", 100)) == []


async def test_each_side_of_a_message_is_kept_once(database: Database) -> None:
    """A turn that is told twice leaves one line."""

    def work(connection: Connection) -> None:
        for text in ("first", "second"):
            conversation.append_turn(connection, conversation.FinishedTurn("fake-1", 7, START, text, "", "owner"))

    await database.write(work)
    lines = await database.read(lambda connection: conversation.load_latest(connection, "fake-1", 10))
    assert [line.text for line in lines] == ["first"]


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT id, role, text, context, at FROM message WHERE session = ? ORDER BY id DESC LIMIT ?", ("s", 20)),
        (
            "SELECT id, role, text, context, at FROM message WHERE session = ? AND id >= ? ORDER BY id LIMIT ?",
            ("s", 5, 20),
        ),
    ],
)
async def test_reading_costs_the_same_at_any_length(database: Database, sql: str, values: tuple[object, ...]) -> None:
    """The index gives the rows in order, so that only those shown are read."""
    found = await database.read(lambda connection: plan(connection, sql, *values))
    assert "SEARCH message USING INDEX message_session" in found
    assert "TEMP B-TREE" not in found


async def test_the_queries_whose_plans_were_looked_at_are_those_that_run(database: Database) -> None:
    """Reading a long conversation takes few steps of SQLite's machine, and no more than reading a short one."""
    await _talk(database, "short", 30)
    await _talk(database, "long", 3000)

    def steps(connection: Connection, session: str) -> int:
        count = 0

        def tick() -> int:
            nonlocal count
            count += 1
            return 0

        connection.set_progress_handler(tick, 1)
        conversation.load_latest(connection, session, 20)
        conversation.load_since(connection, session, 1, 20)
        connection.set_progress_handler(None, 0)
        return count

    short, long = await database.read(lambda connection: (steps(connection, "short"), steps(connection, "long")))
    assert long <= short * 1.1


async def test_a_line_says_when_it_was_written(database: Database) -> None:
    """The moment is kept aware and to the microsecond."""
    at = START + timedelta(microseconds=5)
    turn = conversation.FinishedTurn("fake-1", 1, at, "q", "", "owner")
    await database.write(lambda connection: conversation.append_turn(connection, turn))
    [line] = await database.read(lambda connection: conversation.load_latest(connection, "fake-1", 1))
    assert datetime.fromisoformat(line.at) == at


async def test_a_session_has_one_frame(database: Database) -> None:
    """The newest one replaces the one before, and comes back whole."""
    assert await database.read(lambda c: prompt_prefix.load_prefix(c, "fake-1")) is None
    newer = PromptPrefix("fake-1", "owner", "", "2026-02-15", 9, 4, 5, 6)
    for frame in (_FRAME, newer):
        await database.write(lambda c, frame=frame: prompt_prefix.save_prefix(c, frame, None))  # type: ignore[misc]
        assert await database.read(lambda c: prompt_prefix.load_prefix(c, "fake-1")) == frame
