"""Run a Python program of this package on a file of a stranger's, in a process of its own and within limits."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

_CHUNK = 65_536
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


async def run_program(
    program: Path,
    arguments: Sequence[str],
    *,
    seconds: float,
    most_bytes: int,
    environ: Mapping[str, str] = _NO_VARIABLES,
) -> tuple[int, bytes]:
    """Run `program`; return its exit status and what it printed, cut after little more than `most_bytes`.

    seconds: after which it is killed, with all that it started. environ: variables beside LANG; it inherits none.
    Raises TimeoutError.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", str(program), *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"LANG": "C.UTF-8", **environ},
        start_new_session=True,
    )
    assert process.stdout is not None
    printed = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while chunk := await process.stdout.read(_CHUNK):
                if len(printed) <= most_bytes:
                    printed += chunk
            return await process.wait(), bytes(printed)
    finally:
        await kill_session(process)


@contextlib.asynccontextmanager
async def temporary_file(content: bytes) -> AsyncIterator[Path]:
    """Write a file for a program to read, which only this account can open, and remove it in the end."""
    folder = Path(tempfile.mkdtemp(prefix="kenobot-"))
    try:
        await asyncio.to_thread((folder / "content").write_bytes, content)
        yield folder / "content"
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def kill_session(process: asyncio.subprocess.Process) -> None:
    """Kill a process that leads a session of its own, with all that it started, unless it has ended."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
