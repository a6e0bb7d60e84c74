"""What nights read is found by indexes, and a hundred thousand memories cost seconds."""

import sqlite3
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import archival, beliefs, commitments, expiry, lifecycle, scratchpads, tiers
from kenobot.cognitive.store import events, records
from kenobot.storage.connection import Connection
from kenobot.testing.clock import START
from tests.memory_rows import open_memory, put_record
from tests.nights import view

_MANY = 5_000
_NIGHT = START + timedelta(days=400)


def _asked(connection: Connection, statement: str) -> list[str]:
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]


@pytest.fixture(scope="module")
def full() -> Iterator[Connection]:
    """A memory of guesses, said things, slight things and things at hand, none of which anybody spoke of for a year."""
    with open_memory() as connection:
        connection.execute("BEGIN")
        for number in range(_MANY):
            put_record(
                connection,
                f"fact {number}",
                confidence=(0.3, 0.6, 0.95)[number % 3],
                trust=("model", "owner")[number % 2],
                importance=0.2 + (number % 5) / 10,
                tier=("daily", "archive", "core")[number % 50 // 24],
                category=("fact", "commitment")[number % 100 // 99],
                uses=number % 4,
            )
        connection.execute("COMMIT")
        yield connection


def test_a_decision_and_its_parts_are_found_by_index() -> None:
    """However long the history is: SQLite says by which index it goes."""
    statements: list[str] = []
    with open_memory() as connection:
        root = events.add_event(connection, START, "sleep", "merged")
        part = events.add_event(connection, START, "sleep", "merged", data={"part_of": root})
        connection.set_trace_callback(statements.append)
        found = events.decision_events(connection, root)
        connection.set_trace_callback(None)
        assert [happening.id for happening in found] == [root, part]
        plans = [line for statement in statements for line in _asked(connection, statement)]
    assert any("USING INDEX event_parts" in line for line in plans)
    assert not [line for line in plans if line.startswith("SCAN")]


def test_whether_somebody_brought_something_back_is_found_by_index() -> None:
    """It is asked for each record that a pass would move."""
    statements: list[str] = []
    with open_memory() as connection:
        record = put_record(connection)
        connection.set_trace_callback(statements.append)
        list(expiry.PASS.plan(view(connection, _NIGHT)))
        connection.execute("UPDATE record SET expires = ? WHERE id = ?", (records.stamp(START), record.id))
        list(expiry.PASS.plan(view(connection, _NIGHT)))
        connection.set_trace_callback(None)
        asked = [statement for statement in statements if "'undone'" in statement]
        assert asked
        assert all("event_record" in line for statement in asked for line in _asked(connection, statement))


@pytest.mark.parametrize(
    "one",
    [expiry.PASS, commitments.PASS, archival.PASS, tiers.PASS, lifecycle.PASS, beliefs.PASS, scratchpads.PASS],
    ids=lambda one: one.name,
)
def test_a_pass_costs_no_more_than_a_share_of_a_millisecond_a_record(full: Connection, one: Pass) -> None:
    """Planned over thousands, of which many are to be moved: at 100,000 that is seconds, not minutes."""
    began = time.process_time()
    planned = sum(1 for _ in one.plan(view(full, _NIGHT)))
    spent = time.process_time() - began
    assert spent < _MANY * 0.0004, f"{planned} changes took {spent:.2f} s"


def test_reading_never_writes(full: Connection) -> None:
    """A pass may be planned on a connection that cannot write."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    full.backup(copy)
    copy.execute("PRAGMA query_only = ON")
    for one in (expiry.PASS, commitments.PASS, archival.PASS, tiers.PASS, lifecycle.PASS, beliefs.PASS):
        assert sum(1 for _ in one.plan(view(copy, _NIGHT))) >= 0
    copy.close()
