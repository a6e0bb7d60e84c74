"""Make a backup of a home, and thin out those that there are."""

import shutil
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from kenobot.core.settings.home import REPLACED_PREFIX, Home
from kenobot.ports.frozen import dataclass
from kenobot.storage import migrate
from kenobot.storage.backup.archive import (
    FORMAT,
    Manifest,
    Progress,
    check_recipients,
    list_files,
    write_archive,
)
from kenobot.storage.backup.names import archive_name, find_archives, remove_parts
from kenobot.storage.backup.snapshot import STAGING_PREFIX, remove_leftovers, take_snapshot

COMMAND_SECONDS = 3600.0
"""How long the owner's command after a backup may take: it copies a whole home over a slow line."""


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """Content and destination of a backup. recipients: of age; none leaves it unencrypted.

    keep: how many stay in the folder. keep_days: for how long at most, but for the newest; 0 is for ever.
    """

    folder: Path
    credentials: bool = False
    recipients: Sequence[str] = ()
    keep: int = 7
    keep_days: int = 0


@dataclass(frozen=True, slots=True)
class FinishedBackup:
    """A backup that was read back. skipped: what was left out, but for what is made anew.

    removed: older ones that went.
    """

    archive: Path
    manifest: Manifest
    skipped: Sequence[str]
    removed: Sequence[Path]


def list_replaced_folders(home: Home) -> list[Path]:
    """List the folders of what restored backups replaced, oldest first. Raises OSError."""
    return sorted(path for path in home.path.glob(f"{REPLACED_PREFIX}*") if path.is_dir())


def find_copies(home: Home, folder: Path) -> list[Path]:
    """List what holds earlier states of a home: copies of its database, archives, and what was replaced.

    folder: of its backups.
    """
    archives = [path for each in {home.backups, folder} for _, path in find_archives(each)]
    return [*sorted(home.backups.glob("*.db")), *sorted(archives), *list_replaced_folders(home)]


def make_backup(home: Home, plan: BackupPlan, at: datetime, progress: Progress) -> FinishedBackup:
    """Back up a home, beside a bot that may be running. Raises KenobotError and OSError."""
    home.check_restored()
    check_recipients(plan.recipients)
    remove_leftovers(home)
    remove_parts(plan.folder)
    staging = Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=home.path))
    try:
        files = staging / "home"
        files.mkdir(mode=0o700)
        skipped = take_snapshot(home, files, credentials=plan.credentials)
        schema = migrate.schema_version(files / home.database.name)
        manifest = Manifest(
            format=FORMAT,
            made_at=at,
            kenobot=version("kenobot"),
            schema_version=schema,
            credentials=plan.credentials,
            files=list_files(files),
        )
        archive = plan.folder / archive_name(at, encrypted=bool(plan.recipients))
        write_archive(files, archive, manifest, plan.recipients, progress)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return FinishedBackup(archive, manifest, skipped, _thin_out(plan, archive, at))


def _thin_out(plan: BackupPlan, made: Path, at: datetime) -> list[Path]:
    """Remove the oldest; never the one just made, though a clock that was wrong may have dated others later."""
    others = [(moment, path) for moment, path in find_archives(plan.folder) if path != made]
    since = at - timedelta(days=plan.keep_days) if plan.keep_days else None
    surplus = len(others) + 1 - plan.keep
    gone = [path for n, (moment, path) in enumerate(others) if n < surplus or (since is not None and moment < since)]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone
