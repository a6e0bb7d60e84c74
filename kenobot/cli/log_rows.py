"""Rows of the audit log and of the memory event log, as the command line shows them."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any


def signals(
    connection: sqlite3.Connection, name: str | None, trace: str | None, since: datetime | None, limit: int
) -> list[dict[str, Any]]:
    """The last `limit` signals that fit, oldest first."""
    conditions = [("name = ?", name), ("trace = ?", trace), ("at >= ?", sortable_timestamp(since))]
    return _latest(
        connection, "select id, at, name, source, trace, payload from signal", conditions, limit, parsed="payload"
    )


def memory_events(connection: sqlite3.Connection, since: datetime | None, limit: int) -> list[dict[str, Any]]:
    """The last `limit` events of memory, oldest first."""
    select = "select id, at, session, actor, type, record_id, data from event"
    return _latest(connection, select, [("at >= ?", sortable_timestamp(since))], limit, parsed="data")


def sortable_timestamp(moment: datetime | None) -> str | None:
    """Comparable with stored times as text, whether these end in `Z` or in `+00:00`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") if moment else None


def _latest(
    connection: sqlite3.Connection, select: str, conditions: Sequence[tuple[str, object]], limit: int, parsed: str
) -> list[dict[str, Any]]:
    given = [(condition, value) for condition, value in conditions if value is not None]
    where = f" where {' and '.join(condition for condition, _ in given)}" if given else ""
    values = [*(value for _, value in given), limit]
    rows = [dict(row) for row in connection.execute(f"{select}{where} order by id desc limit ?", values)]
    for row in rows:
        row[parsed] = json.loads(row[parsed] or "{}")
    return rows[::-1]
