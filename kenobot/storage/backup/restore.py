"""Put a backup into a home; what stood there is moved aside, whole."""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import datetime
from pathlib import Path

from kenobot.core.settings.home import REPLACED_PREFIX, Home
from kenobot.ports.errors import ConfigError
from kenobot.storage import browser_sessions, keyboards, migrate
from kenobot.storage.backup.archive import DamagedBackup, Manifest, plain_archive, read_archive
from kenobot.storage.backup.snapshot import LOCKS, RESTORE_PREFIX, check_database, remove_leftovers
from kenobot.storage.connection import to_store_error
from kenobot.storage.disk import fsync_folder
from kenobot.storage.transactions import keep_whole

_REASON = "This is from a backup: it may have been answered or sent since. Retry it if it was not."


def check_archive(archive: Path, key_file: Path | None, beside: Path | None) -> Manifest:
    """Read an archive whole, and its database, and change nothing.

    beside: the folder for what is unpacked meanwhile, None for the system's. Raises KenobotError and OSError.
    """
    with (
        tempfile.TemporaryDirectory(dir=beside, prefix=RESTORE_PREFIX) as folder,
        plain_archive(archive, key_file, beside) as plain,
    ):
        return _unpack(plain, Path(folder))


def restore(home: Home, archive: Path, key_file: Path | None, at: datetime) -> tuple[Manifest, Path | None]:
    """Put a backup into a home that this process holds; returns its manifest, and where what it replaced now is.

    Messages that were on their way when the backup was made become dead letters: they may have been answered or sent
    since. Buttons of earlier messages end, since later ones bore numbers that are given again; so do the sessions of
    the dashboard, some of which may have been ended since. A backup without
    credentials leaves those of the home, and none changes how far its channels have read on their platforms.
    Everything is checked before anything is moved; a crash while it is moved leaves a mark, so that the home is not
    used before it is restored again.
    Raises KenobotError and OSError.
    """
    home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_leftovers(home)
    staging = Path(tempfile.mkdtemp(prefix=RESTORE_PREFIX, dir=home.path))
    try:
        with plain_archive(archive, key_file, home.path) as plain:
            manifest = _unpack(plain, staging)
        database = staging / home.database.name
        with tempfile.TemporaryDirectory(dir=home.path, prefix=RESTORE_PREFIX) as aside:
            migrate.migrate(database, Path(aside))
        _end_what_was_under_way(database, at)
        for path in staging.rglob("*"):
            if path.is_dir():
                fsync_folder(path)
        fsync_folder(staging)
        replaced = _swap(home, staging, manifest, at)
        keep_whole(home.database)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest, replaced


def _unpack(plain: Path, folder: Path) -> Manifest:
    manifest = read_archive(plain, folder)
    newest = migrate.migrations()[-1][0]
    if manifest.schema_version > newest:
        raise ConfigError("backup.newer_schema", version=manifest.schema_version, newest=newest)
    check_database(folder / Home(folder).database.name)
    return manifest


def _end_what_was_under_way(database: Path, at: datetime) -> None:
    ended = {"at": at.isoformat(), "reason": _REASON}
    try:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.executescript("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE;")
            connection.execute(
                "DELETE FROM turn_step WHERE inbox_id IN (SELECT id FROM inbox WHERE state IN ('pending', 'claimed'))"
            )
            connection.execute(
                "UPDATE inbox SET state = 'expired', reason = :reason, done_at = :at "
                "WHERE state IN ('pending', 'claimed')",
                ended,
            )
            connection.execute(
                "UPDATE outbox SET state = 'dead', reason = :reason, done_at = :at WHERE state = 'pending'", ended
            )
            keyboards.end_all(connection)
            browser_sessions.end_all(connection)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise to_store_error(error) from error


def _swap(home: Home, staging: Path, manifest: Manifest, at: datetime) -> Path | None:
    """Move what the home holds into a folder of its own, and the staged files into its place, the database last."""
    kept = {home.backups.name, home.versions.name, *LOCKS}
    if not manifest.credentials:
        kept.add(home.credentials.name)
    if home.channels.is_dir():  # a place in a room's history is the platform's, and must not go back
        shutil.rmtree(staging / home.channels.name, ignore_errors=True)
        kept.add(home.channels.name)
    new = sorted(staging.iterdir(), key=lambda path: path.name == home.database.name)
    if wrong := kept.intersection(path.name for path in new):
        raise DamagedBackup("backup.wrong_contents", path=min(wrong))
    left = (RESTORE_PREFIX, REPLACED_PREFIX)
    old = [path for path in home.path.iterdir() if path.name not in kept and not path.name.startswith(left)]
    home.begin_restore()
    aside = Path(tempfile.mkdtemp(prefix=f"{REPLACED_PREFIX}{at:%Y%m%dT%H%M%SZ}-", dir=home.path)) if old else None
    for path in old:
        if aside is not None and path != home.restore_mark:
            path.rename(aside / path.name)
    for path in new:
        path.rename(home.path / path.name)
        fsync_folder(home.path)
    home.end_restore()
    return aside
