"""Looking for what is new costs by what is new, however much has happened before."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.store import events, tiers
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory, put_record

_OLD = 2_000
_STEPS = 400  # of SQLite's machine, for a few events; one for each old event would be far more

Look = Callable[[Connection, int], object]


def _steps(connection: Connection, look: Callable[[], object]) -> int:
    """How many steps of SQLite's machine a look takes."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection.set_progress_handler(count, 1)
    try:
        look()
    finally:
        connection.set_progress_handler(None, 1)
    return taken


@pytest.mark.parametrize(
    "look",
    [
        events.record_ids_touched_since,
        tiers.former_tiers,
        pattern_rows.is_touched_since,
        lambda connection, _: events.last_record_event(connection),
    ],
    ids=["touched_since", "former_tiers", "patterns touched_since", "last_touch"],
)
def test_old_events_are_not_read(look: Look) -> None:
    """After two thousand of them as after none."""
    with open_memory() as memory:
        record = put_record(memory, "a fact").id
        for number in range(_OLD):
            at = START + timedelta(seconds=number)
            events.add_event(memory, at, "sleep", "moved", record=record, data={"was": {"tier": "core"}})
        upto = events.last_event(memory)
        events.add_event(memory, START, "model", "extracted")
        events.add_event(memory, START, "sleep", "moved", record=record, data={"was": {"tier": "daily"}})
        events.add_event(memory, START, "recall", "recalled", data={"records": [record]})
        assert _steps(memory, lambda: look(memory, upto)) < _STEPS
        assert events.record_ids_touched_since(memory, upto) == [record]
        assert tiers.former_tiers(memory, upto) == {record: {"daily"}}
        assert events.last_record_event(memory) == upto + 2


def test_a_pattern_is_touched_by_what_is_said_of_it_and_by_being_shown() -> None:
    """A fact that changes or is shown is no pattern; a record that is gone may have been one."""
    with open_memory() as memory:
        fact = put_record(memory, "a fact").id
        pattern = put_record(memory, "a → b", form="procedure").id

        def touched(**event: object) -> bool:
            before = events.last_event(memory)
            events.add_event(memory, START, "a test", str(event["kind"]), **event["told"])  # type: ignore[arg-type]
            return pattern_rows.is_touched_since(memory, before)

        assert touched(kind="worked", told={"record": pattern})
        assert touched(kind="recalled", told={"data": {"records": [fact, pattern]}})
        assert not touched(kind="reworded", told={"record": fact})
        assert not touched(kind="recalled", told={"data": {"records": [fact]}})
        assert not touched(kind="extracted", told={"data": {"turns": 3}})
        memory.execute("DELETE FROM record WHERE id = ?", (pattern,))
        assert touched(kind="purged", told={"record": pattern})
