"""Store which tools turns called, with what, and what came of it: for the owner to read."""

from datetime import datetime, timedelta
from typing import Any, Literal

from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

ToolOutcome = Literal["done", "failed", "refused", "begun"]

_KEEP_DAYS = 30
_COLUMNS = "inbox_id, number, session, tool, call, outcome, told, seconds, at"


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool call of a turn. number: of the turn's step that holds its result. told: the beginning of that.

    One that is begun is under way, or was broken off.
    """

    inbox_id: int
    number: int
    session: str
    tool: str
    call: str
    outcome: ToolOutcome
    told: str
    seconds: float
    at: datetime


def add_run(connection: Connection, run: ToolRun) -> None:
    """Store a call inside the transaction of its beginning or its result. The first result of a step counts."""
    connection.execute(
        f"INSERT INTO tool_run ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "outcome = excluded.outcome, told = excluded.told, seconds = excluded.seconds WHERE outcome = 'begun'",
        (
            *(run.inbox_id, run.number, run.session, run.tool, run.call, run.outcome, run.told, run.seconds),
            run.at.isoformat(),
        ),
    )


def runs_of_turn(connection: Connection, inbox_id: int) -> list[ToolRun]:
    """Return the calls of a turn in their order."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM tool_run WHERE inbox_id = ? ORDER BY number", (inbox_id,))
    return [_load(row) for row in rows]


def latest_runs(connection: Connection, most: int, tool: str = "") -> list[ToolRun]:
    """Return the latest calls, the newest first. tool: of this tool alone."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM tool_run WHERE ? IN ('', tool) ORDER BY at DESC, number DESC LIMIT ?", (tool, most)
    )
    return [_load(row) for row in rows]


def count_runs(connection: Connection, since: datetime) -> int:
    """Count the calls since a moment that were not refused."""
    sql = "SELECT count(*) FROM tool_run WHERE at >= ? AND outcome != 'refused'"
    counted: int = connection.execute(sql, (since.isoformat(),)).fetchone()[0]
    return counted


def _load(row: tuple[Any, ...]) -> ToolRun:
    *values, at = row
    return ToolRun(*(*values, datetime.fromisoformat(at)))


async def prune(database: Database, now: datetime) -> None:
    """Delete what is older than thirty days. Raises StoreError."""
    before = (now - timedelta(days=_KEEP_DAYS)).isoformat()
    await database.write_soon(lambda connection: connection.execute("DELETE FROM tool_run WHERE at < ?", (before,)))
