"""Measure what takes the room of a home on disk: tables by what they hold, free pages, logs and files."""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal, get_args

from kenobot.core.settings.home import REPLACED_PREFIX, Home
from kenobot.storage.connection import Connection, connect

RoomPart = Literal[
    "conversation",
    "memory",
    "search_index",
    "vectors",
    "signals",
    "inbox_and_outbox",
    "free_space",
    "write_ahead_logs",
    "files",
    "media",
    "cache",
    "logs",
    "backups",
    "replaced_by_restore",
    "other",
]

_CONTENTS: Mapping[str, RoomPart] = {  # of the database; every other table is memory's
    "message": "conversation",
    "hidden_turn": "conversation",
    "prompt_prefix": "conversation",
    "turn": "conversation",
    "turn_step": "conversation",
    "inbox": "inbox_and_outbox",
    "outbox": "inbox_and_outbox",
    "approval": "inbox_and_outbox",
    "pairing": "inbox_and_outbox",
    "approved_person": "inbox_and_outbox",
    "api_key": "inbox_and_outbox",
    "idempotent_request": "inbox_and_outbox",
    "signal": "signals",
    "vector": "vectors",
    "turn_embedding": "vectors",
}


def room_by_part(home: Home, connection: Connection) -> dict[RoomPart, int]:
    """Return the bytes of each part of a home; together they are all of it. connection: to its database.

    While the bot runs, pages that stand in a write-ahead log as well are counted twice.
    """
    parts = Counter(_pages_by_part(connection, "memory"))
    parts["search_index"] += 0
    try:
        with closing(connect(home.index, readonly=True)) as index:
            parts.update(_pages_by_part(index, "search_index"))
    except sqlite3.Error:  # there is none, or it is damaged and will be made anew
        parts["search_index"] += _size(home.index)
    files = {path: path.lstat().st_size for path in home.path.rglob("*") if path.is_file() or path.is_symlink()}
    counted = {home.database, home.index}
    logs = {path.with_name(f"{path.name}-{kind}") for path in counted for kind in ("wal", "shm")}
    for path, size in files.items():
        if path in logs:
            parts["write_ahead_logs"] += size
        elif path not in counted:
            parts[_folder(home, path)] += size
    return {part: parts[part] for part in get_args(RoomPart)}


def _folder(home: Home, path: Path) -> RoomPart:
    top = path.relative_to(home.path).parts[0]
    if top.startswith(REPLACED_PREFIX):
        return "replaced_by_restore"
    folders: Mapping[str, RoomPart] = {
        home.memory.name: "files",
        home.media.name: "media",
        home.cache.name: "cache",
        home.logs.name: "logs",
        home.backups.name: "backups",
    }
    return folders.get(top, "other")


def _pages_by_part(connection: Connection, rest: RoomPart) -> Mapping[RoomPart, int]:
    """Return the bytes of the pages of a database, by what stands in them.

    rest: the part of tables that are not named.
    """
    page, pages, free = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
    )
    used = (pages - free) * page
    tables = _bytes_by_table(connection, page)
    whole = sum(tables.values()) or 1
    parts: Counter[RoomPart] = Counter({"free_space": free * page})
    for table, size in tables.items():
        parts[_CONTENTS.get(table, rest)] += used * size // whole
    parts[rest] += pages * page - parts.total()  # what no table holds, and what rounding lost
    return parts


def _bytes_by_table(connection: Connection, page: int) -> Mapping[str, int]:
    """Return the bytes of each table with its indexes.

    Where SQLite was built without dbstat, those of its values, and a page for each tree.
    """
    trees = connection.execute("SELECT name, tbl_name FROM sqlite_schema WHERE rootpage > 0").fetchall()
    owners = dict(trees)
    sizes: Counter[str] = Counter()
    try:
        for name, size in connection.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"):
            sizes[owners.get(name, name)] += size
    except sqlite3.Error:
        for name, table in trees:
            sizes[table] += page + (_bytes_of_values(connection, table) if name == table else 0)
    return sizes


def _bytes_of_values(connection: Connection, table: str) -> int:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    lengths = " + ".join(f'coalesce(length(CAST("{column}" AS BLOB)), 0)' for column in columns)
    return int(connection.execute(f'SELECT coalesce(sum({lengths}), 0) FROM "{table}"').fetchone()[0])


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
