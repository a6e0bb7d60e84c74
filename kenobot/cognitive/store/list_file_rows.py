"""Rows of the Markdown files that list records: text and blocks of each, as last written or read."""

import json
from collections.abc import Iterable, Sequence

from kenobot.storage.connection import Connection


def core_layout(connection: Connection, scope: str) -> list[str | int]:
    """Return what stands where in a scope's MEMORY.md: numbers of records, and the literal text between them."""
    kind, _, name = scope.partition(":")
    path = {"owner": "MEMORY.md", "chat": f"chats/{name}/MEMORY.md", "user": f"users/{name}/MEMORY.md"}[kind]
    row = connection.execute("SELECT blocks FROM list_file WHERE path = ?", (path,)).fetchone()
    return json.loads(row[0]) if row else []


def list_file(connection: Connection, path: str) -> tuple[str, list[str | int]] | None:
    """Return text and blocks of a list file as last written or read."""
    row = connection.execute("SELECT text, blocks FROM list_file WHERE path = ?", (path,)).fetchone()
    return (row[0], json.loads(row[1])) if row else None


def save_list_file(connection: Connection, path: str, text: str, blocks: Sequence[str | int]) -> None:
    connection.execute(
        "INSERT INTO list_file (path, text, blocks) VALUES (?, ?, ?) "
        "ON CONFLICT (path) DO UPDATE SET text = excluded.text, blocks = excluded.blocks",
        (path, text, json.dumps(blocks, ensure_ascii=False)),
    )


def extend_list_file(connection: Connection, path: str, text: str, blocks: Sequence[str | int]) -> None:
    """Append `text` to what is noted of a list file, whose blocks are `blocks` then."""
    connection.execute(
        "UPDATE list_file SET text = text || ?, blocks = ? WHERE path = ?",
        (text, json.dumps(blocks, ensure_ascii=False), path),
    )


def delete_list_file(connection: Connection, path: str) -> None:
    connection.execute("DELETE FROM list_file WHERE path = ?", (path,))


def list_file_paths(connection: Connection) -> list[str]:
    """Return every file that the mirror has written or read."""
    return [row[0] for row in connection.execute("SELECT path FROM list_file ORDER BY path")]


def list_files_with(connection: Connection, records: Iterable[int], among: Sequence[str] | None = None) -> list[str]:
    """Return the files, of those `among`, in which any of `records` stands. Without `among` it looks at every file."""
    wanted = set(records)
    if not wanted or among == []:
        return []
    if among is None:
        rows = connection.execute("SELECT path, blocks FROM list_file").fetchall()
    else:
        asked = "SELECT path, blocks FROM list_file WHERE path = ?"
        rows = [row for path in among for row in connection.execute(asked, (path,))]
    return [path for path, blocks in rows if wanted.intersection(b for b in json.loads(blocks) if isinstance(b, int))]


def map_shared_records(connection: Connection, records: Iterable[int]) -> dict[int, list[str]]:
    """Map those of `records` that stand in several files to these files."""
    rows = connection.execute(
        "SELECT DISTINCT block.value, list_file.path FROM list_file, json_each(list_file.blocks) AS block "
        "WHERE block.type = 'integer' AND block.value IN (SELECT value FROM json_each(?)) ORDER BY list_file.path",
        (json.dumps(list(records)),),
    )
    found: dict[int, list[str]] = {}
    for record, path in rows:
        found.setdefault(record, []).append(path)
    return {record: paths for record, paths in found.items() if len(paths) > 1}
