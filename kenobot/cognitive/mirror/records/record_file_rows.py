"""Rows of record files: which file shows which record, and what a file needs to know."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from kenobot.cognitive.store import records as store
from kenobot.core.front_matter import LineEnding
from kenobot.language.markdown.record_format import FileLink
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import ColumnValue, Record
from kenobot.storage.connection import Connection
from kenobot.storage.disk import UNKNOWN, FileStamp
from kenobot.storage.scopes import Scopes, scope_filter

RecordFileKind = Literal["card", "artifact"]

_COLUMNS = "folder, name, kind, record_id, digest, rest, ends, mtime, size, inode"
_PUT = f"INSERT OR REPLACE INTO record_file ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class RecordFileRow:
    """Row of a record file. record None: a person's own. digest: of what stands there, "" when it is not ours.

    extra_lines: a person's lines of its front matter. stamp: of the file when it was last written or read.
    """

    folder: str
    name: str
    kind: RecordFileKind
    record: int | None
    digest: str
    extra_lines: tuple[str, ...]
    line_ending: LineEnding
    stamp: FileStamp = UNKNOWN

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """Result of reading an edited file. record: whose file it is from now on; None: it stays the person's own.

    rewrite: records whose cards have to be written. leftover: an older card of ours that a crash left behind: this
    one, or the one in whose place it stands.
    """

    touched: int
    record: int | None
    problem: str = ""
    rewrite: frozenset[int] = frozenset()
    leftover: RecordFileRow | None = None


def _row(found: Sequence[str | int]) -> RecordFileRow:
    folder, name, kind, record, digest, rest, ends, *stamp = found
    lines = tuple(json.loads(str(rest))) if rest else ()
    return RecordFileRow(folder, name, kind, record, digest, lines, ends, FileStamp(*stamp))  # type: ignore[arg-type]


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def rows_of_record(connection: Connection, record: int) -> list[RecordFileRow]:
    """Query the files that show a record, its own first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM record_file WHERE record_id = ? ORDER BY kind DESC", (record,))
    return [_row(row) for row in rows]


def card_of(connection: Connection, record: int) -> RecordFileRow | None:
    """Query the file that carries a record."""
    return next((row for row in rows_of_record(connection, record) if row.kind == "card"), None)


def row_at(connection: Connection, path: str) -> RecordFileRow | None:
    folder, _, name = path.rpartition("/")
    sql = f"SELECT {_COLUMNS} FROM record_file WHERE folder = ? AND name = ?"
    row = connection.execute(sql, (folder, name)).fetchone()
    return _row(row) if row else None


def rows_of_records_at(connection: Connection, paths: Iterable[str]) -> list[RecordFileRow]:
    """Query the noted files among `paths` that memory wrote and whose record is still there."""
    rows = [row for path in paths if (row := row_at(connection, path)) is not None and row.digest]
    sql = f"SELECT id FROM record WHERE id {store.AMONG}"
    there = {number for (number,) in connection.execute(sql, (json.dumps([row.record for row in rows]),))}
    return [row for row in rows if row.record in there]


def read_stamps(connection: Connection, folder: str) -> dict[str, FileStamp]:
    """Query the stamps of the noted files of a folder, by name."""
    sql = "SELECT name, mtime, size, inode FROM record_file WHERE folder = ?"
    return {row[0]: FileStamp._make(row[1:]) for row in connection.execute(sql, (folder,))}


def list_folders(connection: Connection) -> list[str]:
    """Return folders of known files in alphabetical order. Each costs one step in the index, however full it is."""
    rows = connection.execute(
        "WITH RECURSIVE known (folder) AS (SELECT min(folder) FROM record_file UNION ALL SELECT "
        "(SELECT min(folder) FROM record_file WHERE folder > known.folder) FROM known WHERE known.folder IS NOT NULL) "
        "SELECT folder FROM known WHERE folder IS NOT NULL"
    )
    return [row[0] for row in rows]


def count_files(connection: Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM record_file").fetchone()[0])


def save_row(connection: Connection, row: RecordFileRow) -> None:
    """Note a file. A record has one file and one artifact: another file that showed it is no longer known."""
    if row.record is not None:
        connection.execute(
            "DELETE FROM record_file WHERE record_id = ? AND kind = ? AND NOT (folder = ? AND name = ?)",
            (row.record, row.kind, row.folder, row.name),
        )
    connection.execute(_PUT, _values(row))


def _values(row: RecordFileRow) -> tuple[str | int | None, ...]:
    rest = json.dumps(row.extra_lines, ensure_ascii=False) if row.extra_lines else ""
    return (row.folder, row.name, row.kind, row.record, row.digest, rest, row.line_ending, *row.stamp)


def save_rows(connection: Connection, rows: Iterable[tuple[RecordFileRow, RecordFileRow | None]]) -> None:
    """Note files, each with the one that showed its record before; see `save_row`."""
    for row, before in rows:
        if before is not None and before.path != row.path:
            drop_row(connection, before.path)
    connection.executemany(_PUT, [_values(row) for row, _ in rows])


def save_stamps(connection: Connection, rows: Iterable[RecordFileRow]) -> None:
    """Note other stamps of files whose text has not changed."""
    connection.executemany(
        "UPDATE record_file SET mtime = ?, size = ?, inode = ? WHERE folder = ? AND name = ? AND digest = ?",
        [(*row.stamp, row.folder, row.name, row.digest) for row in rows],
    )


def drop_row(connection: Connection, path: str) -> None:
    folder, _, name = path.rpartition("/")
    connection.execute("DELETE FROM record_file WHERE folder = ? AND name = ?", (folder, name))


def records_without_file(connection: Connection, reach: Scopes) -> list[int]:
    """Query the records within `reach` that no file shows yet."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        "SELECT record.id FROM record "
        "LEFT JOIN record_file ON record_file.record_id = record.id AND record_file.kind = 'card' "
        f"WHERE {where} AND record_file.name IS NULL ORDER BY record.id",
        scopes,
    )
    return [row[0] for row in rows]


# ── what a file tells ────────────────────────────────────────────────────────────────────────────────────────────


def links_from(connection: Connection, record: int) -> list[FileLink]:
    """Query the links from a record, in a fixed order."""
    rows = connection.execute(
        "SELECT dst, type, weight, confidence, seen, first_at, last_at, why FROM link WHERE src = ? ORDER BY type, dst",
        (record,),
    )
    return [FileLink(*row) for row in rows]


def values_after(connection: Connection, record: Record, event: int) -> dict[str, ColumnValue]:
    """Query what stood in columns of a record after `event`, where something else stands there now."""
    rows = connection.execute(
        "SELECT event.data FROM event JOIN record ON record.id = event.record_id WHERE record_id = ? AND scope = ? "
        "AND event.id > ? ORDER BY event.id DESC",
        (record.id, record.scope, event),
    )
    found: dict[str, ColumnValue] = {}
    for (data,) in rows:
        found.update(json.loads(data).get("was", {}))
    return found


def boxes_of(connection: Connection, records: Sequence[int]) -> list[int]:
    """Query the boxes in which any of `records` lies."""
    sql = f"SELECT DISTINCT dst FROM link WHERE type = 'member' AND src {store.AMONG}"
    return [row[0] for row in connection.execute(sql, (json.dumps(list(records)),))]


def is_purged(connection: Connection, record: int) -> bool:
    sql = "SELECT 1 FROM event WHERE record_id = ? AND type = 'purged' LIMIT 1"
    return connection.execute(sql, (record,)).fetchone() is not None


def last_event_of(connection: Connection, record: int) -> int:
    row = connection.execute("SELECT max(id) FROM event WHERE record_id = ?", (record,)).fetchone()
    return int(row[0] or 0)


# ── making memory again ──────────────────────────────────────────────────────────────────────────────────────────


def insert_link(connection: Connection, record: Record, link: FileLink) -> bool:
    """Insert a link of a record; False when its target is not there, or in another scope."""
    cursor = connection.execute(
        "INSERT OR IGNORE INTO link (src, dst, type, weight, confidence, seen, first_at, last_at, why) "
        "SELECT ?, id, ?, ?, ?, ?, ?, ?, ? FROM record WHERE id = ? AND scope = ?",
        (record.id, *link[1:], link.to, record.scope),
    )
    return cursor.rowcount == 1


def record_with_key(connection: Connection, scope: str, key: str) -> Record | None:
    """Query the note or episode of a scope with this key, of any status: a live one first, then the newest."""
    order = "status != 'active', id DESC"
    found = store.select(connection, f"key = ? AND {store.FACTS}", (key,), (scope,), order=order, limit=1)
    return found[0] if found else None


def clear_memory(connection: Connection) -> None:
    """Take everything out that memory holds, and what was noted of its files; conversations stay."""
    for table in ("vector", "link", "record_file", "list_file", "prompt_prefix", "open_topic", "record", "event"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM key_value WHERE key LIKE 'mirror:%' OR key LIKE 'card%' OR key LIKE 'edited:%'")
