"""What this machine lets one try: strace, mounting, another clock. Each says why not, "" when it works."""

import asyncio
import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@functools.cache
def no_strace() -> str:
    """Why nothing can be traced here."""
    if not shutil.which("strace"):
        return "strace is not installed"
    done = _run("strace", "-f", "-o", os.devnull, "-e", "inject=fsync:error=EIO:when=1", sys.executable, "-c", "0")
    return "" if done.returncode == 0 else f"strace may not trace ({_last(done)})"


@functools.cache
def no_mount(kind: str) -> str:
    """Why no file system of this kind, tmpfs or ext4, can be mounted here."""
    if os.geteuid():
        return "mounting needs root"
    if not shutil.which("mount"):
        return "mount is not installed"
    if kind == "ext4" and not shutil.which("mkfs.ext4"):
        return "mkfs.ext4 is not installed"
    with tempfile.TemporaryDirectory(prefix="kenobot-crash-") as folder:
        where = Path(folder) / "mounted"
        where.mkdir()
        source, options = "none", "size=1m"
        if kind == "ext4":
            source, options = str(new_image(Path(folder) / "image", 4)), "loop"
        done = _run("mount", "-t", kind, "-o", options, source, str(where))
        if done.returncode:
            return f"{kind} cannot be mounted ({_last(done)})"
        _run("umount", str(where))
    return ""


@functools.cache
def no_freeze() -> str:
    """Why no file system can be frozen here."""
    if missing := no_mount("ext4"):
        return missing
    if not shutil.which("fsfreeze"):
        return "fsfreeze is not installed"
    with tempfile.TemporaryDirectory(prefix="kenobot-crash-") as folder:
        where = Path(folder) / "mounted"
        where.mkdir()
        _run("mount", "-o", "loop", str(new_image(Path(folder) / "image", 4)), str(where))
        try:
            done = _run("fsfreeze", "-f", str(where))
            if done.returncode:
                return f"no file system can be frozen ({_last(done)})"
            _run("fsfreeze", "-u", str(where))
        finally:
            _run("umount", str(where))
    return ""


@functools.cache
def faketime() -> tuple[str, Mapping[str, str]]:
    """Why there is no other clock here, and what to put into the environment for one (but for the time itself)."""
    if not shutil.which("faketime"):
        return "faketime is not installed", {}
    done = _run("faketime", "-f", "+0", "env")
    found = re.search(r"^LD_PRELOAD=(.+)$", done.stdout, re.MULTILINE)
    if not found:
        return "faketime does not work", {}
    return "", {"LD_PRELOAD": found[1].replace("libfaketime.so", "libfaketimeMT.so")}


def new_image(path: Path, megabytes: int) -> Path:
    """A file that holds a new, empty ext4."""
    with path.open("wb") as file:
        file.truncate(megabytes * 1024 * 1024)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(path)], check=True)
    return path


@contextlib.asynccontextmanager
async def mounted(kind: str, source: str, options: str, where: Path) -> AsyncIterator[Path]:
    """A file system mounted at `where`, and unmounted again whatever happens."""
    where.mkdir(exist_ok=True)
    await run("mount", "-t", kind, "-o", options, source, str(where))
    try:
        yield where
    finally:
        for _ in range(50):
            if _run("umount", str(where)).returncode == 0:
                break
            await asyncio.sleep(0.1)
        else:
            await run("umount", "-l", str(where))


async def run(*command: str) -> None:
    """Run a command. Raises RuntimeError with its complaint."""
    done = await asyncio.to_thread(_run, *command)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {_last(done)}")


async def side_by_side(cases: Sequence[T], play: Callable[[T], Awaitable[None]], workers: int = 3) -> None:
    """Play all cases, some at a time. The first that raises stops the rest."""
    waiting = list(cases)[::-1]

    async def work() -> None:
        while waiting:
            await play(waiting.pop())

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL)


def _last(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stderr or done.stdout or f"exit code {done.returncode}").strip().splitlines()[-1]
