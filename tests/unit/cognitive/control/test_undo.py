"""Every change can be taken back, whole or not at all, and that too."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.control.history import get_as_of, history
from kenobot.cognitive.control.undo import can_undo, last_undoable_event, undo
from kenobot.cognitive.remember.admit import admit, correct
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import change
from kenobot.cognitive.store.events import last_event, record_events
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import UndoError
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START

NOW = AdmitContext(START, "2026-02-14", "owner", "telegram-1")
OWNER = ("owner",)


def at(hours: int) -> AdmitContext:
    return replace(NOW, at=START + timedelta(hours=hours))


def learn(connection: Connection, text: str, hours: int = 0, scope: str = "owner") -> int:
    decision = admit(connection, Candidate("note", scope, text), at(hours))
    assert decision.record is not None
    return decision.record


def row(connection: Connection, record: int) -> tuple[object, ...]:
    """A record without what only tells when it was touched."""
    found = records.get(connection, record, ("owner", "user:b"))
    assert found is not None
    return (found.text, found.status, found.valid_to, found.key, found.tier, found.category, found.attributes)


async def test_a_correction_comes_back_whole(database: Database) -> None:
    """The old words live again, the new ones do not, no supersession is left; and the undo of it restores all that."""

    def work(connection: Connection) -> None:
        old = learn(connection, "I live in Paris")
        before = row(connection, old)
        new = correct(connection, old, "I live in Lyon", OWNER, at(1)).record
        assert new is not None
        then = (row(connection, old), row(connection, new))
        event = last_undoable_event(connection, OWNER)
        assert event is not None
        done = undo(connection, event, OWNER, at(2))
        assert row(connection, old) == before
        assert row(connection, new)[1] == "invalidated"
        assert connection.execute("SELECT count(*) FROM link WHERE type = 'supersedes'").fetchone()[0] == 0
        undo(connection, done.event, OWNER, at(3))
        assert (row(connection, old), row(connection, new)) == then
        assert connection.execute("SELECT src, dst FROM link WHERE type = 'supersedes'").fetchall() == [(new, old)]

    await database.write(work)


async def test_what_changed_again_stands_in_the_way(database: Database) -> None:
    """It is named, nothing is changed, and once it is undone itself the way is free."""

    def work(connection: Connection) -> None:
        record = learn(connection, "likes tea")
        known = records.get(connection, record, OWNER)
        assert known is not None
        first = change(connection, known, "reworded", {"text": "likes green tea"}, at(1).change_context("a"))
        second = change(connection, known, "reworded", {"text": "likes black tea"}, at(2).change_context("b"))
        events = last_event(connection)
        with pytest.raises(UndoError, match=f"undo {second} first"):
            undo(connection, first, OWNER, at(3))
        assert last_event(connection) == events
        undo(connection, second, OWNER, at(3))
        undo(connection, first, OWNER, at(4))
        assert row(connection, record)[0] == "likes tea"

    await database.write(work)


async def test_bookkeeping_since_is_no_hindrance(database: Database) -> None:
    """What was only seen or used again meanwhile keeps that."""

    def work(connection: Connection) -> None:
        record = learn(connection, "likes tea a lot")
        hidden = forget(connection, record, OWNER, at(1))
        assert hidden is not None
        undo(connection, hidden.event, OWNER, at(2))
        learn(connection, "likes tea a lot", 3)
        event = record_events(connection, record)[0]
        undo(connection, event.id, OWNER, at(4))
        assert row(connection, record)[1] == "invalidated"

    await database.write(work)


async def test_two_that_say_the_same_are_never_live(database: Database) -> None:
    """What was forgotten and said anew cannot come back beside it: the hindrance is named."""

    def work(connection: Connection) -> None:
        record = learn(connection, "likes tea a lot")
        hidden = forget(connection, record, OWNER, at(1))
        assert hidden is not None
        again = learn(connection, "likes tea a lot", 2)
        assert again != record
        with pytest.raises(UndoError, match=f"#{again} says the same"):
            undo(connection, hidden.event, OWNER, at(3))
        assert row(connection, record)[1] == "forgotten"

    await database.write(work)


async def test_nobody_undoes_what_is_anothers(database: Database) -> None:
    """A number of another's change is no change; and the last change is looked for in the scopes that were named."""

    def work(connection: Connection) -> None:
        mine = learn(connection, "likes tea")
        theirs = learn(connection, "likes coffee", 1, scope="user:b")
        event = record_events(connection, theirs)[0].id
        with pytest.raises(UndoError, match="no such change"):
            undo(connection, event, OWNER, at(2))
        found = last_undoable_event(connection, OWNER)
        assert found is not None
        assert undo(connection, found, OWNER, at(2)).before[0].id == mine
        assert last_undoable_event(connection, OWNER) is None
        assert row(connection, theirs)[1] == "active"

    await database.write(work)


@pytest.mark.parametrize("event", [0, -1, 10**12])
async def test_there_is_no_such_change(database: Database, event: int) -> None:
    """Then it is said."""

    def work(connection: Connection) -> None:
        learn(connection, "likes tea")
        with pytest.raises(UndoError):
            undo(connection, event, OWNER, at(1))

    await database.write(work)


async def test_a_refusal_changed_nothing(database: Database) -> None:
    """So there is nothing to undo."""

    def work(connection: Connection) -> None:
        admit(connection, Candidate("note", "owner", "my password is hunter22xyz"), NOW)
        with pytest.raises(UndoError, match="nothing to undo"):
            undo(connection, last_event(connection), OWNER, at(1))

    await database.write(work)


async def test_history_tells_both_sides_of_each_change(database: Database) -> None:
    """Newest first, also within one moment; what was undone says so; the past can be read at any moment."""

    def work(connection: Connection) -> None:
        record = learn(connection, "likes tea")
        known = records.get(connection, record, OWNER)
        assert known is not None
        first = change(connection, known, "reworded", {"text": "likes green tea"}, at(1).change_context("a"))
        change(connection, known, "reworded", {"text": "likes black tea"}, at(1).change_context("b"))
        steps = [step for step in history(connection, record, OWNER) if step.changes]
        assert [step.changes for step in steps] == [
            (("text", "likes green tea", "likes black tea"),),
            (("text", "likes tea", "likes green tea"),),
        ]
        undo(connection, steps[0].event, OWNER, at(2))
        undo(connection, first, OWNER, at(3))
        steps = history(connection, record, OWNER)
        assert [step.undone for step in steps if step.kind == "reworded"] == [True, True]
        then = get_as_of(connection, record, START + timedelta(hours=1, minutes=30), OWNER)
        assert then is not None
        assert then.text == "likes black tea"
        assert get_as_of(connection, record, START - timedelta(hours=1), OWNER) is None
        assert history(connection, record, ("user:b",)) == []

    await database.write(work)


async def test_what_sleep_did_by_itself_is_not_what_undo_that_means(database: Database) -> None:
    """However much a night changed since, the last change of a person is found."""

    def work(connection: Connection) -> None:
        told = learn(connection, "I live in Paris")
        last = last_undoable_event(connection, OWNER)
        for number in range(60):
            record = records.get(connection, learn(connection, f"chatter {number}", 1), OWNER)
            assert record is not None
            connection.execute("UPDATE event SET actor = 'sleep' WHERE record_id = ?", (record.id,))
            change(
                connection,
                record,
                "archived",
                {"status": "archived"},
                replace(at(2), actor="sleep").change_context("old"),
            )
        assert last is not None
        assert last_undoable_event(connection, OWNER) == last
        undo(connection, last, OWNER, at(3))
        assert row(connection, told)[1] == "invalidated"
        assert last_undoable_event(connection, OWNER) is None

    await database.write(work)


async def test_what_can_be_undone_is_known_before(database: Database) -> None:
    """Of each event of a life with corrections, repeats, forgetting and undoing, exactly what an undo then does."""

    def work(connection: Connection) -> None:
        first = learn(connection, "I live in Paris")
        new = correct(connection, first, "I live in Lyon", OWNER, at(1)).record
        assert new is not None
        other = learn(connection, "likes tea", 2)
        learn(connection, "likes tea", 3)
        forget(connection, other, OWNER, at(4))
        learn(connection, "likes tea", 5)
        event = last_undoable_event(connection, OWNER)
        assert event is not None
        undo(connection, event, OWNER, at(6))
        learn(connection, "belongs to another", 7, scope="user:b")
        newest = last_event(connection)
        known = {number: can_undo(connection, number, OWNER) for number in range(newest + 2)}
        done = {}
        for number in known:
            connection.execute("SAVEPOINT trial")
            try:
                undo(connection, number, OWNER, at(8))
            except UndoError:
                done[number] = False
            else:
                done[number] = True
            connection.execute("ROLLBACK TO trial")
        assert known == done
        assert {*known.values()} == {True, False}

    await database.write(work)
