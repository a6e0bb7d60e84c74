"""A question is open for one person, in one session, until it is answered, replaced or expired."""

from datetime import timedelta

from kenobot.storage import approvals
from kenobot.storage.approvals import Approval, close_approval, find_approval, open_approval
from kenobot.storage.database import Database
from kenobot_testing.clock import START
from tests.samples import rows

_ASKED = Approval("fake-1", "42", "forget", {"records": [1, 2], "about": "el té 🍵"}, START + timedelta(hours=1))


async def test_a_question_waits_for_the_person_it_was_put_to(database: Database) -> None:
    """It comes back as it went in, with its account, in its session only."""
    number = await database.write(lambda c: open_approval(c, _ASKED))
    found = await database.read(lambda c: find_approval(c, "fake-1", START))
    assert found is not None
    assert (found.id, found.account, found.kind) == (number, "42", "forget")
    assert (found.payload, found.expires) == (_ASKED.payload, _ASKED.expires)
    assert await database.read(lambda c: find_approval(c, "fake-2", START)) is None


async def test_a_question_expires(database: Database) -> None:
    """After its time a yes means nothing."""
    await database.write(lambda c: open_approval(c, _ASKED))
    assert await database.read(lambda c: find_approval(c, "fake-1", _ASKED.expires)) is None


async def test_a_question_is_answered_once(database: Database) -> None:
    """Whoever closes it second learns that it was closed."""
    number = await database.write(lambda c: open_approval(c, _ASKED))
    assert await database.write(lambda c: close_approval(c, number, "approved"))
    assert not await database.write(lambda c: close_approval(c, number, "denied"))
    assert await database.read(lambda c: find_approval(c, "fake-1", START)) is None


async def test_a_new_question_replaces_the_open_one(database: Database) -> None:
    """A yes can mean one thing only."""
    await database.write(lambda c: open_approval(c, _ASKED))
    second = await database.write(lambda c: open_approval(c, _ASKED))
    assert await rows(database, "SELECT id, state FROM approval ORDER BY id") == [(1, "replaced"), (second, "open")]


async def test_expired_questions_are_dropped_after_a_week(database: Database) -> None:
    """What may still be answered stays."""
    await database.write(lambda c: open_approval(c, _ASKED))
    await approvals.prune(database, START + timedelta(days=7))
    assert await rows(database, "SELECT id FROM approval") == [(1,)]
    await approvals.prune(database, START + timedelta(days=8))
    assert await rows(database, "SELECT id FROM approval") == []
