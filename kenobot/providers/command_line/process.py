"""Run a program once, without a shell: a text goes in, lines come out, and the whole process group ends with it."""

import asyncio
import os
import shutil
import signal
import tempfile
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from kenobot.ports.frozen import dataclass
from kenobot.providers.service import EndlessAnswer

MOST_LINE_BYTES: Final = 4 * 1024 * 1024
_END_SECONDS: Final = 5.0
_TAIL_BYTES: Final = 4096
_PIECE_BYTES: Final = 64 * 1024


class Lines:
    """Lines of an output that comes in pieces."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []  # bounded: 4 MB; test_a_line_has_an_end
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that a piece completes. Raises EndlessAnswer for one longer than any of an answer."""
        self._begun.append(piece)
        self._size += len(piece)
        if self._size > MOST_LINE_BYTES:
            raise EndlessAnswer
        if b"\n" not in piece:
            return []
        *lines, begun = b"".join(self._begun).split(b"\n")
        self._begun, self._size = [begun], len(begun)
        return lines


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a program. complaints: the end of what it wrote as errors, so far."""

    process: Process
    complaints: bytearray

    async def read(self) -> bytes:
        """Return the next piece of the output; nothing at its end."""
        assert self.process.stdout is not None
        return await self.process.stdout.read(_PIECE_BYTES)

    async def exit_code(self) -> int:
        """Wait for the end of the program itself. Raises TimeoutError when it closed its output and does not end."""
        async with asyncio.timeout(_END_SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def empty_folder(files: Mapping[str, str]) -> AsyncIterator[Path]:
    """Make a folder of its own, nobody else's to read, with these files in it; remove it afterwards."""
    made = asyncio.ensure_future(asyncio.to_thread(_make, files))
    try:
        yield await asyncio.shield(made)
    finally:
        # Also when cancelled before it was made: the thread goes on.
        folder = await made
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


def _make(files: Mapping[str, str]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="kenobot-"))
    try:
        for name in ("work", "home"):
            (folder / name).mkdir()
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    except OSError:  # such as a full disk
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


@asynccontextmanager
async def running(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, text: str
) -> AsyncIterator[Run]:
    """Run a program within. Raises OSError when it cannot be started.

    At the end, and when cancelled, every process of its group is killed.
    """
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        partial(SubprocessStreamProtocol, _PIECE_BYTES, loop),
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    process = Process(transport, protocol, loop)
    complaints = bytearray()
    pipes = [asyncio.create_task(_feed(process, text)), asyncio.create_task(_drain(process, complaints))]
    try:
        yield Run(process, complaints)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in pipes:
            pipe.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
        # A process that left the group may still hold the pipes; they are closed in the loop's next round.
        transport.close()
        await asyncio.sleep(0)


async def _feed(process: Process, text: str) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # a program need not read it to its end
        process.stdin.write(text.encode("utf-8"))
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()


async def _drain(process: Process, complaints: bytearray) -> None:
    assert process.stderr is not None
    while piece := await process.stderr.read(_TAIL_BYTES):
        complaints += piece
        del complaints[:-_TAIL_BYTES]
