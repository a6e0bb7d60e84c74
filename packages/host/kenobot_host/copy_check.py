"""Compare a working copy with the rows of its home, also while a worker commits to both."""

import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.storage.capture import read_rows, read_sequences, read_tables
from kenobot.storage.connection import connect, translate_sqlite
from kenobot_host import home_rows
from kenobot_host.connections import TimedConnection
from kenobot_host.home_store import read_schema, read_version
from kenobot_host.tables import describe_tables

_TRIES, _PAUSE_SECONDS = 20, 0.1

State = Literal["equal", "older", "ahead", "different", "gone"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of a copy with the rows of its home. tables: that differ. name: of the home, "" where it is gone.

    older: of a version before, as of a home that another worker had since. ahead: of a version that is not in
    PostgreSQL, which never happens but where PostgreSQL lost commits. gone: there is no such home any more.
    """

    home: int
    name: str
    state: State
    tables: tuple[str, ...] = ()


def list_places(folder: Path) -> list[tuple[int, Path]]:
    """List where a worker's folder has working copies, or what is left of their making, by the number of their home."""
    if not folder.is_dir():
        return []
    return sorted((int(entry.name), entry / "kenobot.db") for entry in folder.iterdir() if entry.name.isdecimal())


def list_copies(folder: Path) -> list[tuple[int, Path]]:
    """List the working copies in a worker's folder, by the number of their home."""
    return [(home, path) for home, path in list_places(folder) if path.exists()]


def compare_copy(connection: TimedConnection, home: int, database: Path) -> Comparison:
    """Compare a working copy with its home's rows. Raises StoreError for one that cannot be read."""
    name = ""
    for _ in range(_TRIES):
        with translate_sqlite(), closing(connect(database, readonly=True)) as copy, connection.transaction():
            copy.execute("BEGIN")
            version = read_version(copy)  # first: what is committed meanwhile is in PostgreSQL alone then
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            row = home_rows.load_home(connection, home)
            if row is None:
                return Comparison(home, "", "gone")
            name = row.name
            if version == row.version:
                tables = _find_different(connection, copy, row)
                return Comparison(home, row.name, "different" if tables else "equal", tables)
            if version > row.version:
                return Comparison(home, row.name, "ahead")
        time.sleep(_PAUSE_SECONDS)  # the worker may be between its two commits
    return Comparison(home, name, "older")


def _find_different(connection: TimedConnection, copy: sqlite3.Connection, row: home_rows.HomeRow) -> tuple[str, ...]:
    tables = {table.name: table for table in describe_tables(read_schema(copy))}
    different = [
        truth.name
        for truth in read_tables(copy)
        if Counter(read_rows(copy, truth)) != Counter(home_rows.copy_out(connection, row.home, tables[truth.name]))
    ]
    if dict(row.sequences) != read_sequences(copy):
        different.append("sqlite_sequence")
    return tuple(different)
