"""Read and write rows as they are, for exports and imports."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from kenobot.ports.json_value import Json
from kenobot.storage import conversation, message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES, Scopes, scope_filter, scope_names

EXPORTED_STATE_PREFIXES = ("bootstrap:", "guideline", "sleep:", "proposal:")
"""What a state's name begins with when it is worth taking along. Cursors say how far work has come in one database."""

_JSON_COLUMNS = ("attributes", "tags", "source_messages", "data", "blocks")
_MESSAGE = ("session", "role", "text", "at", "inbox_id", "trust", "scope")
_QUERIES = {
    "record": "SELECT * FROM record WHERE {where} ORDER BY id",
    "event": "SELECT * FROM event WHERE {nobodys}record_id IN {mine} ORDER BY id",
    "link": "SELECT * FROM link WHERE src IN {mine} AND dst IN {mine} ORDER BY src, dst, type",
    "vector": "SELECT * FROM vector WHERE record_id IN {mine} ORDER BY record_id",
    "tombstone": "SELECT * FROM tombstone WHERE {where} ORDER BY scope, key",
    "file": "SELECT path, text, blocks FROM list_file ORDER BY path",
    "state": "SELECT key, value FROM key_value ORDER BY key",
}
_WHOLE_HOME = ("file", "state")  # these belong to no scope


def export_rows(connection: Connection, kind: str, reach: Scopes) -> Iterator[dict[str, Any]]:
    """Iterate over everything of one kind of line within `reach`, by column.

    What belongs to nobody, such as states and the files of the mirror, is there only for the whole home.
    """
    where, scopes = scope_filter(reach)
    if kind == "message":
        messages = message_rows.messages_in_scopes(connection, scope_names(reach))
        yield from ({name: getattr(message, name) for name in _MESSAGE} for message in messages)
    elif kind == "hidden_turn":
        records = {row[0] for row in connection.execute(f"SELECT id FROM record WHERE {where}", scopes)}
        hidden = conversation.list_hidden_turns(connection)
        yield from ({"inbox_id": turn, "record_id": record} for turn, record in hidden if record in records)
    elif kind not in _WHOLE_HOME or reach is ALL_SCOPES:
        mine = f"(SELECT id FROM record WHERE {where})"
        nobodys = "record_id IS NULL OR " if reach is ALL_SCOPES else ""
        sql = _QUERIES[kind].format(where=where, mine=mine, nobodys=nobodys)
        cursor = connection.execute(sql, scopes * (2 if kind == "link" else 1))
        names = [column[0] for column in cursor.description]
        for values in cursor:
            row = dict(zip(names, values, strict=True))
            if kind != "state" or row["key"].startswith(EXPORTED_STATE_PREFIXES):
                yield {name: json.loads(value) if name in _JSON_COLUMNS else value for name, value in row.items()}


def insert_row(connection: Connection, table: str, values: Mapping[str, Json | bytes]) -> int:
    """Insert a row unless its key is taken; returns its rowid, 0 when nothing was written."""
    plain = {n: json.dumps(v, ensure_ascii=False) if isinstance(v, list | dict) else v for n, v in values.items()}
    marks = ", ".join("?" * len(plain))
    sql = f"INSERT INTO {table} ({', '.join(plain)}) VALUES ({marks}) ON CONFLICT DO NOTHING"
    cursor = connection.execute(sql, tuple(plain.values()))
    return int(cursor.lastrowid or 1) if cursor.rowcount else 0


def find_record(connection: Connection, number: int, scope: str, form: str, key: str, created: str) -> int | None:
    """Find the record that is this very one: made at that moment, and of that number or those words."""
    for found, value in (("id = ?", number), ("key = ?", key)):
        row = connection.execute(
            # By its number or its key, not by an index of scopes, which would read all that the scope holds.
            f"SELECT id FROM record WHERE {found} AND +scope = ? AND +form = ? AND +created = ? ORDER BY +id LIMIT 1",
            (value, scope, form, created),
        ).fetchone()
        if row is not None:
            return int(row[0])
    return None


def is_half_imported(connection: Connection, record: int) -> bool:
    """Tell whether an import that was broken off put a record in: it has no event of ours yet. Boxes never have."""
    values = {"id": record, "changed_event": 0}
    return exists(connection, "record", **values) and not exists(connection, "record", id=record, form="box")


def exists(connection: Connection, table: str, **values: str | int | None) -> bool:
    """Tell whether a table has a row with these values; None stands for an empty column."""
    # An index of what is empty would lead to most rows: hence the plus.
    where = " AND ".join(f"+{name} IS ?" if value is None else f"{name} = ?" for name, value in values.items())
    cursor = connection.execute(f"SELECT 1 FROM {table} WHERE {where} LIMIT 1", tuple(values.values()))
    return cursor.fetchone() is not None


def last_inbox_id(connection: Connection) -> int:
    """Query the highest number that an inbox row has, or had; 0 when nothing ever came in."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'").fetchone()
    return int(row[0]) if row else 0


def reserve_ids(connection: Connection, table: Literal["inbox", "event"], last: int) -> None:
    """Give new rows of `table` numbers above `last`: what is older names such rows."""
    cursor = connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, table))
    if not cursor.rowcount:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
