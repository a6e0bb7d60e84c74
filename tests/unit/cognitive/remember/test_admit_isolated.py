"""What is taken into memory out of a turn, each piece by itself."""

import logging
import sqlite3
from datetime import UTC, datetime

import pytest

from kenobot.cognitive.remember import fact_candidates
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.errors import StoreError
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.signals import describe_written
from kenobot.storage.connection import Connection, in_savepoint
from kenobot.storage.database import Database

_AT = AdmitContext(datetime(2026, 2, 14, 14, 30, tzinfo=UTC), "2026-02-14", "test", "fake-1")


def _note(connection: Connection, value: str) -> None:
    connection.execute("INSERT INTO key_value (key, value) VALUES (?, ?)", (value, value))


async def test_a_mistake_takes_back_its_own_writes_alone(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    """What else the transaction writes stays, and the log tells of it."""
    caplog.set_level(logging.ERROR)

    def work(connection: Connection) -> str:
        _note(connection, "before")

        def clumsy() -> str:
            _note(connection, "within")
            raise KeyError("slip")

        said = in_savepoint(connection, "reaction", clumsy, lambda error: type(error).__name__)
        _note(connection, "after")
        return said

    assert await database.write(work) == "KeyError"
    assert await database.read(
        lambda c: c.execute("SELECT key FROM key_value WHERE key = value ORDER BY key").fetchall()
    ) == [("after",), ("before",)]
    assert "a reaction could not be taken in" in caplog.text


@pytest.mark.parametrize("kind", [sqlite3.DatabaseError, sqlite3.OperationalError])
async def test_a_failing_disk_costs_the_whole_transaction(database: Database, kind: type[Exception]) -> None:
    """Else half a turn would be on disk."""

    def work(connection: Connection) -> str:
        _note(connection, "before")

        def failing() -> str:
            raise kind("disk I/O error")

        return in_savepoint(connection, "memory", failing, lambda _: "passed over")

    with pytest.raises(StoreError):
        await database.write(work)
    assert await database.read(lambda c: c.execute("SELECT 1 FROM key_value WHERE key = 'before'").fetchall()) == []


async def test_a_candidate_that_cannot_be_written_is_discarded(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason; one beside it is kept."""

    def clumsy(connection: Connection, candidate: Candidate, occasion: AdmitContext) -> Decision:
        decision = admit(connection, candidate, occasion)
        if "slip" in candidate.text:
            raise KeyError("slip")
        return decision

    monkeypatch.setattr(fact_candidates, "admit", clumsy)
    facts = [Candidate("note", "owner", text) for text in ("likes slip-on shoes", "likes green tea")]
    decisions = await database.write(lambda c: [fact_candidates.admit_isolated(c, each, _AT) for each in facts])
    assert [each.action for each in decisions] == ["discarded", "created"]
    assert decisions[0].reason == "KeyError: 'slip'"
    assert await database.read(lambda c: c.execute("SELECT text FROM record").fetchall()) == [("likes green tea",)]


def test_a_decision_is_announced_with_what_it_is_about() -> None:
    """The record's number with the words, and where they belong."""
    told = describe_written(Candidate("note", "owner", "a fact"), Decision("created", "new", 7))
    assert told == {
        "action": "created",
        "reason": "new",
        "record": 7,
        "form": "note",
        "scope": "owner",
        "text": "a fact",
    }
