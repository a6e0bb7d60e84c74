"""Tell which cores and memory this process may use, within the limits of a container (Linux, cgroup v2)."""

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path

from kenobot.ports.frozen import dataclass

_ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class Machine:
    """memory: in bytes; 0 when it is not known."""

    cores: int
    memory: int


def this_machine(root: Path = _ROOT) -> Machine:
    """Return the cores and the memory that this process may use. root: where the kernel's files are."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = _read_installed_memory()
    for group in _control_groups(root):
        quota, _, period = _first_line(group / "cpu.max").partition(" ")
        if quota.isdecimal() and period.isdecimal():
            cores = min(cores, ceil(int(quota) / int(period)))
        most = _first_line(group / "memory.max")
        if most.isdecimal():
            memory = min(memory, int(most)) if memory else int(most)
    return Machine(max(1, cores), memory)


def _read_installed_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def _control_groups(root: Path) -> Iterator[Path]:
    """Yield this process's group, and those around it, each of which may set a limit."""
    mounted = root / "sys/fs/cgroup"
    group = mounted / _first_line(root / "proc/self/cgroup").removeprefix("0::").strip("/")
    yield group
    yield from (parent for parent in group.parents if parent.is_relative_to(mounted))


def _first_line(path: Path) -> str:
    """Return the first line of a small file; "" where it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").partition("\n")[0].strip()
    except OSError:
        return ""
