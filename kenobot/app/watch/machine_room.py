"""Measure the process and its disk: memory taken, the limit of it, and room left."""

import os
from pathlib import Path

from kenobot.ports.frozen import dataclass

_PAGE = os.sysconf("SC_PAGE_SIZE")
_STATM = Path("/proc/self/statm")
_CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Room:
    """Room on a disk. free: bytes for us. read_only: nothing can be written, however much there is."""

    free: int
    read_only: bool


def disk_room(path: Path) -> Room:
    """Return what is left on the disk of a folder. Raises OSError."""
    found = os.statvfs(path)
    no_files = found.f_files > 0 and found.f_favail == 0
    return Room(0 if no_files else found.f_bavail * found.f_frsize, bool(found.f_flag & os.ST_RDONLY))


def resident_bytes() -> int | None:
    """Return the memory that this process takes; None where the system does not tell."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return None


def memory_limit(cgroups: Path = _CGROUPS, of: Path = Path("/proc/self/cgroup")) -> int | None:
    """Return the least memory limit of the control groups that this process is in (v2); None without any."""
    try:
        names = [line.partition("::")[2] for line in of.read_text("ascii").splitlines() if line.startswith("0::")]
        place = cgroups / names[0].lstrip("/") if names else cgroups
        folders = [each for each in (place, *place.parents) if each == cgroups or cgroups in each.parents]
        texts = [(each / "memory.max").read_text("ascii").strip() for each in folders if (each / "memory.max").exists()]
        return min((int(text) for text in texts if text.isdecimal()), default=None)
    except (OSError, ValueError):
        return None
