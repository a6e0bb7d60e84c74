"""Rows of the graph: links, and the records that a new one may be linked to. Every reading is bounded."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from sqlite3 import Cursor

from kenobot.cognitive.store.records import AMONG, LIVE, select_ids
from kenobot.ports.records import Link, LinkType, Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_filter

Neighbour = tuple[int, int, LinkType, float, float, str]
"""A record, another that a link joins with it, and the type, weight, confidence and `last_at` of that link."""

_COLUMNS = "src, dst, type, weight, confidence, seen, last_at"
_LINKED = ", ".join(f"link.{name}" for name in _COLUMNS.split(", "))


def get_link(connection: Connection, src: int, dst: int, type_: LinkType) -> Link | None:
    """Return one link; None when there is none."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM link WHERE src = ? AND dst = ? AND type = ?", (src, dst, type_)
    ).fetchone()
    return Link(*row) if row else None


def upsert_links(connection: Connection, made: Iterable[tuple[Link, str]]) -> None:
    """Write links of one record, new or known, each with its reason.

    A known one keeps its first time, and its reason unless there is another.
    """
    rows = [
        (each.src, each.dst, each.type, each.weight, each.confidence, each.seen, each.last_at, each.last_at, why)
        for each, why in made
    ]
    if not rows:
        return
    connection.execute(
        "INSERT INTO link (src, dst, type, weight, confidence, seen, first_at, last_at, why) "
        f"VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?, ?, ?)'] * len(rows))} ON CONFLICT (src, dst, type) DO UPDATE SET "
        "weight = excluded.weight, confidence = excluded.confidence, seen = excluded.seen, last_at = excluded.last_at, "
        "why = CASE excluded.why WHEN '' THEN why ELSE excluded.why END",
        [value for row in rows for value in row],
    )


def links_around(connection: Connection, record: int, reach: Scopes, limit: int) -> list[Link]:
    """List the links of one record, see `links_around_each`.

    Those it makes before those that lead to it, each to the newest first.
    """
    links = links_around_each(connection, [record], reach, limit).get(record, [])
    return sorted(links, key=lambda made: (made.src != record, -made.dst, -made.src))


def links_around_each(
    connection: Connection, records: Sequence[int], reach: Scopes, limit: int
) -> dict[int, list[Link]]:
    """Return links of each of these records to live records within `reach`, both ways, by record, in no order.

    At most `limit` rows a way are read of each, those to the newest records. A week's summary joins what has nothing
    but the week in common, so nothing leads to it.
    """
    found = defaultdict[int, list[Link]](list)
    for hub, *columns in _rows_around(connection, _COLUMNS, records, reach, limit):
        found[hub] += [Link(*columns)]
    return found


def neighbours_of_each(
    connection: Connection, records: Sequence[int], reach: Scopes, limit: int
) -> dict[int, list[Neighbour]]:
    """Return the neighbours of each of these records, by record, in no order. Reads what `links_around_each` reads."""
    found = defaultdict[int, list[Neighbour]](list)
    for row in _rows_around(connection, "far, type, weight, confidence, last_at", records, reach, limit):
        found[row[0]] += [row]
    return found


def _rows_around(connection: Connection, columns: str, records: Sequence[int], reach: Scopes, limit: int) -> Cursor:
    """Query the links around records: the record, then `columns` of a link with `far`, its other end."""
    where, scopes = scope_filter(reach)
    ways = " UNION ALL ".join(
        f"SELECT hub.value AS hub, {_LINKED}, link.{far} AS far FROM json_each(?) AS hub "
        f"CROSS JOIN link ON link.{near} = hub.value AND link.{far} >= coalesce("
        f"(SELECT {far} FROM link WHERE {near} = hub.value ORDER BY {far} DESC LIMIT 1 OFFSET ?), 0)"
        for near, far in (("src", "dst"), ("dst", "src"))
    )
    named = ", ".join(f"near.{name}" for name in columns.split(", "))
    return connection.execute(
        f"SELECT near.hub, {named} FROM ({ways}) AS near CROSS JOIN record ON record.id = near.far "
        f"WHERE record.status = 'active' AND record.{where} "
        "AND (record.form != 'summary' OR record.category != 'week')",
        (*(json.dumps(records), limit - 1) * 2, *scopes),
    )


def visible_ids(connection: Connection, records: Sequence[int], reach: Scopes) -> set[int]:
    """Query those of `records` that are live and within `reach`."""
    return {*select_ids(connection, f"id {AMONG} AND {LIVE}", (json.dumps(list(records)),), reach, scan_scope=False)}


def ids_about_subjects(
    connection: Connection, scope: str, subjects: Iterable[str], but: int, limit: int
) -> list[tuple[int, str]]:
    """Return the newest live records about each of `subjects`, at most `limit` in all, newest first: id and subject."""
    rows = connection.execute(
        "SELECT about.id, about.subject FROM json_each(?) AS asked CROSS JOIN record AS about ON about.id IN "
        "(SELECT id FROM record WHERE scope = ? AND subject = asked.value AND status = 'active' AND id != ? "
        "ORDER BY id DESC LIMIT ?)",
        (json.dumps([*subjects]), scope, but, limit),
    ).fetchall()
    return sorted(rows, reverse=True)[:limit]


def recently_created(
    connection: Connection, session: str, scope: str, since: str, but: int, limit: int
) -> list[tuple[int, str]]:
    """Return live records that a conversation brought in since a moment, newest first: id and text.

    Looks at no more than the last few hundred events of the home.
    """
    rows = connection.execute(
        "SELECT record.id, record.text FROM event CROSS JOIN record ON record.id = event.record_id "
        "WHERE event.id > (SELECT max(id) FROM event) - 300 AND event.type = 'created' AND event.session = ? "
        "AND event.at >= ? AND record.scope = ? AND record.status = 'active' AND record.id != ? "
        "AND record.form IN ('note', 'episode') ORDER BY event.id DESC LIMIT ?",
        (session, since, scope, but, limit),
    )
    return [(row[0], row[1]) for row in rows]


def list_superseded(connection: Connection, record: Record) -> list[int]:
    """Return what `record` took the place of, and what that did, in its scope: the nearest first."""
    rows = connection.execute(
        "WITH RECURSIVE older (id) AS (SELECT dst FROM link WHERE src = ? AND type = 'supersedes' "
        "UNION SELECT dst FROM link JOIN older ON src = older.id WHERE type = 'supersedes') "
        "SELECT older.id FROM older JOIN record USING (id) WHERE scope = ? AND older.id != ? ORDER BY older.id DESC",
        (record.id, record.scope, record.id),
    )
    return [row[0] for row in rows]


def ids_derived_from(connection: Connection, record: int) -> list[int]:
    """Return records that were made of this one, such as summaries: derived from it, or it is a member of them."""
    rows = connection.execute(
        "SELECT src FROM link WHERE dst = ? AND type = 'derived' UNION "
        "SELECT dst FROM link WHERE src = ? AND type = 'member' ORDER BY 1",
        (record, record),
    )
    return [row[0] for row in rows]


def remove_supersedes_links(connection: Connection, records: Sequence[int]) -> list[tuple[int, int]]:
    """Take away the supersessions among `records`; returns them as (new, old)."""
    among = json.dumps(list(records))
    rows = connection.execute(
        f"DELETE FROM link WHERE type = 'supersedes' AND src {AMONG} AND dst {AMONG} RETURNING src, dst",
        (among, among),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]


def add_link(connection: Connection, src: int, dst: int, kind: str, at: str, why: str) -> bool:
    """Add a link, or count it once more; returns whether it is new."""
    row = connection.execute(
        "INSERT INTO link (src, dst, type, first_at, last_at, why) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET seen = seen + 1, last_at = excluded.last_at RETURNING seen",
        (src, dst, kind, at, at, why),
    ).fetchone()
    return bool(row[0] == 1)


def add_supersedes_link(connection: Connection, new: int, old: int, at: str, why: str) -> None:
    """Link `new` to the record that it took the place of.

    `new` is live, so a link that says it was superseded is from before it came back, and would close a circle.
    """
    connection.execute("DELETE FROM link WHERE dst = ? AND type = 'supersedes'", (new,))
    add_link(connection, new, old, "supersedes", at, why)


def restore_supersedes_link(connection: Connection, new: int, old: int, at: str) -> None:
    """Say that `new` took the place of `old`."""
    connection.execute(
        "INSERT INTO link (src, dst, type, first_at, last_at, why) VALUES (?, ?, 'supersedes', ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (new, old, at, at, "undo of an undo"),
    )
