"""A cell with everything around it: a server of its own, homes, bots, and the processes that serve them."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from kenobot.core.settings.home import Home
from kenobot.storage import migrate
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.schema_rows import upgrade_schema
from tests.constants import write_variable
from tests.integration.stand_in import KEY

_ROOT = Path(__file__).resolve().parents[3]
_PATIENT = {"IntakePolicy.chat_backlog": 10_000}
_SETTINGS = """\
[provider]
name = "anthropic"
[models]
cheap = "offline"
[providers.anthropic]
base_url = "{model}"
[channels]
enabled = ["telegram"]
[channels.telegram]
owners = {owners}
fragment_seconds = 0.0
[memory]
embedder = "none"
[sleep]
enabled = false
[watch]
notify = false
"""


@dataclass(frozen=True, slots=True)
class BotOf:
    """A bot of the cell, the homes that it serves, and the chats of each."""

    account: str
    token: str
    is_posted: bool
    chats: dict[int, tuple[str, ...]]  # bounded: the homes of a bot


@dataclass
class Process:
    """A worker or an ingress as a process of its own. log: what it wrote over all its lives."""

    kind: str
    name: str
    options: Sequence[str]
    environ: dict[str, str]
    start_by: Sequence[str]
    process: asyncio.subprocess.Process | None = None
    port: int = 0
    log: list[str] = field(default_factory=list)
    lives: int = 0
    _ready: asyncio.Event = field(default_factory=asyncio.Event)
    _reader: asyncio.Task[None] | None = None

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def spawn(self) -> None:
        """Start it, without waiting for anything."""
        self._ready.clear()
        self.lives += 1
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, *self.start_by, *self.options),
            stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            env=self.environ,
            cwd=_ROOT,
        )
        self._reader = asyncio.create_task(self._read(self.process))

    async def start(self, seconds: float = 200) -> None:
        """Start it and wait until it is ready."""
        await self.spawn()
        try:
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        except TimeoutError:
            raise AssertionError(f"{self.name} did not start:\n{''.join(self.log[-20:])}") from None

    def send(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
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

    async def _read(self, process: asyncio.subprocess.Process) -> None:
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
    """Homes and bots in a database. url: by which processes reach it, which may lead through a proxy."""

    url: str
    folder: Path
    platform_url: str
    model_url: str
    own_url: str = ""
    bots: list[BotOf] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)

    def build(self, bots: int, homes: int, chats: int, posted: Callable[[int], bool]) -> None:
        """Make the tables, `homes` homes for each bot and `chats` chats for each home."""
        with psycopg.connect(self.own_url, autocommit=True) as connection:
            upgrade_schema(connection)
            store = HomeStore(Connections(self.own_url).open())
            try:
                empty = Home(self.folder / "empty")
                empty.prepare()
                migrate.migrate(empty.database, empty.backups)
                for number in range(bots):
                    self.bots.append(self._add_bot(connection, store, empty, number, homes, chats, posted(number)))
            finally:
                store.connections.close()

    def _add_bot(
        self,
        connection: "psycopg.Connection[Any]",
        store: HomeStore,
        empty: Home,
        number: int,
        homes: int,
        chats: int,
        is_posted: bool,
    ) -> BotOf:
        account = str(100_000_000 + number)
        token = f"{account}:{'A' * 35}"
        connection.execute(
            "INSERT INTO kenobot.bot (bot, token, base_url, intake, username) VALUES (%s, %s, %s, %s, 'cell_bot')",
            (account, token, self.platform_url, "webhook" if is_posted else "poll"),
        )
        found: dict[int, tuple[str, ...]] = {}
        for home in range(homes):
            people = tuple(str(10_000_000 + number * 100_000 + home * 100 + chat) for chat in range(chats))
            added = store.add(f"home-{number}-{home}", empty.database)
            text = _SETTINGS.format(model=self.model_url, owners=list(people))
            connection.execute(
                "INSERT INTO kenobot.file (home, path, version, mode, sealed, content) "
                "VALUES (%s, 'kenobot.toml', 1, 384, false, %s)",
                (added, text.encode()),
            )
            for chat in people:
                connection.execute("INSERT INTO kenobot.route VALUES (%s, %s, %s)", (account, chat, added))
            found[added] = people
        return BotOf(account, token, is_posted, found)

    def add_worker(self, name: str, homes: int = 100, idle: float = 300.0) -> Process:
        """Prepare a worker, which is not started yet."""
        folder = self.folder / name
        return self._add("worker", name, (self.url, str(folder), str(homes), str(idle)))

    def add_ingress(self, name: str) -> Process:
        """Prepare an ingress, which is not started yet."""
        return self._add("ingress", name, (self.url,))

    def _add(self, kind: str, name: str, options: Sequence[str]) -> Process:
        environ = {**os.environ, "ANTHROPIC_API_KEY": KEY, **write_variable(_PATIENT)}
        start_by = ("-m", "tests.hosting.chaos.process", kind, name)
        process = Process(kind, name, options, environ, start_by)
        self.processes.append(process)
        return process

    async def stop(self) -> None:
        """Kill whatever runs."""
        for process in self.processes:
            if process.runs:
                await process.end(signal.SIGKILL)
