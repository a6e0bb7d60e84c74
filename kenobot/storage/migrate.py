"""The schema and its version: what a database has been through, what it still needs, and whether it is too new for us.

`PRAGMA user_version` counts the migrations that a database has had.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from functools import lru_cache
from importlib import resources
from pathlib import Path

from kenobot.core.disk_fault import find_fault, name_failure, name_fault
from kenobot.ports.errors import ConfigError, KenobotError, StoreCorrupt
from kenobot.storage.connection import Connection, connect, to_store_error, translate_sqlite

_BACKUPS_KEPT = 5


@lru_cache(maxsize=1)
def migrations() -> tuple[tuple[int, str], ...]:
    """Load every migration that ships, as (number, SQL), in order; once, for each opening asks twice."""
    folder = resources.files("kenobot.storage") / "migrations"
    files = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return tuple((int(name.split("_", 1)[0]), (folder / name).read_text("utf-8")) for name in files)


def migrate(path: Path, backups: Path) -> None:
    """Create the database or bring it up to date, one transaction a migration, each preceded by a backup.

    Five backups are kept: the newest, and always the one of the database as it was before this update.
    Raises ConfigError when it is a newer KenoBot's or cannot be opened, StoreError for a faulty disk or a damaged file.
    """
    steps = migrations()
    newest = steps[-1][0]
    check(path)
    existed = path.exists()
    connection = open_writer(path, is_watched=False)
    try:
        path.chmod(0o600)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > newest:
            raise _refuse_newer(path, version, newest)
        due = [step for step in steps if step[0] > version]
        for number, script in due:
            if existed:
                _back_up(connection, backups, number, due[0][0])
            connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};")
            connection.commit()
    except (sqlite3.Error, OSError) as error:
        raise _cannot_open(path, error) from error
    finally:
        connection.close()


def schema_version(path: Path) -> int:
    """Count the migrations that a database has had. Raises StoreError."""
    with translate_sqlite(), closing(connect(path, readonly=True)) as connection:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def open_writer(path: Path, *, is_watched: bool = True) -> Connection:
    """Open a connection to write by; see `connect`.

    Raises ConfigError when the file cannot be opened, StoreError when the disk fails or it is damaged.
    """
    try:
        return connect(path, is_watched=is_watched)
    except (sqlite3.Error, OSError) as error:
        raise _cannot_open(path, error) from error


def check(path: Path) -> None:
    """Look whether this KenoBot can use the database, changing nothing, neither the file nor what is beside it.

    Raises ConfigError when it is a newer KenoBot's or not ours to read, StoreError when it is no database.
    """
    log, index = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
    try:
        header = _header(path)
        logged = _read_logged_version(log)
        elsewhere = not header or path.is_symlink()
        orphaned = elsewhere and log.exists() and log.stat().st_size > 0
        blocked = index.is_dir()
    except OSError as error:
        raise _cannot_open(path, error) from error
    if blocked:
        raise ConfigError("database.index_is_folder", index=index)
    if orphaned:
        # SQLite would begin anew, or go on elsewhere, without a word and without what only the log holds.
        raise StoreCorrupt("database.log_alone", log=log, path=path)
    if header is None:
        return
    newest = migrations()[-1][0]
    if header and not header.startswith(b"SQLite format 3\0"):
        raise StoreCorrupt("database.not_a_database", path=path)
    version = int.from_bytes(header[60:64], "big") if len(header) == 100 else 0
    version = version if logged is None else logged
    if version > newest:
        raise _refuse_newer(path, version, newest)


def _header(path: Path) -> bytes | None:
    """Read the first hundred bytes; None when there is no file. Raises ConfigError when it is not ours, OSError."""
    if not path.exists():
        return None
    if not os.access(path, os.R_OK | os.W_OK):
        raise find_fault(path) or ConfigError("database.no_access", path=path)
    with path.open("rb") as file:
        return file.read(100)


def _read_logged_version(log: Path) -> int | None:
    """Read the version in the newest committed first page of a write-ahead log; see sqlite.org/fileformat.html.

    After a kill it may stand nowhere else, and SQLite itself would fold the log into the file just by looking.
    """
    if not log.exists():
        return None
    committed = found = None
    with log.open("rb") as file:
        header = file.read(32)
        page = int.from_bytes(header[8:12], "big")
        while page and len(frame := file.read(24)) == 24 and frame[8:16] == header[16:24]:
            content = file.read(page)
            if len(content) < page:
                break
            if frame[:4] == b"\0\0\0\1":
                found = int.from_bytes(content[60:64], "big")
            if frame[4:8] != b"\0\0\0\0":
                committed = found
    return committed


def _refuse_newer(path: Path, version: int, newest: int) -> ConfigError:
    return ConfigError("database.newer_schema", path=path, version=version, newest=newest)


def _cannot_open(path: Path, error: sqlite3.Error | OSError) -> KenobotError:
    """Make the error of a database that cannot be opened: a ConfigError only where a person must mend something."""
    if isinstance(error, OSError):
        return name_fault(path, error, "database.unopenable")
    match (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF:
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_BUSY | sqlite3.SQLITE_NOMEM:
            return to_store_error(error)
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return find_fault(path) or name_failure(path)
        case _:
            return find_fault(path) or ConfigError("database.unopenable", path=path, reason=error)


def _back_up(connection: Connection, backups: Path, number: int, first: int) -> None:
    """Copy the database before migration `number` of an update that began with `first`, and drop the oldest copies."""
    backups.mkdir(mode=0o700, exist_ok=True)
    target, kept = _backup(backups, number), _backup(backups, first)
    partial = target.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    connection.execute("VACUUM INTO ?", (str(partial),))
    partial.chmod(0o600)
    shutil.move(partial, target)
    others = [path for path in find_copies(backups) if path != kept]
    for old in others[: 1 - _BACKUPS_KEPT]:
        old.unlink()


def find_copies(backups: Path) -> list[Path]:
    """List the copies that migrations made of the database before them, in their order."""
    return sorted(backups.glob("kenobot-before-*.db"))


def _backup(backups: Path, number: int) -> Path:
    return backups / f"kenobot-before-{number:04d}.db"
