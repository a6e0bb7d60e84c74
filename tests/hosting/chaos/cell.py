"""A cell with everything around it: homes and bots in a database, and the processes that serve them."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.constants import write_variable
from tests.hosting.chaos.audit import begin_audit, name_process
from tests.hosting.chaos.talk import Place, secret_of
from tests.hosting.populate import SETTINGS, NewDatabase, new_database
from tests.integration.process import Running, Starter, execute
from tests.integration.stand_in import KEY

MODULE = "tests.hosting.chaos.process"
ENVIRON = {"ANTHROPIC_API_KEY": KEY, **write_variable({"IntakePolicy.chat_backlog": 10_000})}
"""Of every process: nobody is turned away for what piles up while a worker is dead."""

_EXTRACTION = """\
[extraction]
patterns = ['\\bm\\d{5}\\b']
[watch]
notify = false
"""


@dataclass(frozen=True, slots=True)
class BotOf:
    """A bot of the cell, the homes that it serves, and the chats of each: of its owner first, then of guests."""

    account: str
    token: str
    is_posted: bool
    chats: dict[int, tuple[str, ...]]  # bounded: the homes of a bot


@dataclass(frozen=True, slots=True)
class HomeOf:
    """A home of the cell. chats: of its owner first, then of guests."""

    number: int
    token: str
    is_posted: bool
    chats: tuple[str, ...]

    @property
    def places(self) -> list[Place]:
        return [Place(self.number, number, chat, self.token, self.is_posted) for number, chat in enumerate(self.chats)]

    def write_settings(self, model_url: str) -> str:
        """Write its kenobot.toml."""
        return SETTINGS.format(model=model_url, owner=self.chats[0], guests=list(self.chats[1:])) + _EXTRACTION

    @property
    def person(self) -> str:
        """What its identity/preferences.md says, which is in each of its prompts."""
        return f"The owner of this home is called {secret_of(self.number)}.\n"


@dataclass
class Process:
    """A worker or an ingress as a process of its own, over several lives: `python FLAGS -m MODULE WORDS`.

    starter: another way to start it. log: what it wrote over all its lives. alone: held by what happens to it. fates:
    when which life was killed or stopped, in seconds.
    """

    kind: str
    name: str
    module: str
    words: Sequence[str]
    environ: dict[str, str]
    flags: tuple[str, ...] = ()
    starter: Starter = execute
    process: Running | None = None
    port: int = 0
    log: list[str] = field(default_factory=list)
    lives: int = 0
    alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    fates: list[tuple[float, str, str]] = field(default_factory=list)
    _ready: asyncio.Event = field(default_factory=asyncio.Event)
    _reader: asyncio.Task[None] | None = None

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.returncode is None

    @property
    def is_busy(self) -> bool:
        return self.alone.locked()

    async def spawn(self) -> None:
        """Start it, without waiting for anything."""
        self._ready.clear()
        self.lives += 1
        command = [sys.executable, *self.flags, "-m", self.module, *self.words]
        self.process = await self.starter(command, {**self.environ, **name_process(self.life)})
        self._reader = asyncio.create_task(self._read(self.process))

    async def start(self, seconds: float = 200) -> None:
        """Start it and wait until it is ready; again where it ends before, as a service does without its database."""
        try:
            async with asyncio.timeout(seconds):
                await self.spawn()
                ready = asyncio.create_task(self._ready.wait())
                while not self._ready.is_set():
                    assert self.process is not None
                    ended = asyncio.create_task(self.process.wait())
                    await asyncio.wait({ready, ended}, return_when=asyncio.FIRST_COMPLETED)
                    ended.cancel()
                    if not self._ready.is_set():
                        await asyncio.sleep(0.5)
                        await self.spawn()
        except TimeoutError:
            raise AssertionError(f"{self.name} did not start:\n{''.join(self.log[-20:])}") from None

    @property
    def life(self) -> str:
        """Return the name of this life, as PostgreSQL hears it."""
        return f"{self.name}.{self.lives}"

    def send(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if number in (signal.SIGKILL, signal.SIGSTOP):
            self.fates.append((time.time(), self.life, "kill" if number == signal.SIGKILL else "stop"))
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(number)

    async def end(self, number: int = signal.SIGTERM, seconds: float = 120) -> int:
        """End it by a signal; returns the exit code."""
        assert self.process is not None
        self.send(signal.SIGCONT)
        self.send(number)
        async with asyncio.timeout(seconds):
            code = await self.process.wait()
            if self._reader is not None:
                await self._reader
        return code

    async def _read(self, process: Running) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            text = line.decode("utf-8", "replace")
            self.log.append(text)
            if " ready: " in text or text.startswith("ready: "):
                if "on port " in text:
                    self.port = int(text.rpartition("on port ")[2])
                self._ready.set()


@dataclass
class Cell:
    """Homes and bots in a database. url: by which processes reach it, which may lead through a proxy.

    own_url: by which the play itself reaches it. starter: of its processes. is_audited: PostgreSQL notes who commits.
    """

    url: str
    folder: Path
    platform_url: str
    model_url: str
    own_url: str
    starter: Starter = execute
    is_audited: bool = False
    bots: list[BotOf] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)

    @property
    def workers(self) -> list[Process]:
        return [each for each in self.processes if each.kind == "worker"]

    @property
    def ingresses(self) -> list[Process]:
        return [each for each in self.processes if each.kind == "ingress"]

    @property
    def homes(self) -> list[HomeOf]:
        return [HomeOf(home, bot.token, bot.is_posted, chats) for bot in self.bots for home, chats in bot.chats.items()]

    def build(self, bots: int, homes: int, chats: int, posted: Callable[[int], bool]) -> None:
        """Make the tables, `homes` homes for each bot and `chats` chats for each home."""
        with new_database(self.own_url, self.folder) as database:
            for number in range(bots):
                self._add_bot(database, number, homes, chats, posted(number))

    def begin_audit(self) -> None:
        """Have PostgreSQL note from here on who holds homes and who commits."""
        with psycopg.connect(self.own_url, autocommit=True) as connection:
            begin_audit(connection)
        self.is_audited = True

    def _add_bot(self, database: NewDatabase, number: int, homes: int, chats: int, is_posted: bool) -> None:
        account, token = database.add_bot(number, self.platform_url, is_posted=is_posted)
        found: dict[int, tuple[str, ...]] = {}
        for at in range(homes):
            people = tuple(str(10_000_000 + number * 100_000 + at * 100 + chat) for chat in range(chats))
            home = HomeOf(database.add_home(f"home-{number}-{at}"), token, is_posted, people)
            files = {"kenobot.toml": home.write_settings(self.model_url), "identity/preferences.md": home.person}
            database.add_files(home.number, files)
            database.add_routes(account, people, home.number)
            found[home.number] = people
        self.bots.append(BotOf(account, token, is_posted, found))

    def add_worker(self, name: str, homes: int = 100, idle: float = 300.0, clock_hours: float = 0.0) -> Process:
        """Prepare a worker, which is not started yet. clock_hours: by which its clock is wrong."""
        return self._add("worker", name, str(clock_hours), str(self.folder_of(name)), str(homes), str(idle))

    def add_ingress(self, name: str) -> Process:
        """Prepare an ingress, which is not started yet."""
        return self._add("ingress", name, "0")

    def folder_of(self, worker: str) -> Path:
        """Return the folder of a worker's working copies."""
        return self.folder / worker / "copies"

    def _add(self, kind: str, name: str, *options: str) -> Process:
        words = (kind, name, self.url, *options)
        process = Process(kind, name, MODULE, words, {**os.environ, **ENVIRON}, starter=self.starter)
        self.processes.append(process)
        return process

    async def stop(self) -> None:
        """Kill whatever runs."""
        for process in self.processes:
            if process.runs:
                await process.end(signal.SIGKILL)
