"""Too little of it: bytes a file, descriptors, memory, network. The bot says so or waits, and goes on afterwards.

The limits are put on a process that serves (prlimit(2)) and taken off again, or are there from the start.
"""

import asyncio
import contextlib
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.crash.checker import check
from tests.crash.table import Line
from tests.crash.tools import side_by_side
from tests.crash.world import Lab, World, until
from tests.integration.process import execute

SECONDS = 2.0  # that a limit lasts
_RECOVERY_SECONDS = 60.0
_MEGABYTE = 1024 * 1024
_LESS = (100, 50, 20)  # megabytes of memory below what it has: what it gave back may be had again
_FEW = (8, 16, 24)  # descriptors at the start
_SHARE_DROPPED = 0.15  # of the connections
_PIECE_SECONDS = 0.05  # at most, for each piece that goes through


async def play(lab: Lab, seconds: float = SECONDS) -> Sequence[Line]:
    """Each limit in a world of its own, some side by side; one line a kind."""
    size = Line("no file may grow (RLIMIT_FSIZE) under a running bot, then it may")
    descriptors = Line("no descriptor left (RLIMIT_NOFILE) under a running bot, then enough; and few at the start")
    memory = Line("no memory left (RLIMIT_DATA) under a running bot in a burst, then enough")
    gone = Line("no network under a running bot: refused, then silent, then back")
    nowhere = Line("a start without any network (unshare -n), then one with it", missing=_no_unshare())
    slow = Line("a slow network that drops connections")

    async def one(case: "tuple[Line, int]") -> None:
        line, amount = case
        async with lab.world(f"{line.tried} {amount}", starter=execute if line is nowhere else None) as world:
            if line is size:
                await _squeezed(world, line, resource.RLIMIT_FSIZE, 4096, seconds)
            elif line is descriptors and amount:
                await _few_at_the_start(world, line, amount)
            elif line is descriptors:
                await _squeezed(world, line, resource.RLIMIT_NOFILE, 3, seconds)
            elif line is memory:
                await _squeezed(world, line, resource.RLIMIT_DATA, amount, seconds)
            elif line is gone:
                await _network_gone(world, line, seconds)
            elif line is slow:
                await _slow_network(world, line)
            else:
                await _nowhere(world, line)
        lab.progress(f"{line.tried} {amount or ''}")

    lines = [size, descriptors, memory, gone, nowhere, slow]
    amounts = {descriptors.tried: (0, *_FEW), memory.tried: _LESS}
    cases = [(line, amount) for line in lines if not line.missing for amount in amounts.get(line.tried, (0,))]
    await side_by_side(cases, one, workers=4)
    return lines


# ── limits of a process ──────────────────────────────────────────────────────────────────────────────────────────


async def _squeezed(world: World, line: Line, kind: int, amount: int, seconds: float) -> None:
    """Talk before, during and after; the limit itself may cost answers, never the conversation."""
    await world.bot.start()
    await world.say(5)
    if not await world.settles():
        line.broken.append("no answers before the limit")
    assert world.bot.process is not None
    pid = world.bot.process.pid
    before = resource.prlimit(pid, kind)
    short = kind == resource.RLIMIT_DATA
    if short:
        amount = _data_size(pid) - amount * _MEGABYTE
    said = len(world.bot.log)
    resource.prlimit(pid, kind, (amount, before[1]))
    await world.say(40 if short else 10)
    await asyncio.sleep(seconds)
    if world.ended:
        line.notes.append(f"ended once with {world.bot.process.returncode}")
        await world.bot.start()
    else:
        resource.prlimit(pid, kind, before)
    complaints = "".join(world.bot.log[said:])
    if short:
        _felt(line, complaints.count("MemoryError") + complaints.count("can't start new thread"))
        del world.bot.log[said:]  # tracebacks are how the libraries say so
    elif not complaints:
        line.broken.append("it did not say that anything was wrong")
    await world.say(5)
    await _finish(world, line)


def _felt(line: Line, failures: int) -> None:
    """Note how many allocations failed in all."""
    mark = " allocations failed"
    before = sum(int(note.removesuffix(mark)) for note in line.notes if note.endswith(mark))
    line.notes = [*(note for note in line.notes if not note.endswith(mark)), f"{before + failures}{mark}"]


def _data_size(pid: int) -> int:
    """Bytes of memory that are the process's own."""
    found = re.search(r"^VmData:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


async def _few_at_the_start(world: World, line: Line, descriptors: int) -> None:
    """It comes up and serves, or ends with a plain sentence; with enough of them it starts."""
    await world.say(3)
    world.bot.starter = execute
    world.bot.wrap = ("prlimit", f"--nofile={descriptors}")
    await world.bot.spawn()
    if await world.bot.comes_up():
        await world.settles(SECONDS, patient=False)
        if code := await world.bot.terminate():
            line.broken.append(f"{descriptors} descriptors: exit code {code} after SIGTERM")
    elif not await world.bot.ended() or not world.bot.log[-1:] or not world.bot.log[-1].startswith("kenobot: "):
        line.broken.append(f"{descriptors} descriptors: no plain sentence at the end: {world.bot.log[-1:]}")
    world.bot.wrap = ()
    await world.say(2)
    await world.bot.start()
    await _finish(world, line)


async def _finish(world: World, line: Line) -> None:
    line.times += 1
    if not await world.settles(_RECOVERY_SECONDS):
        line.broken.append(f"no recovery without a restart: {len(world.unanswered())} unanswered")
        await world.bot.terminate()
        await world.bot.start()
        await world.settles()
    facts = world.facts
    if not await until(lambda: facts <= _remembered(world), _RECOVERY_SECONDS):
        line.broken.append("the memory files did not catch up without a restart")
    if code := await world.bot.terminate():
        line.broken.append(f"exit code {code} after SIGTERM")
    if any(text.startswith("Traceback") for text in world.bot.log):
        line.broken.append(f"a traceback on stderr: {''.join(world.bot.log)[-300:]}")
    line.add(check(world))


def _remembered(world: World) -> set[str]:
    texts = (path.read_text("utf-8") for path in (world.home / "memory").glob("*.md"))
    return {row.split(" — ", 1)[1] for text in texts for row in text.splitlines() if row.startswith("## ")}


# ── the network ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Proxy:
    """Carries TCP to `port`, a piece at a time; `port` of its own in `here`.

    refuses: connections end at once. silent: nothing is carried. drops: this share of connections breaks off somewhere.
    """

    port: int
    rng: Random
    piece_seconds: float = 0.0
    drops: float = 0.0
    refuses: bool = False
    silent: bool = False
    here: int = 0
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator["Proxy"]:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.here = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.cut()
            await asyncio.gather(*self._open, return_exceptions=True)

    def cut(self) -> None:
        """Break off every connection."""
        for task in self._open:
            task.cancel()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        far: asyncio.StreamWriter | None = None
        try:
            if self.refuses:
                return
            back, far = await asyncio.open_connection("127.0.0.1", self.port)
            budget = self.rng.randrange(1, 3000) if self.rng.random() < self.drops else None
            there = asyncio.ensure_future(self._pump(reader, far, None))
            here = asyncio.ensure_future(self._pump(back, writer, budget))
            try:
                await asyncio.wait({there, here}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in (there, here):
                    pump.cancel()
                await asyncio.gather(there, here, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            for end in (writer, far):
                if end is not None:
                    end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: int | None) -> None:
        """Carry pieces until there are no more, or `budget` bytes have gone through."""
        while data := await reader.read(2048):
            while self.silent:
                await asyncio.sleep(0.05)
            if self.piece_seconds:
                await asyncio.sleep(self.rng.uniform(0, self.piece_seconds))
            if budget is not None:
                budget -= len(data)
                if budget < 0:
                    return
            writer.write(data)
            await writer.drain()


@contextlib.asynccontextmanager
async def _through_proxies(world: World) -> AsyncIterator[tuple[Proxy, Proxy]]:
    """Put a proxy before Telegram and one before the model."""
    model = int(world.bot.model_url.rstrip("/").rpartition(":")[2])
    async with (
        Proxy(world.telegram.port, world.rng).listening() as first,
        Proxy(model, world.rng).listening() as second,
    ):
        config = world.home / "kenobot.toml"
        text = config.read_text()
        for proxy in (first, second):
            text = re.sub(rf":{proxy.port}\b", f":{proxy.here}", text)
        config.write_text(text)
        yield first, second


async def _network_gone(world: World, line: Line, seconds: float) -> None:
    """Nothing can be reached, first with a refusal and then without a word; then everything can."""
    async with _through_proxies(world) as proxies:
        await world.bot.start()
        await world.say(5)
        if not await world.settles():
            line.broken.append("no answers before the network went")
        for proxy in proxies:
            proxy.refuses = True
            proxy.cut()
        await world.say(10)
        await asyncio.sleep(seconds)
        for proxy in proxies:
            proxy.refuses, proxy.silent = False, True
        await asyncio.sleep(seconds)
        for proxy in proxies:
            proxy.silent = False
            proxy.cut()
        if not any("Telegram" in text for text in world.bot.log):
            line.broken.append("it did not say that Telegram was out of reach")
        await world.say(5)
        await _finish(world, line)


async def _slow_network(world: World, line: Line) -> None:
    async with _through_proxies(world) as proxies:
        for proxy in proxies:
            proxy.piece_seconds, proxy.drops = _PIECE_SECONDS, _SHARE_DROPPED
        await world.bot.start()
        for _ in range(6):
            await world.say(5)
            for proxy in proxies:
                proxy.cut()
            await asyncio.sleep(0.5)
        await world.settles(_RECOVERY_SECONDS)
        for proxy in proxies:
            proxy.drops = 0.0
        await _finish(world, line)


def _no_unshare() -> str:
    """Why no process can be put into a network of its own here."""
    if not shutil.which("unshare"):
        return "unshare is not installed"
    done = subprocess.run(["unshare", "-n", "true"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"unshare may not ({done.stderr.strip()})"


async def _nowhere(world: World, line: Line) -> None:
    """Without a network `kenobot chat` answers offline, and `kenobot run` waits for it and ends in good order."""
    home = world.home.with_name("offline")
    chat = await asyncio.create_subprocess_exec(
        *("unshare", "-n", sys.executable, "-m", "kenobot", "chat", "--home", str(home)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ},
    )
    async with asyncio.timeout(60):
        out, complaints = await chat.communicate(b"Remember that the harbour is closed on Mondays\n/exit\n")
    if chat.returncode or complaints or not out.strip():
        line.broken.append(f"chat: exit code {chat.returncode}: {complaints.decode()[-200:]}")
    if not any("the harbour is closed" in path.read_text("utf-8") for path in (home / "memory").glob("*.md")):
        line.broken.append("chat: nothing was remembered")
    await world.say(5)
    world.bot.wrap = ("unshare", "-n")
    await world.bot.spawn()
    if not await world.bot.comes_up():
        line.broken.append(f"it did not come up: {world.bot.log[-2:]}")
    await until(lambda: any("Telegram" in text for text in world.bot.log), 10)
    if not any("Telegram cannot be reached" in text for text in world.bot.log):
        line.broken.append(f"it did not say that Telegram was out of reach: {world.bot.log[-2:]}")
    if code := await world.bot.terminate():
        line.broken.append(f"exit code {code} after SIGTERM without a network")
    world.bot.wrap = ()
    await world.bot.start()
    await _finish(world, line)
