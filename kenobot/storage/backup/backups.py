"""Make a backup of a home, and thin out those that there are."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from kenobot.core.settings.home import Home
from kenobot.storage import migrate
from kenobot.storage.backup.archive import (
    FORMAT,
    Manifest,
    Progress,
    archive_name,
    check_recipients,
    find_archives,
    list_files,
    write_archive,
)
from kenobot.storage.backup.snapshot import STAGING_PREFIX, take_snapshot


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """What a backup holds and where it goes. recipients: of age; none leaves it unencrypted.

    keep: how many stay in the folder. keep_days: for how long at most, but for the newest; 0 is for ever.
    """

    folder: Path
    credentials: bool = False
    recipients: Sequence[str] = ()
    keep: int = 7
    keep_days: int = 0


@dataclass(frozen=True, slots=True)
class FinishedBackup:
    """A backup that was read back. skipped: links, which are left out. removed: older ones that went."""

    archive: Path
    manifest: Manifest
    skipped: Sequence[str]
    removed: Sequence[Path]


def backup_folder(home: Home, configured: str) -> Path:
    """Locate the folder of backups: the setting, from the home on, or the home's own."""
    return home.path / Path(configured).expanduser() if configured else home.backups


def make_backup(home: Home, plan: BackupPlan, at: datetime, progress: Progress) -> FinishedBackup:
    """Back up a home, beside a bot that may be running. Raises KenobotError and OSError."""
    home.check_restored()
    check_recipients(plan.recipients)
    _remove_leftovers(home)
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
    return FinishedBackup(archive, manifest, skipped, _thin_out(plan, at))


def _remove_leftovers(home: Home) -> None:
    """Remove what a backup left that was killed. One that is under way beside this one then fails."""
    for left in home.path.glob(f"{STAGING_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)


def _thin_out(plan: BackupPlan, at: datetime) -> list[Path]:
    archives = find_archives(plan.folder)
    since = at - timedelta(days=plan.keep_days) if plan.keep_days else None
    older = archives[:-1]  # the newest stays, whatever its age
    kept = archives[-plan.keep :]
    gone = [path for moment, path in older if (moment, path) not in kept or (since is not None and moment < since)]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone
