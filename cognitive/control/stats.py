"""How much memory holds: for a person who looks after it."""

from typing import TypedDict

from kenobot.cognitive.store.scopes import Scopes, scope_filter
from kenobot.storage.connection import Connection


class MemoryStats(TypedDict):
    """by_status counts every record, by_scope and by_form the live ones. mean_confidence: of the live ones, undecayed.

    oldest, newest: when the first and the last of the live ones were said.
    """

    records: int
    by_status: dict[str, int]
    by_scope: dict[str, int]
    by_form: dict[str, int]
    mean_confidence: float
    oldest: str | None
    newest: str | None
    events: int
    links: int
    messages: int
    tombstones: int


def collect_stats(connection: Connection, reach: Scopes) -> MemoryStats:
    """The figures of what is within `reach`."""
    by_status: dict[str, int] = {}
    by_scope: dict[str, int] = {}
    by_form: dict[str, int] = {}
    for status, scope, form, count in _counts(connection, reach):
        by_status[status] = by_status.get(status, 0) + count
        if status == "active":
            by_scope[scope] = by_scope.get(scope, 0) + count
            by_form[form] = by_form.get(form, 0) + count
    mean, oldest, newest = _spread(connection, reach)
    events, links, messages, tombstones = _sizes(connection, reach)
    return MemoryStats(
        records=sum(by_status.values()),
        by_status=by_status,
        by_scope=by_scope,
        by_form=by_form,
        mean_confidence=round(mean, 4),
        oldest=oldest,
        newest=newest,
        events=events,
        links=links,
        messages=messages,
        tombstones=tombstones,
    )


def _counts(connection: Connection, reach: Scopes) -> list[tuple[str, str, str, int]]:
    """How many records there are: by status, scope and form."""
    where, scopes = scope_filter(reach)
    return connection.execute(
        f"SELECT status, scope, form, count(*) FROM record WHERE {where} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3", scopes
    ).fetchall()


def _spread(connection: Connection, reach: Scopes) -> tuple[float, str | None, str | None]:
    """Mean confidence of live records, and when the first and the last of them were made."""
    where, scopes = scope_filter(reach)
    row = connection.execute(
        "SELECT avg(confidence), min(created), max(created) FROM record "
        f"WHERE status = 'active' AND form != 'box' AND {where}",
        scopes,
    ).fetchone()
    return float(row[0] or 0.0), row[1], row[2]


def _sizes(connection: Connection, reach: Scopes) -> tuple[int, int, int, int]:
    """How many events, links, messages and tombstones there are of what is within `reach`."""
    where, scopes = scope_filter(reach)
    mine = f"(SELECT id FROM record WHERE {where})"
    sums = (
        f"SELECT count(*) FROM event WHERE record_id IN {mine}",
        f"SELECT count(*) FROM link WHERE src IN {mine}",
        f"SELECT count(*) FROM message WHERE {where}",
        f"SELECT count(*) FROM tombstone WHERE {where}",
    )
    events, links, messages, tombstones = (int(connection.execute(sql, scopes).fetchone()[0]) for sql in sums)
    return events, links, messages, tombstones
