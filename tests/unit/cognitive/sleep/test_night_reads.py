"""The reads of a night go by indexes, in proportion to the records, and never write."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from kenobot.cognitive.sleep.night import MEMORY_PRUNER, NIGHT
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import endings
from kenobot.cognitive.store import events
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.cases import each
from tests.memory_rows import open_memory, put_record
from tests.nights import view

_NIGHT = START + timedelta(days=400)


def _asked(connection: Connection, statement: str) -> list[str]:
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]


@contextmanager
def _memory(size: int) -> Iterator[Connection]:
    """A memory of guesses, explicit facts, unimportant facts and core facts, none of which was used for a year."""
    with open_memory() as connection:
        connection.execute("BEGIN")
        for number in range(size):
            put_record(
                connection,
                f"fact {number}",
                confidence=(0.3, 0.6, 0.95)[number % 3],
                trust=("model", "owner")[number % 2],
                importance=0.2 + (number % 5) / 10,
                tier=("daily", "archive", "core")[number % 50 // 24],
                category=("fact", "commitment")[number % 100 // 99],
                use_count=number % 4,
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
        list(endings.EXPIRY.plan(view(connection, _NIGHT)))
        connection.execute("UPDATE record SET expires = ? WHERE id = ?", (stamp(START), record.id))
        list(endings.EXPIRY.plan(view(connection, _NIGHT)))
        connection.set_trace_callback(None)
        asked = [statement for statement in statements if "'undone'" in statement]
        assert asked
        assert all("event_record" in line for statement in asked for line in _asked(connection, statement))


def _steps(one: Pass, size: int) -> int:
    """Thousands of steps of SQLite's that planning a pass takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with _memory(size) as connection:
        connection.set_progress_handler(count, 1_000)
        list(one.plan(view(connection, _NIGHT)))
        connection.set_progress_handler(None, 1_000)
    return steps


@pytest.mark.parametrize("one", MEMORY_PRUNER, ids=lambda one: one.name)
def test_a_pass_costs_in_proportion_to_the_records(one: Pass) -> None:
    """Five times the records take at most some seven times the steps."""
    assert _steps(one, 2_500) <= 7 * _steps(one, 500) + 5


@each("one", NIGHT)
def test_planning_never_writes(one: Pass) -> None:
    """A pass plans the same on a connection that cannot write."""
    with _memory(200) as connection:
        planned = list(one.plan(view(connection, _NIGHT)))
        connection.execute("PRAGMA query_only = ON")
        assert list(one.plan(view(connection, _NIGHT))) == planned
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("DELETE FROM record")
