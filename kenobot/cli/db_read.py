"""What the command line reads from the database: read-only, from outside the running process.

Whoever can run it here can read the home's files as well: it is the owner.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from kenobot.cli import options
from kenobot.cognitive.store.scopes import Scopes, scope_filter
from kenobot.core.settings.home import Home
from kenobot.ports.errors import StoreCorrupt, StoreError

Row = dict[str, Any]


@contextmanager
def open_readonly(home: Home) -> Iterator[sqlite3.Connection]:
    """A read-only connection. Raises NothingYet, StoreCorrupt or StoreError."""
    options.require_database(home)
    try:
        connection = sqlite3.connect(f"{home.database.as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            connection.row_factory = sqlite3.Row
            yield connection
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        raise StoreError(f"{home.database} cannot be read: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise StoreCorrupt(f"{home.database} is damaged: {error}. Put back a copy from {home.backups}.") from error


def signals(
    connection: sqlite3.Connection,
    name: str | None = None,
    trace: str | None = None,
    since: datetime | None = None,
    limit: int = 100,
) -> list[Row]:
    """The last `limit` signals that fit, oldest first."""
    return _latest(
        connection,
        "select id, at, name, source, trace, payload from signal",
        [("name = ?", name), ("trace = ?", trace), ("at >= ?", sortable_timestamp(since))],
        limit,
        parsed="payload",
    )


def events(connection: sqlite3.Connection, since: datetime | None = None, limit: int = 100) -> list[Row]:
    """The last `limit` things that happened to memory, oldest first."""
    return _latest(
        connection,
        "select id, at, session, actor, type, record_id, data from event",
        [("at >= ?", sortable_timestamp(since))],
        limit,
        parsed="data",
    )


def records(connection: sqlite3.Connection, reach: Scopes) -> list[Row]:
    """The live records within `reach` that say something, by scope, then in the order they were made."""
    where, scopes = scope_filter(reach)
    columns = "id, form, scope, text, category, status, trust, confidence, seen, created, updated"
    live = "status = 'active' and form != 'box'"
    query = f"select {columns} from record where {live} and {where} order by scope, created, id"  # noqa: S608
    return [dict(row) for row in connection.execute(query, scopes)]


def _latest(
    connection: sqlite3.Connection,
    select: str,
    conditions: Sequence[tuple[str, object]],
    limit: int,
    parsed: str,
) -> list[Row]:
    where, values = _where(conditions)
    rows = [dict(row) for row in connection.execute(f"{select}{where} order by id desc limit ?", (*values, limit))]
    for row in rows:
        row[parsed] = json.loads(row[parsed] or "{}")
    return rows[::-1]


def _where(conditions: Sequence[tuple[str, object]]) -> tuple[str, list[object]]:
    asked = [(condition, value) for condition, value in conditions if value is not None]
    return (" where " + " and ".join(c for c, _ in asked) if asked else ""), [value for _, value in asked]


def sortable_timestamp(moment: datetime | None) -> str | None:
    """Comparable with stored times as text, whether these end in `Z` or in `+00:00`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") if moment else None
