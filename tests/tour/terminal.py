"""A person at a terminal: starts a command, sees its screen, types."""

import asyncio
import codecs
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.tour.screen import Screen

ROWS, COLUMNS = 50, 110
_SECONDS = 120.0  # for a machine that is busy; a wait ends as soon as its state is there
_WHERE = "\x1b[6n"  # a line editor asks for the place of the cursor


def _hear_ctrl_c() -> None:
    """Tests that a shell runs in the background inherit that SIGINT is ignored, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """One command in a terminal of its own."""

    def __init__(self) -> None:
        self.screen = Screen()
        self._changed = asyncio.Event()
        self._ended = False
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._near = self._typed_at = -1
        self.process: asyncio.subprocess.Process | None = None

    @classmethod
    async def start(cls, command: Sequence[str], environ: Mapping[str, str], folder: str) -> Self:
        """Start a command whose three streams are this terminal."""
        self = cls()
        self._near, far = os.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        try:
            self.process = await asyncio.create_subprocess_exec(
                *command,
                stdin=far,
                stdout=far,
                stderr=far,
                env=environ,
                cwd=folder,
                start_new_session=True,
                preexec_fn=_hear_ctrl_c,
            )
        finally:
            os.close(far)
        asyncio.get_running_loop().add_reader(self._near, self._read)
        return self

    def _read(self) -> None:
        try:
            data = os.read(self._near, 65536)
        except OSError:  # the last program has left
            data = b""
        text = self._decode(data)
        self.screen.feed(text)
        if _WHERE in text:
            self._send(f"\x1b[{min(ROWS // 2, len(self.screen.lines))};1R")
        if not data:
            self._ended = True
            asyncio.get_running_loop().remove_reader(self._near)
        self._changed.set()

    def type(self, text: str, end: str = "\r") -> None:
        """Type a line and press Enter."""
        self._send(text + end)

    async def interrupt(self) -> None:
        """Press Ctrl-C once the command waits: Python forgets a signal between its prompt and its wait for a key."""
        assert self.process is not None
        stat = Path(f"/proc/{self.process.pid}/stat")
        async with asyncio.timeout(_SECONDS):
            while stat.read_text().rpartition(")")[2].split()[0] != "S":
                await asyncio.sleep(0.01)
        self._send("\x03")

    def _send(self, text: str) -> None:
        os.write(self._near, text.encode())

    async def sees(self, wanted: Callable[[Screen], bool]) -> None:
        """Return once the screen is as wanted. Raises AssertionError when the command ends before."""
        try:
            async with asyncio.timeout(_SECONDS):
                while not wanted(self.screen):
                    assert not self._ended, "\n".join(self.screen.lines)
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError("\n".join([*self.screen.lines, f"cursor behind {self.screen.current!r}"])) from None

    async def asks(self) -> None:
        """Return once the command asks something, below what was typed last."""
        row = self._typed_at
        await self.sees(lambda screen: screen.row > row and screen.current.endswith((": ", "] ")))
        self._typed_at = self.screen.row

    async def ends(self) -> int:
        """Return the exit code once the command has ended and all of its output is here."""
        assert self.process is not None
        async with asyncio.timeout(_SECONDS):
            code = await self.process.wait()
            while not self._ended:
                self._changed.clear()
                await self._changed.wait()
        os.close(self._near)
        return code

    async def close(self) -> None:
        """End the command if it still runs, such as after a failure."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.ends()
