"""Questions that tell how a database is, and whether the memory files agree with it: the SQL of `kenobot doctor`."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection

_NEWEST = """
SELECT max(at) FROM (
  SELECT max(at) AS at FROM event UNION ALL SELECT max(received_at) FROM inbox UNION ALL SELECT max(at) FROM message
)
"""


@dataclass(frozen=True, slots=True)
class FileAgreement:
    """Memory files beside what the database knows of them, by their paths. edited: not read yet. missing: gone."""

    edited: tuple[str, ...]
    missing: tuple[str, ...]


def integrity_problems(path: Path) -> list[str]:
    """Check every page, index, constraint and reference; returns what is wrong, ten lines at most beside one a table.

    Raises sqlite3.Error.
    """
    with closing(_connect_to_check(path)) as connection:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check(10)") if row[0] != "ok"]
        orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    tables = sorted({row[0] for row in orphans})
    return found + [f"rows of {table} refer to rows that are gone" for table in tables]


def first_problem(path: Path) -> str:
    """Check every page and constraint, which is faster; returns what is wrong first, or "". Raises sqlite3.Error."""
    with closing(_connect_to_check(path)) as connection:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()
    return "" if found is None or found[0] == "ok" else str(found[0])


def _connect_to_check(path: Path) -> Connection:
    """Open a connection that writes nothing, though it might: on one opened read-only SQLite skips CHECK constraints.

    (`sqlite3AddCheckConstraint` leaves them out of the schema where the file is read-only.)
    """
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=5)
    connection.execute("PRAGMA query_only = ON")
    return connection


def newest_moment(connection: Connection) -> datetime | None:
    """Return when the database was last written by people or by the bot."""
    return _moment(connection.execute(_NEWEST).fetchone()[0])


def count_ended_letters(connection: Connection, since: datetime) -> int:
    """Count the messages since then that could not be answered or sent."""
    ended = "state IN ('dead', 'failed', 'expired') AND done_at > :since"
    sql = f"SELECT (SELECT count(*) FROM inbox WHERE {ended}) + (SELECT count(*) FROM outbox WHERE {ended})"
    return int(connection.execute(sql, {"since": since.isoformat()}).fetchone()[0])


def compare_files(connection: Connection, memory: Path) -> FileAgreement:
    """Compare the memory files with what was last written to them, or read from them, and change nothing.

    Raises OSError for those that cannot be looked at.
    """
    edited, missing = [], []
    for path, is_same in (*_lists(connection, memory), *_records(connection, memory)):
        if is_same is None:
            missing.append(path)
        elif not is_same:
            edited.append(path)
    return FileAgreement(tuple(edited), tuple(missing))


def _lists(connection: Connection, memory: Path) -> Iterator[tuple[str, bool | None]]:
    for path, text in connection.execute("SELECT path, text FROM list_file WHERE text != ''"):
        try:
            yield path, (memory / path).read_text("utf-8-sig") == text
        except (FileNotFoundError, NotADirectoryError):
            yield path, None
        except (IsADirectoryError, UnicodeDecodeError):
            yield path, False


def _records(connection: Connection, memory: Path) -> Iterator[tuple[str, bool | None]]:
    for folder, name, size in connection.execute("SELECT folder, name, size FROM record_file"):
        path = f"{folder}/{name}" if folder else name
        try:
            yield path, (memory / path).lstat().st_size == size
        except (FileNotFoundError, NotADirectoryError):
            yield path, None


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def index_problem(path: Path) -> str:
    """Check the search index; returns what is wrong, "" when nothing is or there is none."""
    if not path.exists():
        return ""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        return "" if "locked" in str(error) else str(error)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the latter: SQLite quotes a schema that is damaged
        return str(error)
    return "" if found == "ok" else str(found)
