"""Tell faults of a disk, which pass by themselves, from what a person must mend in the home or its settings."""

import errno
import os
from pathlib import Path

from kenobot.ports.errors import ConfigError, KenobotError, StoreError, StoreFull

_LEAST_BYTES = 64 * 1024  # what SQLite needs beside a database to open it


def name_fault(path: Path, error: OSError, key: str) -> KenobotError:
    """Name the fault of the disk of `path` that an error tells of; without one, make a ConfigError of the key."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return _report_full(path)
        case errno.EROFS:
            return _read_only(path)
        case errno.EIO:
            return name_failure(path)
        case _:
            return ConfigError(key, path=path, reason=error)


def find_fault(path: Path) -> StoreError | None:
    """Find out whether nothing can be written on the disk of `path`, which need not be there yet; None if it can."""
    for place in (path, *path.parents):
        try:
            disk = os.statvfs(place)
        except OSError:
            continue
        if disk.f_flag & os.ST_RDONLY:
            return _read_only(path)
        is_full = disk.f_bavail * disk.f_frsize < _LEAST_BYTES or (disk.f_files > 0 and disk.f_favail == 0)
        return _report_full(path) if is_full else None
    return None


def name_failure(path: Path) -> StoreError:
    """Make the error of a disk that answers with errors of its own."""
    return StoreError("disk.fails", path=path)


def _report_full(path: Path) -> StoreFull:
    return StoreFull("disk.full_at", path=path)


def _read_only(path: Path) -> StoreFull:
    return StoreFull("disk.read_only", path=path)
