"""Replies that were paid for."""

from kenobot.ports.provider import Reply, Usage
from kenobot.storage import reply_checkpoints
from kenobot.storage.database import Database
from kenobot.testing.clock import START
from tests.samples import rows

_REPLY = Reply("Hola 👋\0 <memory>x</memory>", "end_turn", "a model", Usage(1, 2, 3, 4))


async def _checkpoint(database: Database, reply: Reply = _REPLY, message: int = 1) -> None:
    await database.write(lambda c: reply_checkpoints.checkpoint(c, message, "fake-1", "trace", reply, START))


async def test_a_reply_survives_as_it_was(database: Database) -> None:
    """Text, tags, stop reason, model and cost come back, also after the turn has had its effects."""
    assert await database.read(lambda c: reply_checkpoints.saved_reply(c, 1)) is None
    await _checkpoint(database)
    assert await database.read(lambda c: reply_checkpoints.saved_reply(c, 1)) == _REPLY
    await database.write(lambda c: reply_checkpoints.mark_committed(c, 1, START, "good"))
    assert await database.read(lambda c: reply_checkpoints.saved_reply(c, 1)) == _REPLY


async def test_the_first_reply_to_a_message_counts(database: Database) -> None:
    """A second one is not kept: its effects might have been had already."""
    await _checkpoint(database)
    await _checkpoint(database, Reply("another", "end_turn"))
    assert await database.read(lambda c: reply_checkpoints.saved_reply(c, 1)) == _REPLY


async def test_a_reply_belongs_to_its_message(database: Database) -> None:
    """Nobody gets somebody else's answer."""
    await _checkpoint(database, message=1)
    assert await database.read(lambda c: reply_checkpoints.saved_reply(c, 2)) is None


async def test_a_commit_is_marked_with_its_grade(database: Database) -> None:
    """The row says when the reply had its effects and how it was graded."""
    await _checkpoint(database)
    assert await rows(database, "SELECT state, committed_at FROM turn") == [("replied", None)]
    await database.write(lambda c: reply_checkpoints.mark_committed(c, 1, START, "good"))
    assert await rows(database, "SELECT state, committed_at, grade FROM turn") == [
        ("committed", START.isoformat(), "good")
    ]
