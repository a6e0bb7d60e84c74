"""Run a confined command within limits of time, memory, processes and output, and tell what came of it."""

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from kenobot.core import lazy
from kenobot.core.limited_program import kill_session
from kenobot.core.redaction import escape_controls
from kenobot.ports.frozen import dataclass
from kenobot.tools.workspace.sandbox import Confinement, Sandbox, start
from kenobot.tools.workspace.watch import Bounds, find_descendants, watch

_CHUNK: Final = 65_536
_HEAD, _TAIL = 4_000, 2_000  # bytes of each stream that are shown
_MOST_PRINTED: Final = 50_000_000
_ENDING: Final = 0.5  # seconds for a sandbox to end what is in it
_ESCAPES: Final = lazy.regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")


@dataclass(slots=True)
class Printed:
    """The beginning and the end of what a command printed."""

    head: bytearray = field(default_factory=bytearray)  # bounded: the output of one command; call
    tail: deque[int] = field(default_factory=lambda: deque(maxlen=_TAIL))  # bounded: the output of one command; call
    total: int = 0

    def add(self, chunk: bytes) -> None:
        """Take in what was printed next."""
        self.total += len(chunk)
        room = _HEAD - len(self.head)
        self.head += chunk[: max(0, room)]
        self.tail.extend(chunk[max(0, room) :][-_TAIL:])

    def show(self) -> str:
        """Return it as text, with a note of what is left out, and without what only a terminal understands."""
        left_out = self.total - len(self.head) - len(self.tail)
        note = f"\n[… {left_out:,} bytes are left out here …]\n".encode() if left_out else b""
        text = (bytes(self.head) + note + bytes(self.tail)).decode("utf-8", "replace")
        lines = (line.rstrip("\r").rpartition("\r")[2] for line in _ESCAPES.sub("", text).split("\n"))
        return escape_controls("\n".join(lines)).strip("\n")


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a command. status: None where it was ended, because of `why`."""

    status: int | None
    why: str
    output: Printed
    errors: Printed

    def tell(self) -> str:
        """Word it for a model."""
        end = f"[exit status {self.status}]" if self.status is not None else f"[ended: {self.why}]"
        output, errors = self.output.show(), self.errors.show()
        said = [end, *([output] if output else []), *(["[standard error]", errors] if errors else [])]
        return "\n".join(said if output or errors else [end, "(it printed nothing)"])


async def run_confined(command: Sequence[str], sandbox: Sandbox, confinement: Confinement) -> Ended:
    """Run a command to its end, or end it, with all that it started, at its limits or when this is cancelled."""
    process = await start(command, sandbox, confinement, asyncio.subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors, flood = Printed(), Printed(), asyncio.Event()
    pumps = (_pump(process.stdout, output, flood), _pump(process.stderr, errors, flood))
    read = asyncio.gather(*pumps, process.wait())
    bounds = Bounds(confinement.processes, confinement.memory)
    watched = asyncio.ensure_future(watch(process.pid, bounds, confinement.workspace))
    flooded = asyncio.ensure_future(flood.wait())
    try:
        await asyncio.wait((read, watched, flooded), timeout=confinement.seconds, return_when=asyncio.FIRST_COMPLETED)
        why = f"it took longer than {confinement.seconds:g} seconds"
        if flooded.done():
            why = f"it printed more than {_MOST_PRINTED // 1_000_000} MB"
        elif watched.done():
            why = watched.result()
        return Ended(process.returncode if read.done() and not flooded.done() else None, why, output, errors)
    finally:
        watched.cancel()
        flooded.cancel()
        await _end(process, sandbox)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(read, _ENDING)
        process._transport.close()  # type: ignore[attr-defined]  # pipes that something holds: asyncio has no other way


async def _pump(stream: asyncio.StreamReader, printed: Printed, flood: asyncio.Event) -> None:
    """Take in what a stream brings, and say when that is a flood."""
    while chunk := await stream.read(_CHUNK):
        printed.add(chunk)
        if printed.total > _MOST_PRINTED:
            flood.set()


async def _end(process: asyncio.subprocess.Process, sandbox: Sandbox) -> None:
    """End a sandbox and all that is in it."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, TimeoutError):
            if sandbox.end_signal == signal.SIGKILL:  # the first process of a namespace takes all others with it
                for first in find_descendants(process.pid, 1):
                    os.kill(first, signal.SIGKILL)
            os.kill(process.pid, sandbox.end_signal)
            await asyncio.wait_for(process.wait(), _ENDING)
    await kill_session(process)
