"""Copy a home as it stands at one moment, beside a bot that may be running."""

import contextlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from kenobot.core.settings.home import REPLACED_PREFIX, Home
from kenobot.ports.errors import StoreCorrupt, StoreError
from kenobot.storage.backup.names import is_archive
from kenobot.storage.connection import connect, to_store_error
from kenobot.storage.transactions import hold_writers

STAGING_PREFIX = ".backup-"
RESTORE_PREFIX = ".restore-"

_UNFINISHED = (".kenobot-", ".part-", ".identity-")  # how the names of files begin that are being written
LOCKS = ("kenobot.lock", "sleep.lock", "backup.lock", "update.lock", "kenobot.sock")


def take_snapshot(home: Home, staging: Path, *, credentials: bool) -> list[str]:
    """Copy the home into the empty folder `staging`; returns the paths that were left out: links, and names that
    are no text. Archives of backups are left out as well.

    The database cannot be written while the files are copied: they and it are then as after a crash at that moment,
    which every start puts right. The search index is left out, since it is made anew.
    Raises StoreError, StoreCorrupt when the copy of the database is damaged, and OSError.
    """
    skipped: list[str] = []
    try:
        with closing(connect(home.database, readonly=True)) as reader:
            with hold_writers(home.database):
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on it sees this moment
                for path in _files(home, credentials, skipped):
                    _copy(home, path, staging / path.relative_to(home.path))
            _copy_database(reader, staging / home.database.name)
    except sqlite3.Error as error:
        raise to_store_error(error) from error
    return skipped


def remove_leftovers(home: Home) -> None:
    """Remove what a backup or a restore left in the home that was killed: none of this home may be under way."""
    for prefix in (STAGING_PREFIX, RESTORE_PREFIX):
        for left in home.path.glob(f"{prefix}*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def check_database(path: Path) -> None:
    """Check a database that nobody has open, page by page. Raises StoreCorrupt or StoreError."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise to_store_error(error) from error
    if found != "ok":
        raise StoreCorrupt("backup.damaged_copy", finding=found)


def _copy_database(reader: sqlite3.Connection, target: Path) -> None:
    with closing(sqlite3.connect(target)) as copy:
        reader.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # all of it in the one file
    target.chmod(0o600)
    check_database(target)


def _files(home: Home, credentials: bool, skipped: list[str]) -> Iterator[Path]:
    left_out = {home.backups.name, home.cache.name, home.logs.name, home.versions.name, *LOCKS} | (
        set() if credentials else {home.credentials.name}
    )
    databases = tuple(f"{path.name}{end}" for path in (home.database, home.index) for end in ("", "-wal", "-shm"))
    left_out |= {*databases, f"{home.index.name}-journal"}
    own = (STAGING_PREFIX, RESTORE_PREFIX, REPLACED_PREFIX)
    with os.scandir(home.path) as found:
        top = [Path(entry.path) for entry in found if entry.name not in left_out and not entry.name.startswith(own)]
    for path in sorted(top):
        yield from _walk(home, path, skipped)


def _walk(home: Home, path: Path, skipped: list[str]) -> Iterator[Path]:
    mode = path.lstat().st_mode
    name = str(path.relative_to(home.path))
    if stat.S_ISLNK(mode) or not _is_text(name):
        skipped.append(name.encode("utf-8", "backslashreplace").decode())
    elif stat.S_ISDIR(mode):
        for inner in sorted(path.iterdir()):
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                yield from _walk(home, inner, skipped)
    elif stat.S_ISREG(mode) and not path.name.startswith(_UNFINISHED) and not is_archive(path.name):
        yield path


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _copy(home: Home, source: Path, target: Path) -> None:
    """Copy one file, or link one that is never written again: the bot waits meanwhile."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        if source.is_relative_to(home.media):
            try:
                os.link(source, target, follow_symlinks=False)
            except FileNotFoundError:
                raise
            except (OSError, NotImplementedError):  # on a disk of its own, or one without links
                pass
            else:
                return
        shutil.copyfile(source, target, follow_symlinks=False)
        target.chmod(source.stat().st_mode & 0o700)
    except FileNotFoundError:  # removed meanwhile
        target.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError("backup.cannot_copy", source=source, reason=error) from error
