"""Rows of records, and the queries that every rows module shares.

Queries keep within scopes: see `kenobot.storage.scopes`. A rows module asks for records with `select`,
`select_ids`, `count` or `pages`, and writes its condition from the predicates below:

    select(connection, f"subject = ? AND {LIVE} AND {FACTS}", (subject,), (scope,), order="id DESC", limit=8)
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from kenobot.ports.browsing import RecordFilter
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_filter, scope_names
from kenobot.storage.state import read_state

SqlValue = str | int | float | None

LIVE: Final = "status = 'active'"
STATUSES: Final = ("active", "superseded", "expired", "archived", "forgotten", "invalidated")
HOLDERS: Final = ("box", "entity")  # they hold others together, and go on doing so
FACTS: Final = "form IN ('note', 'episode')"
SAYS: Final = "form != 'box'"  # a box only holds others together
LISTED: Final = "length(status) > 0"  # always: it lets a query use the index of lists, record_list
IN_LOGS: Final = "tier IN ('daily', 'archive')"
NO_OWNER_PREFERENCE: Final = "(category != 'preference' OR scope != 'owner')"  # those stand in preferences.md
LAST_HEARD: Final = "max(created, last_seen, coalesce(last_used, ''), coalesce(confirmed, ''))"
_AFTER_ALL = "\U0010ffff"  # sorts behind whatever a key may go on with
AMONG: Final = "IN (SELECT value FROM json_each(?))"  # with `json.dumps(list(values))`: one statement for any number


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Filter of changed records: those shown, new ones past `newest_known`, and profiles."""

    newest_known: int
    shown_records: Sequence[int]


_BY = "CASE attributes WHEN '{}' THEN '' ELSE coalesce(json_extract(attributes, '$.by'), '') END"
_COLUMNS = ", ".join(_BY if name == "by" else name for name in Record._fields)


# ── queries that rows modules share ──────────────────────────────────────────────────────────────────────────────


def select_ids(
    connection: Connection,
    where: str,
    values: Sequence[SqlValue],
    reach: Scopes,
    *,
    order: str = "id",
    limit: int | None = None,
    scan_scope: bool = True,
) -> list[int]:
    """Query the ids of records that meet a condition within `reach`.

    where: SQL on the columns of record, with a `?` for each of `values`. order: SQL of ORDER BY.
    scan_scope: False keeps SQLite from an index of scopes where one of ids, keys or forms is narrower.
    """
    scope, scopes = scope_filter(reach)
    bound, more = ("", ()) if limit is None else (" LIMIT ?", (limit,))
    plus = "" if scan_scope else "+"
    rows = connection.execute(
        f"SELECT id FROM record WHERE {where} AND {plus}{scope} ORDER BY {order}{bound}", (*values, *scopes, *more)
    )
    return [row[0] for row in rows]


def select(
    connection: Connection,
    where: str,
    values: Sequence[SqlValue],
    reach: Scopes,
    *,
    order: str = "id",
    limit: int | None = None,
    scan_scope: bool = True,
) -> list[Record]:
    """Query records that meet a condition within `reach`, in `order`; the arguments are those of `select_ids`."""
    ids = select_ids(connection, where, values, reach, order=order, limit=limit, scan_scope=scan_scope)
    found = by_ids(connection, ids, reach)
    return [found[each] for each in ids if each in found]


def pages(
    connection: Connection,
    where: str,
    values: Sequence[SqlValue],
    reach: Scopes,
    *,
    scan_scope: bool = True,
    size: int = 500,
) -> Iterator[Record]:
    """Iterate over records that meet a condition within `reach` by id, `size` of them in memory at a time."""
    after = 0
    while page := select(connection, f"id > ? AND {where}", (after, *values), reach, limit=size, scan_scope=scan_scope):
        yield from page
        after = page[-1].id


def count(connection: Connection, where: str, values: Sequence[SqlValue], reach: Scopes) -> int:
    """Count the records that meet a condition within `reach`."""
    scope, scopes = scope_filter(reach)
    row = connection.execute(f"SELECT count(*) FROM record WHERE {where} AND {scope}", (*values, *scopes)).fetchone()
    return int(row[0])


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────────────


def last_record(connection: Connection) -> int:
    """Return the id of the newest record of any scope, 0 when there is none."""
    row = connection.execute("SELECT max(id) FROM record").fetchone()
    return int(row[0] or 0)


def last_change(connection: Connection, scopes: Iterable[str]) -> int:
    """Return the newest event that changed what is shown of these scopes; 0 when there is nothing in them."""
    newest = 0
    for scope in scopes:
        row = connection.execute("SELECT max(changed_event) FROM record WHERE scope = ?", (scope,)).fetchone()
        newest = max(newest, int(row[0] or 0), last_edit_event(connection, scope))
    return newest


def last_edit_event(connection: Connection, scope: str) -> int:
    """Return the event of the last time a person edited the scope's MEMORY.md, its headings and prose included.

    0: never.
    """
    return int(read_state(connection, f"edited:{scope}") or 0)


def get(connection: Connection, record: int, reach: Scopes) -> Record | None:
    """Return a record by its id; None when there is none within `reach`."""
    where, scopes = scope_filter(reach)
    row = connection.execute(f"SELECT {_COLUMNS} FROM record WHERE id = ? AND {where}", (record, *scopes)).fetchone()
    return Record._make(row) if row else None


def get_statement(connection: Connection, record: int, reach: Scopes) -> Record | None:
    """Return a live record that says something by itself; None where there is none, or it only holds others."""
    found = get(connection, record, reach)
    return found if found is not None and found.status == "active" and found.form not in HOLDERS else None


def require(connection: Connection, record: int, scope: str) -> Record:
    """Return a record of a scope that is known to be there. Raises KeyError when it is not."""
    found = get(connection, record, (scope,))
    if found is None:
        raise KeyError(record)
    return found


def by_key(connection: Connection, scope: str, form: str, key: str) -> Record | None:
    """Return the live record of this scope and form with this key."""
    # The plus keeps SQLite from planning anew for each value of a column that a partial index is limited by.
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND form = +? AND key = ? AND status = 'active'",
        (scope, form, key),
    ).fetchone()
    return Record._make(row) if row else None


def by_keys(
    connection: Connection, scope: str, forms: Collection[str], keys: Collection[str]
) -> dict[tuple[str, str], Record]:
    """Return the live records of this scope with one of these forms and keys, by both."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND form IN ({', '.join(['+?'] * len(forms))}) "
        f"AND key IN ({', '.join('?' * len(keys))}) AND status = 'active'",
        (scope, *forms, *keys),
    )
    return {(known.form, str(known.key)): known for known in map(Record._make, rows)}


def by_ids(connection: Connection, ids: Sequence[int], reach: Scopes) -> dict[int, Record]:
    """Return records by id; ids that are unknown or not within `reach` are left out."""
    if not ids:
        return {}
    where, scopes = scope_filter(reach)
    # By their numbers, not by an index of scopes, which would read all that the scopes hold: hence the plus.
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE id {AMONG} AND +{where}", (json.dumps(list(ids)), *scopes)
    )
    return {row[0]: Record._make(row) for row in rows}


def newest_daily(connection: Connection, scope: str, limit: int) -> list[Record]:
    """Return live facts of days' logs, also archived ones, newest first, at most `limit`."""
    where = f"{LIVE} AND {IN_LOGS} AND {FACTS} AND {NO_OWNER_PREFERENCE}"
    return select(connection, where, (), (scope,), order="day DESC, id DESC", limit=limit)


def newest_from_messages(connection: Connection, scope: str, messages: Iterable[int], among: int) -> list[int]:
    """Return ids of those of the newest live records, at most `among` of them, that count any of these inbox rows."""
    rows = connection.execute(
        f"SELECT DISTINCT newest.id FROM (SELECT id, source_messages FROM record WHERE {LIVE} AND scope = ? "
        "ORDER BY day DESC, id DESC LIMIT ?) AS newest, json_each(newest.source_messages) AS said "
        f"WHERE said.value {AMONG}",
        (scope, among, json.dumps(list(messages))),
    )
    return [row[0] for row in rows]


def has_more(connection: Connection, scope: str, number: int) -> bool:
    """Return whether a scope has more live records than a number, without counting them all."""
    rows = connection.execute(f"SELECT 1 FROM record WHERE {LIVE} AND scope = ? LIMIT 1 OFFSET ?", (scope, number))
    return rows.fetchone() is not None


def count_daily(connection: Connection, scope: str) -> int:
    """Count the live facts of days' logs of a scope, as `newest_daily` selects them."""
    return count(connection, f"{FACTS} AND {IN_LOGS} AND {LIVE} AND {NO_OWNER_PREFERENCE}", (), (scope,))


def daily_records(connection: Connection, scope: str, day: str) -> list[Record]:
    """Return records in a scope's log of one day, in the order they came."""
    where = f"day = ? AND {LIVE} AND tier = 'daily' AND {FACTS} AND category != 'preference' AND source != 'sleep'"
    return select(connection, where, (day,), (scope,))


def list_newest_about(connection: Connection, scope: str, subject: str, limit: int) -> list[Record]:
    """Return the newest live facts of a scope about a subject, at most `limit`, in the order they came."""
    where = f"subject = ? AND {LIVE} AND {FACTS}"
    return select(connection, where, (subject,), (scope,), order="id DESC", limit=limit)[::-1]


def subjects(connection: Connection, scope: str) -> Iterator[str]:
    """Yield every subject of live records of a scope, each once: a step in the index for each."""
    last = ""
    while True:
        row = connection.execute(
            "SELECT min(subject) FROM record WHERE scope = ? AND subject > ? AND status = 'active'", (scope, last)
        ).fetchone()
        if row[0] is None:
            return
        last = row[0]
        yield last


def preference_records(connection: Connection, scope: str) -> list[Record]:
    """List the learned preferences of the person of a scope."""
    where = f"form = 'note' AND tier = 'daily' AND {LIVE} AND category = 'preference'"
    return select(connection, where, (), (scope,))


def slot_record(connection: Connection, scope: str, form: str, name: str) -> Record | None:
    """Return the one live record that fills a slot, such as a chat's working memory."""
    return by_key(connection, scope, form, f"slot:{name}")


def list_changed_since(
    connection: Connection, scopes: tuple[str, ...], event: int, limit: int, only: ChangeFilter | None = None
) -> list[Record]:
    """Return records of any status whose showing changed after `event`, oldest change first, at most `limit`."""
    where, values = "changed_event > ?", list[SqlValue]((event,))
    if only is not None:
        where += f" AND (id > ? OR form = 'profile' OR id {AMONG})"
        values += [only.newest_known, json.dumps(list(only.shown_records))]
    return select(connection, where, values, scopes, order="changed_event", limit=limit)


def successor(connection: Connection, record: int, reach: Scopes, status: str = "active") -> Record | None:
    """Return the newest record of a status in the chain that superseded `record`, if it is within `reach`."""
    where, scopes = scope_filter(reach)
    row = connection.execute(
        "WITH RECURSIVE heir (id) AS (SELECT src FROM link WHERE dst = ? AND type = 'supersedes' "
        "UNION SELECT src FROM link JOIN heir ON dst = heir.id WHERE type = 'supersedes') "
        f"SELECT record.id FROM record JOIN heir USING (id) WHERE status = ? AND {where} "
        "ORDER BY record.id DESC LIMIT 1",
        (record, status, *scopes),
    ).fetchone()
    return get(connection, row[0], reach) if row else None


def set_columns(connection: Connection, record: Record, names: Sequence[str], values: Sequence[SqlValue]) -> None:
    """Set columns of a record. `kenobot.cognitive.store.change` alone calls this: it keeps what stood there before."""
    settings = ", ".join(f"{name} = ?" for name in names)
    connection.execute(f"UPDATE record SET {settings} WHERE id = ? AND scope = ?", (*values, record.id, record.scope))


def column_values(connection: Connection, record: Record, names: Sequence[str]) -> tuple[SqlValue, ...]:
    """Return what stands in columns of a record now. Raises KeyError when the record is gone."""
    row = connection.execute(
        f"SELECT {', '.join(names)} FROM record WHERE id = ? AND scope = ?", (record.id, record.scope)
    ).fetchone()
    if row is None:
        raise KeyError(record.id)
    return tuple(row)


def ids_with_key_prefix(connection: Connection, prefix: str, reach: Scopes, limit: int) -> list[int]:
    """Return ids of records whose key begins with `prefix`, live ones first. `%` and `_` are letters like any other."""
    order, keys = "status != 'active', id DESC", (prefix, prefix + _AFTER_ALL)
    return select_ids(connection, "key >= ? AND key < ?", keys, reach, order=order, limit=limit, scan_scope=False)


def iterate_newest_live(connection: Connection, reach: Scopes, limit: int) -> Iterator[tuple[int, str]]:
    """Yield the id and text of live records, what became known or changed last first.

    Reads no more than it gives, or little.
    """
    newest = "ORDER BY changed_event DESC, id DESC LIMIT ?"
    found: list[tuple[int, int, str]] = []
    each: list[Scopes] = [(scope,) for scope in scope_names(reach) or ()]  # one by one: then an index has their order
    for part in each or [reach]:
        where, scopes = scope_filter(part)
        found += connection.execute(
            f"SELECT changed_event, id, text FROM record WHERE {LIVE} AND {SAYS} AND {where} {newest}",
            (*scopes, limit),
        )
    yield from ((number, text) for _, number, text in sorted(found, reverse=True)[:limit])


def iterate_containing(
    connection: Connection, pieces: Sequence[str], reach: Scopes, limit: int, *, ended: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield ids and texts of records that may hold one of `pieces`, folded, the newest first.

    ended: only those that are no longer live.
    """
    where, scopes = scope_filter(reach)
    matches = " OR ".join(["instr(lower(text), ?)"] * len(pieces))  # other letters than ASCII's may fold to any
    status = f"status IN {STATUSES[1:]} AND {LISTED} AND" if ended else ""
    yield from connection.execute(
        f"SELECT id, text FROM record WHERE {status} ({matches} OR text GLOB '*[^ -~]*') AND {SAYS} AND {where} "
        "ORDER BY id DESC LIMIT ?",
        (*pieces, *scopes, limit),
    )


def ids_containing_text(connection: Connection, piece: str, reach: Scopes) -> list[int]:
    """Return ids of records, of any status, whose text holds `piece`, whatever the case of its ASCII letters."""
    return select_ids(
        connection, f"text LIKE ? ESCAPE '\\' AND {SAYS}", (f"%{_escape_like(piece)}%",), reach, scan_scope=False
    )


def _escape_like(piece: str) -> str:
    """Return a text for LIKE, in which no letter stands for others."""
    return piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def list_records(
    connection: Connection,
    reach: Scopes,
    statuses: Sequence[str],
    forms: Sequence[str],
    limit: int | None = None,
    *,
    without_key: str = "",
) -> list[Record]:
    """Return records of these statuses and forms (none: of any), but for those of one key, the newest first."""
    wanted = {column: list(words) for column, words in (("status", statuses), ("form", forms)) if words}
    where = " AND ".join(["key IS NOT ?", *(f"{column} {AMONG}" for column in wanted)])
    values = [without_key, *map(json.dumps, wanted.values())]
    return select(connection, where, values, reach, order="id DESC", limit=limit)


def page_of_records(
    connection: Connection, reach: Scopes, wanted: RecordFilter, before: int, limit: int
) -> list[Record]:
    """Return records that a filter chooses, with ids below one, the newest first, without boxes."""
    where, values = ["id < ?", SAYS, LISTED], list[SqlValue]((before,))
    if wanted.forms:
        where.append(f"form {AMONG}")
        values.append(json.dumps([*wanted.forms]))
    for column in ("category", "subject", "source", "trust", "scope"):
        if value := getattr(wanted, column):
            where.append(f"{column} = ?")
            values.append(value)
    if wanted.tag:
        where.append("EXISTS (SELECT 1 FROM json_each(tags) AS tag WHERE tag.value = ?)")
        values.append(wanted.tag)
    if wanted.first_day or wanted.last_day:
        where.append("day BETWEEN ? AND ?")
        values += [wanted.first_day, wanted.last_day or _AFTER_ALL]
    if wanted.text:
        where.append("text LIKE ? ESCAPE '\\'")
        values.append(f"%{_escape_like(wanted.text)}%")
    # State by state from the newest number down in the index of lists, which has all that most filters ask for.
    found: list[int] = []
    for status in wanted.statuses or STATUSES:
        found += select_ids(
            connection,
            " AND ".join(["status = ?", *where]),
            [status, *values],
            reach,
            order="id DESC",
            limit=limit,
            scan_scope=False,
        )
    newest = sorted(found, reverse=True)[:limit]
    records = by_ids(connection, newest, reach)
    return [records[number] for number in newest if number in records]


def count_values(connection: Connection, columns: Sequence[str], reach: Scopes, most: int) -> list[dict[str, int]]:
    """Count the live records by each of some columns, but for boxes: the `most` frequent values."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        f"SELECT {', '.join(columns)} FROM record WHERE {LIVE} AND {SAYS} AND {LISTED} AND {where}", scopes
    ).fetchall()
    counted = [Counter(column) for column in zip(*rows, strict=True)] or [Counter() for _ in columns]
    return [dict(sorted(each.items(), key=lambda item: (-item[1], item[0]))[:most]) for each in counted]


def live_counts_by_form(connection: Connection, reach: Scopes, *, without_key: str = "") -> dict[str, int]:
    """Return how many live records there are, by form, but for those of one key."""
    where, scopes = scope_filter(reach)
    counts: Counter[str] = Counter()
    # By the index of live records, in whose order they are counted as they come.
    rows = connection.execute(
        f"SELECT form, count(*) FROM record INDEXED BY record_live WHERE {LIVE} AND {SAYS} AND {where} "
        "GROUP BY scope, form",
        scopes,
    )
    for form, number in rows:
        counts[form] += number
    if without_key:
        left_out = select_ids(connection, f"{LIVE} AND {SAYS} AND key = ?", (without_key,), reach, scan_scope=False)
        counts -= Counter(each.form for each in by_ids(connection, left_out, reach).values())
    return dict(sorted(counts.items()))


def list_ended_with_key(connection: Connection, scope: str, key: str, limit: int) -> list[Record]:
    """Return records of this scope that said the words of `key` and are no longer live, the newest first."""
    where = "key = ? AND status != 'active'"
    return select(connection, where, (key,), (scope,), order="id DESC", limit=limit)


def page_before(connection: Connection, record: int, reach: Scopes, limit: int) -> list[tuple[int, str]]:
    """Return the id and scope of the records up to `record`, the newest first."""
    where, scopes = scope_filter(reach)
    return connection.execute(
        f"SELECT id, scope FROM record WHERE id <= ? AND {where} ORDER BY id DESC LIMIT ?", (record, *scopes, limit)
    ).fetchall()


def insert_record(connection: Connection, row: Mapping[str, SqlValue]) -> Record:
    """Write a new record, by column, and return it. `kenobot.cognitive.remember.draft` alone calls this."""
    marks = ", ".join("?" * len(row))
    inserted = f"INSERT INTO record ({', '.join(row)}) VALUES ({marks}) RETURNING {_COLUMNS}"
    return Record._make(connection.execute(inserted, tuple(row.values())).fetchone())


def set_changed_event(connection: Connection, record: int, scope: str, event: int) -> None:
    """Set the event from which a new record is shown: the one that tells of its making."""
    connection.execute("UPDATE record SET changed_event = ? WHERE id = ? AND scope = ?", (event, record, scope))
