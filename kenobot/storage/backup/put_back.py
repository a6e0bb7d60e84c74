"""Put the database back as it was before an update, with the messages that came in since, and what was decided."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from kenobot.core.settings.home import REPLACED_PREFIX, Home
from kenobot.ports.errors import StoreError
from kenobot.storage import migrate
from kenobot.storage.backup.snapshot import RESTORE_PREFIX, check_database, remove_leftovers
from kenobot.storage.connection import to_store_error
from kenobot.storage.disk import fsync_folder
from kenobot.storage.transactions import keep_whole

CARRIED: Final = (
    *("inbox", "attachment", "outbox", "turn_step", "task"),  # answered and sent once, with what it cost so far
    *("job", "occurrence", "wish"),  # told once, and not after they were cancelled
    *("approval", "keyboard"),  # asked once
    *("approved_person", "pairing", "api_key", "idempotent_request", "tool_grant"),  # what was taken away stays away
    *("model_call", "model_day", "tool_run"),  # budgets go on, of models and of calls a day
)
"""Tables that come along whole, in the columns that both databases have."""

_KEYS: Final = (  # of the table `key_value`, in the same way
    *("agenda:zone", "chats:moved", "settings:people", "notices:kept"),
    *("skills.trusted", "dashboard:links", "dashboard:sessions", "pairing:wrong", "buttons:key", "budget:told"),
)


def put_back(home: Home, schema_version: int, since: datetime, at: datetime) -> Path | None:
    """Put the database of a home, which this process holds, back to an older schema; None when it still has that.

    schema_version: of the database to put back: the copy that was made right before it was migrated. since: when the
    update began; an older copy is another update's. at: now. Mail, reminders and access are those of the present
    database: what came in or was asked for since is there, what was answered, told or taken away since stays so.
    The present database is kept: returns where. At each moment the home has a whole database, the new or the old.
    Raises StoreError when there is no such copy, and OSError.
    """
    if migrate.schema_version(home.database) <= schema_version:
        return None
    copy = _find_copy(home.backups, schema_version, since)
    remove_leftovers(home)
    staging = Path(tempfile.mkdtemp(prefix=RESTORE_PREFIX, dir=home.path))
    try:
        old = staging / home.database.name
        shutil.copyfile(copy, old)
        old.chmod(0o600)
        _end_log(home.database)
        _carry(home.database, old)
        check_database(old)
        _sync(old)
        kept = Path(tempfile.mkdtemp(prefix=f"{REPLACED_PREFIX}{at:%Y%m%dT%H%M%SZ}-", dir=home.path))
        os.link(home.database, kept / home.database.name)
        fsync_folder(kept)
        for index in home.path.glob(f"{home.index.name}*"):  # it is of the newer database, and made anew
            index.unlink()
        old.replace(home.database)
        fsync_folder(home.path)
        keep_whole(home.database)
    except sqlite3.Error as error:
        raise to_store_error(error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return kept


def _find_copy(backups: Path, schema_version: int, since: datetime) -> Path:
    """Find the copy that a migration made of the database before it. Raises StoreError."""
    recent = [path for path in migrate.find_copies(backups) if path.stat().st_mtime >= since.timestamp()]
    found = next((path for path in recent if migrate.schema_version(path) == schema_version), None)
    if found is None:
        raise StoreError("backup.no_copy_before_update", backups=backups)
    return found


def _end_log(database: Path) -> None:
    """Fold the write-ahead log in and remove it: it would be read as that of whatever takes the database's place."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    if database.with_name(f"{database.name}-wal").exists():
        raise StoreError("backup.database_in_use", database=database)


def _carry(newer: Path, older: Path) -> None:
    """Copy what comes along from the newer database into the older one.

    Ids that the newer one gave away come back in no table: buttons and reminders name records by them.
    """
    with closing(sqlite3.connect(older, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS newer", (str(newer),))
        connection.execute("BEGIN IMMEDIATE")
        for table in CARRIED:
            newer_columns = _columns(connection, "newer", table)
            names = ", ".join(name for name in _columns(connection, "main", table) if name in newer_columns)
            if names:
                connection.execute(f"DELETE FROM main.{table}")
                connection.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM newer.{table}")
        marks = ", ".join("?" * len(_KEYS))
        connection.execute(f"DELETE FROM main.key_value WHERE key IN ({marks})", _KEYS)
        connection.execute(
            f"INSERT INTO main.key_value (key, value) SELECT key, value FROM newer.key_value WHERE key IN ({marks})",
            _KEYS,
        )
        connection.execute("DELETE FROM main.sqlite_sequence WHERE name IN (SELECT name FROM newer.sqlite_sequence)")
        connection.execute(
            "INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM newer.sqlite_sequence "
            "WHERE name IN (SELECT name FROM main.sqlite_master)"
        )
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = DELETE")


def _columns(connection: sqlite3.Connection, schema: str, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({table})")]


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
