"""The log of tool calls is read the newest first, and kept for a month."""

from datetime import UTC, datetime, timedelta

from kenobot.storage import tool_runs
from kenobot.storage.database import Database
from kenobot.storage.tool_runs import ToolRun

_AT = datetime(2026, 2, 14, 9, tzinfo=UTC)


def _run(number: int, at: datetime) -> ToolRun:
    return ToolRun(1, number, "telegram-1", "do", f"do {number}", "done", "42", 0.1, at)


async def test_calls_are_dropped_after_a_month(database: Database) -> None:
    """What is thirty days old goes, the rest stays and counts for its day."""
    for number, days in ((1, 31), (3, 1), (5, 0)):
        run = _run(number, _AT - timedelta(days=days))
        await database.write(lambda connection, run=run: tool_runs.add_run(connection, run))  # type: ignore[misc]
    await tool_runs.prune(database, _AT)
    left = await database.read(lambda connection: tool_runs.latest_runs(connection, 10))
    assert [run.number for run in left] == [5, 3]
    assert await database.read(lambda connection: tool_runs.count_runs(connection, _AT)) == 1
