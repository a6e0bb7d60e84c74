"""`kenobot run` as a process of its own, before the stand-in for Telegram."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.constants import write_variable
from tests.integration.stand_in import KEY, OWNER, TOKEN, Telegram


class Running(Protocol):
    """A process that has been started; asyncio's own is one."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    @property
    def stderr(self) -> asyncio.StreamReader | None: ...

    def send_signal(self, signal: int) -> None: ...

    async def wait(self) -> int: ...


Starter = Callable[[list[str], dict[str, str]], Awaitable[Running]]


_WORDS = {"KENOBOT_MEMORY__EMBEDDER": "none"}  # what is not about meaning needs no model


async def execute(command: list[str], environ: dict[str, str]) -> Running:
    """Start `command` as a new process, with its stderr in a pipe."""
    return await asyncio.create_subprocess_exec(
        *command, stderr=asyncio.subprocess.PIPE, env=environ, cwd=Path(__file__).resolve().parents[2]
    )


@dataclass
class Bot:
    """`kenobot run` as a process of its own. `log` holds what it wrote to stderr over all its lives.

    wrap: a command that runs it, such as strace with its options. environ: added to its environment. starter: another
    way to start it. constants: others than the product's, by name.
    """

    home: Path
    telegram: Telegram
    model_url: str
    start_at: str = ""
    extra: str = ""
    log: list[str] = field(default_factory=list)
    wrap: tuple[str, ...] = ()
    environ: dict[str, str] = field(default_factory=dict)
    starter: Starter = execute
    process: Running | None = None
    fragment_seconds: float = 0.0
    constants: Mapping[str, object] = field(default_factory=dict)
    _reader: asyncio.Task[None] | None = None
    _ready: asyncio.Event = field(default_factory=asyncio.Event)

    def configure(self, owners: tuple[str, ...] = (OWNER,)) -> None:
        """Write the home's kenobot.toml."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / "kenobot.toml").write_text(
            "[provider]\nname = 'anthropic'\n"
            "[models]\ncheap = 'offline'\n"  # by the rules: the stand-in's requests are those of the turns
            f"[providers.anthropic]\nbase_url = '{self.model_url}'\n"
            "[channels]\nenabled = ['telegram']\n"
            f"[channels.telegram]\nbase_url = '{self.telegram.base_url}'\nowners = {list(owners)!r}\n"
            f"fragment_seconds = {self.fragment_seconds}\n{self.extra}"
        )

    async def spawn(self) -> None:
        """Start it and wait for nothing."""
        is_real = not self.start_at and (not self.constants or self.starter is not execute)
        module = ["kenobot"] if is_real else ["tests.integration.clocked", self.start_at]
        self._ready.clear()
        self.process = await self.starter(
            [*self.wrap, sys.executable, "-m", *module, "run", "--home", str(self.home)],
            {
                **_WORDS,
                **os.environ,
                "TELEGRAM_BOT_TOKEN": TOKEN,
                "ANTHROPIC_API_KEY": KEY,
                **write_variable(self.constants),
                **self.environ,
            },
        )
        self._reader = asyncio.create_task(self._read(self.process))

    async def comes_up(self, seconds: float = 60) -> bool:
        """Wait until it says that it is ready, or has ended; which of the two."""
        assert self.process is not None
        waiting = asyncio.create_task(self._ready.wait())
        ended = asyncio.create_task(self.process.wait())
        try:
            async with asyncio.timeout(seconds):
                await asyncio.wait({waiting, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            ended.cancel()
        return self._ready.is_set()

    async def start(self) -> None:
        """Start it and wait until it says that it is ready."""
        await self.spawn()
        if not await self.comes_up():
            raise AssertionError("kenobot did not start:\n" + "".join(self.log[-20:]))

    async def kill(self) -> None:
        """kill -9."""
        await self._end(signal.SIGKILL)

    async def terminate(self) -> int:
        """SIGTERM; returns the exit code."""
        return await self._end(signal.SIGTERM)

    async def ended(self, seconds: float = 60) -> int:
        """Wait for its end; returns the exit code, negative for a signal."""
        assert self.process is not None
        try:
            async with asyncio.timeout(seconds):
                code = await self.process.wait()
                if self._reader is not None:
                    await self._reader
        except TimeoutError:
            what = "runs on" if self.process.returncode is None else "left a process that holds its stderr"
            raise TimeoutError(f"kenobot {what} after {seconds:.0f} s:\n{''.join(self.log[-20:])}") from None
        return code

    def signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)

    async def _end(self, number: int) -> int:
        self.signal(number)
        return await self.ended()

    async def _read(self, process: Running) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            text = line.decode("utf-8", "replace")
            self.log.append(text)
            if "ready:" in text:
                self._ready.set()
