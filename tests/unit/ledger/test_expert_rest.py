"""An expert that fails is left alone, for longer each time, also after a restart."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.ledger.expert_rest import ExpertRest
from kenobot.storage.database import Database
from kenobot_testing.clock import ManualClock


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    yield database
    await database.close()


async def fail(rest: ExpertRest, times: int) -> None:
    for _ in range(times):
        await rest.record_failure()


async def test_three_failures_in_a_row_begin_a_rest(database: Database) -> None:
    """After five minutes one call finds out, and another one waits for what comes of it."""
    clock = ManualClock()
    rest = ExpertRest(database, clock, "queries")
    await fail(rest, 2)
    await rest.record_success()
    await fail(rest, 2)
    assert await rest.is_over()
    await fail(rest, 1)
    assert not await rest.is_over()
    clock.advance(301)
    assert await rest.is_over()
    assert not await rest.is_over()
    await rest.record_success()
    assert await rest.is_over()


async def test_each_rest_is_twice_as_long_up_to_a_day(database: Database) -> None:
    """A model that never learns is asked about once a day."""
    clock = ManualClock()
    rest = ExpertRest(database, clock, "queries")
    await fail(rest, 3)
    clock.advance(301)
    await fail(rest, 1)
    clock.advance(301)
    assert not await rest.is_over()
    clock.advance(300)
    assert await rest.is_over()
    await fail(rest, 60)
    clock.advance(86_399)
    assert not await rest.is_over()
    clock.advance(2)
    assert await rest.is_over()


async def test_a_clock_that_is_set_back_makes_no_rest_longer_than_a_day(database: Database) -> None:
    """What a wrong clock wrote does not silence an expert for years."""
    wrong = ManualClock()
    wrong.advance(400 * 86_400)
    await fail(ExpertRest(database, wrong, "queries"), 3)
    assert await ExpertRest(database, ManualClock(), "queries").is_over()


async def test_a_restart_forgets_nothing(database: Database) -> None:
    """The failures of each expert are kept under its name."""
    clock = ManualClock()
    await fail(ExpertRest(database, clock, "queries"), 3)
    assert not await ExpertRest(database, clock, "queries").is_over()
    assert await ExpertRest(database, clock, "rerank").is_over()
    clock.advance(301)
    again = ExpertRest(database, clock, "queries")
    assert await again.is_over()
    await again.record_success()
    assert await ExpertRest(database, clock, "queries").is_over()


async def test_success_after_success_writes_nothing(database: Database) -> None:
    """What is asked for every message costs no commit of its own."""
    rest = ExpertRest(database, ManualClock(), "queries")
    assert await rest.is_over()
    await rest.record_success()
    stored = await database.read(lambda connection: connection.execute("SELECT count(*) FROM key_value").fetchone()[0])
    assert stored == 0
