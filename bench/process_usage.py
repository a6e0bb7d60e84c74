"""Measure the CPU and memory of a process and of all that it started, from outside (Linux)."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_SCHEDULED = 2  # the clock of a process that counts what its threads ran, to the nanosecond

_AT_WORK = "RD"  # states of a thread: it runs or could run, it waits for the disk


def cpu_seconds(pid: int) -> float:
    """CPU of a process tree so far, of all threads and of children that have ended, user and system."""
    return sum(map(_cpu, _tree(pid)))


def is_at_work(pid: int) -> bool:
    """Return whether a thread of a process tree runs, or waits for a processor or for the disk.

    On a busy machine a process takes no CPU while it waits for its turn, and is not at rest for that.
    """
    return any(map(_is_at_work, _tree(pid)))


def resident_mb(pid: int) -> float:
    """Resident memory of a process tree, in MB; pages that processes share count once for each."""
    return sum(map(_resident, _tree(pid)))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for file in (_PROC / str(pid) / "task").glob("*/children"):
        try:
            children = file.read_text().split()
        except OSError:  # the thread has ended
            continue
        for child in children:
            yield from _tree(int(child))


def _cpu(pid: int) -> float:
    try:
        ended = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[13:15]
        return time.clock_gettime(~pid << 3 | _SCHEDULED) + sum(map(int, ended)) / _TICKS
    except OSError:
        return 0.0


def _is_at_work(pid: int) -> bool:
    for file in (_PROC / str(pid) / "task").glob("*/stat"):
        try:
            state = file.read_text().rpartition(")")[2].split()[0]
        except OSError:  # the thread has ended
            continue
        if state in _AT_WORK:
            return True
    return False


def _resident(pid: int) -> float:
    try:
        status = (_PROC / str(pid) / "status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0) / 1024
