"""Count what memory holds, for its owner."""

from collections import Counter
from typing import TypedDict

from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_filter, scope_names


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
    """Count what is within `reach`."""
    where, scopes = scope_filter(reach)
    by_status: Counter[str] = Counter()
    by_scope: Counter[str] = Counter()
    by_form: Counter[str] = Counter()
    sql = f"SELECT status, scope, form, count(*) FROM record WHERE {where} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    for status, scope, form, count in connection.execute(sql, scopes):
        by_status[status] += count
        if status == "active":
            by_scope[scope] += count
            by_form[form] += count
    mean, oldest, newest = connection.execute(
        "SELECT avg(confidence), min(created), max(created) FROM record "
        f"WHERE status = 'active' AND form != 'box' AND {where}",
        scopes,
    ).fetchone()

    def count_rows(table: str, condition: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}", scopes).fetchone()[0])

    in_reach = f"(SELECT id FROM record WHERE {where})"
    return MemoryStats(
        records=by_status.total(),
        by_status=dict(by_status),
        by_scope=dict(by_scope),
        by_form=dict(by_form),
        mean_confidence=round(mean or 0.0, 4),
        oldest=oldest,
        newest=newest,
        events=count_rows("event", f"record_id IN {in_reach}"),
        links=count_rows("link", f"src IN {in_reach}"),
        messages=message_rows.count_messages(connection, scope_names(reach)),
        tombstones=count_rows("tombstone", where),
    )
