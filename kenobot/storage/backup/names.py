"""Name and find the archives of backups: a bot looks how old the newest is, and seldom makes one."""

import secrets
from datetime import datetime
from pathlib import Path

from kenobot.core import lazy
from kenobot.core.settings.home import Home

ENCRYPTED_SUFFIX = ".age"
PART = ".part"
_NAME = lazy.regex(r"kenobot-(\d{8}T\d{6}Z)(?:-[0-9a-f]{4})?\.tar\.gz(\.age)?")


def backup_folder(home: Home, configured: str) -> Path:
    """Locate the folder of backups: the setting, from the home on, or the home's own."""
    return home.path / Path(configured).expanduser() if configured else home.backups


def archive_name(at: datetime, *, encrypted: bool) -> str:
    """Name an archive by its moment, in UTC; several of one second stay apart."""
    end = ENCRYPTED_SUFFIX if encrypted else ""
    return f"kenobot-{at:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}.tar.gz{end}"


def is_archive(name: str) -> bool:
    """Return whether a file of this name is an archive, or was to be one."""
    return _NAME.fullmatch(name.removeprefix(".").removesuffix(PART)) is not None


def remove_parts(folder: Path) -> None:
    """Remove what a backup left in its folder that was killed. Raises OSError."""
    for part in folder.glob(f".*{PART}"):
        if is_archive(part.name):
            part.unlink(missing_ok=True)


def find_archives(folder: Path) -> list[tuple[datetime, Path]]:
    """List the archives of a folder with their moments, oldest first."""
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:
        return []
    matches = [match for name in names if (match := _NAME.fullmatch(name))]
    return sorted((datetime.fromisoformat(match[1]), folder / match[0]) for match in matches)
