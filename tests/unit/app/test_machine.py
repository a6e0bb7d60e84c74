"""What of the machine may be used: no more than its container allows."""

import os
from pathlib import Path

import pytest

from kenobot.app import machine
from kenobot.app.machine import Machine, this_machine

GB = 1_000_000_000


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of eight cores and sixteen gigabytes."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(machine, "_read_installed_memory", lambda: 16 * GB)


def kernel(root: Path, group: str, **limits: tuple[str, str]) -> Path:
    """The kernel's files. limits: of each group by its path with `_` for `/`, the cores' and the memory's."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"0::{group}\n")
    for path, (cores, memory) in limits.items():
        folder = root / "sys/fs/cgroup" / path.replace("_", "/").strip("/")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(f"{cores}\n")
        (folder / "memory.max").write_text(f"{memory}\n")
    return root


def test_without_limits_it_is_the_whole_machine(tmp_path: Path) -> None:
    """Where there are no such files, or they say `max`."""
    assert this_machine(tmp_path) == Machine(8, 16 * GB)
    assert this_machine(kernel(tmp_path, "/", _=("max 100000", "max"))) == Machine(8, 16 * GB)


def test_a_container_counts(tmp_path: Path) -> None:
    """One and a half cores are two."""
    assert this_machine(kernel(tmp_path, "/", _=("150000 100000", str(GB)))) == Machine(2, GB)


def test_the_narrowest_group_around_it_counts(tmp_path: Path) -> None:
    """A service may be limited by itself or by its slice."""
    root = kernel(tmp_path, "/slice/bot", slice=("100000 100000", "max"), slice_bot=("max 100000", str(2 * GB)))
    assert this_machine(root) == Machine(1, 2 * GB)


@pytest.mark.parametrize("odd", ["", "nonsense", "-1 0", "5"])
def test_limits_that_cannot_be_read_are_none(tmp_path: Path, odd: str) -> None:
    """A start never fails for them."""
    assert this_machine(kernel(tmp_path, "/", _=(odd, odd.partition(" ")[0] if odd != "5" else "x"))).cores == 8
