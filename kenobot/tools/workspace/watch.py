"""Watch what a command and all that it started take of the machine, and say when that is too much."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kenobot.ports.frozen import dataclass

_EVERY: Final = 0.05  # seconds
_LEAST_LEFT: Final = 0.5  # of what was free on the disk, and of memory, when it began
_COUNTED: Final = ("RssAnon:", "RssShmem:")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a command in all: processes, and bytes of memory."""

    processes: int
    memory: int


async def watch(process: int, bounds: Bounds, folder: Path) -> str:
    """Return why a command has to be ended, once it has. folder: on whose disk it writes."""
    disk, memory = await asyncio.to_thread(_read_free, folder)
    while True:
        await asyncio.sleep(_EVERY)
        if why := await asyncio.to_thread(_excess, process, bounds, folder, disk, memory):
            return why


def _excess(process: int, bounds: Bounds, folder: Path, disk: int, memory: int) -> str:
    tree = list(find_descendants(process, bounds.processes + 1))
    if len(tree) > bounds.processes:
        return f"it started more than {bounds.processes} processes"
    if sum(map(_read_resident_bytes, tree)) > bounds.memory:
        return f"it took more than {bounds.memory // 1_000_000} MB of memory"
    disk_now, memory_now = _read_free(folder)
    if disk_now < _LEAST_LEFT * disk:
        return "the disk became half as empty as before"
    if memory_now < _LEAST_LEFT * memory:
        return "the machine's memory became half as empty as before"
    return ""


def find_descendants(process: int, most: int) -> Iterator[int]:
    """Yield the processes below one, so many at most."""
    waiting = [process]
    while waiting and most > 0:
        each = waiting.pop()
        for task in _entries(f"/proc/{each}/task"):
            for child in _read(f"/proc/{each}/task/{task}/children").split():
                most -= 1
                if most < 0:
                    return
                waiting.append(int(child))
                yield int(child)


def _read_resident_bytes(process: int) -> int:
    lines = _read(f"/proc/{process}/status").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(_COUNTED))


def _read_free(folder: Path) -> tuple[int, int]:
    """Return the bytes that are free on the disk of a folder, and of memory."""
    available = next((line for line in _read("/proc/meminfo").splitlines() if line.startswith("MemAvailable:")), "0 0")
    try:
        disk = shutil.disk_usage(folder).free
    except OSError:
        disk = 0
    return disk, int(available.split()[1]) * 1024


def _entries(path: str) -> list[str]:
    try:
        return os.listdir(path)  # noqa: PTH208
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        return Path(path).read_text("ascii", "replace")
    except OSError:
        return ""
