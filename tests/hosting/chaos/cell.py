"""A cell with everything around it: homes and bots in a database, and the processes that serve them."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
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
from tests.crash.nursery import Nursery
from tests.hosting.chaos.audit import begin_audit, name_process
from tests.hosting.chaos.story import Story
from tests.hosting.chaos.talk import Place, secret_of
from tests.integration.process import Running
from tests.integration.stand_in import KEY

MODULE = "tests.hosting.chaos.process"
ENVIRON = {"ANTHROPIC_API_KEY": KEY, **write_variable({"IntakePolicy.chat_backlog": 10_000})}
"""Of every process: nobody is turned away for what piles up while a worker is dead."""

_HOMES_AT_ONCE = 100  # of a worker
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
owners = ["{owner}"]
allowed_users = {guests}
fragment_seconds = 0.0
[memory]
embedder = "none"
[extraction]
patterns = ['\\bm\\d{{5}}\\b']
[sleep]
enabled = false
[watch]
notify = false
"""


@dataclass(frozen=True, slots=True)
class HomeOf:
    """A home of the cell. chats: of its owner, and of guests."""

    number: int
    account: str
    token: str
    is_posted: bool
    chats: tuple[str, ...]

    @property
    def places(self) -> list[Place]:
        return [Place(self.number, number, chat, self.token, self.is_posted) for number, chat in enumerate(self.chats)]

    def write_settings(self, model_url: str) -> str:
        """Write its kenobot.toml."""
        return _SETTINGS.format(model=model_url, owner=self.chats[0], guests=list(self.chats[1:]))

    @property
    def person(self) -> str:
        """What its identity/preferences.md says, which each of its prompts begins with."""
        return f"The owner of this home is called {secret_of(self.number)}.\n"


@dataclass
class Process:
    """A worker or an ingress as a process of its own, over several lives. launch: starts it, given which life it is.

    log: what it wrote over all its lives. alone: held by what happens to it. fates: when which life was killed or
    stopped, in seconds.
    """

    kind: str
    name: str
    launch: Callable[[int], Awaitable[Running]]
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
        self.process = await self.launch(self.lives)
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

    own_url: by which the play itself reaches it.
    """

    url: str
    own_url: str
    folder: Path
    platform_url: str
    model_url: str
    nursery: Nursery
    homes: list[HomeOf] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)

    @property
    def workers(self) -> list[Process]:
        return [each for each in self.processes if each.kind == "worker"]

    @property
    def ingresses(self) -> list[Process]:
        return [each for each in self.processes if each.kind == "ingress"]

    def build(self, story: Story) -> None:
        """Make the tables, the bots, of which half poll, and the homes with their chats."""
        with psycopg.connect(self.own_url, autocommit=True) as connection:
            upgrade_schema(connection)
            empty = Home(self.folder / "empty")
            empty.prepare()
            migrate.migrate(empty.database, empty.backups)
            store = HomeStore(Connections(self.own_url).open())
            try:
                for bot in range(story.bots):
                    self._add_bot(connection, bot, is_posted=bot < story.bots // 2)
                for number in range(story.homes):
                    self._add_home(connection, store, empty, number, story)
            finally:
                store.connections.close()
            begin_audit(connection)

    def _add_bot(self, connection: "psycopg.Connection[Any]", number: int, *, is_posted: bool) -> None:
        account, token = _name_bot(number)
        connection.execute(
            "INSERT INTO kenobot.bot (bot, token, base_url, intake, username) VALUES (%s, %s, %s, %s, 'cell_bot')",
            (account, token, self.platform_url, "webhook" if is_posted else "poll"),
        )

    def _add_home(
        self, connection: "psycopg.Connection[Any]", store: HomeStore, empty: Home, number: int, story: Story
    ) -> None:
        bot = number % story.bots
        account, token = _name_bot(bot)
        chats = story.chats * (number + 1) // story.homes - story.chats * number // story.homes
        people = tuple(str(10_000_000 + number * 1_000 + chat) for chat in range(max(1, chats)))
        home = HomeOf(store.add(f"home-{number}", empty.database), account, token, bot < story.bots // 2, people)
        files = {"kenobot.toml": home.write_settings(self.model_url), "identity/preferences.md": home.person}
        for path, text in files.items():
            connection.execute(
                "INSERT INTO kenobot.file (home, path, version, mode, sealed, content) "
                "VALUES (%s, %s, 1, 384, false, %s)",
                (home.number, path, text.encode()),
            )
        for chat in people:
            connection.execute("INSERT INTO kenobot.route VALUES (%s, %s, %s)", (account, chat, home.number))
        self.homes.append(home)

    def add_worker(self, idle: float, clock_hours: float) -> Process:
        """Prepare a worker, which is not started yet. clock_hours: by which its clock is wrong."""
        name = f"worker-{len(self.workers) + 1}"
        options = (str(clock_hours), str(self.folder_of(name)), str(_HOMES_AT_ONCE), str(idle))
        return self._add("worker", name, *options)

    def add_ingress(self) -> Process:
        """Prepare an ingress, which is not started yet."""
        return self._add("ingress", f"ingress-{len(self.ingresses) + 1}", "0")

    def folder_of(self, worker: str) -> Path:
        """Return the folder of a worker's working copies."""
        return self.folder / worker / "copies"

    def _add(self, kind: str, name: str, *options: str) -> Process:
        async def launch(life: int) -> Running:
            url = name_process(self.url, f"{name}.{life}")
            command = [sys.executable, "-m", MODULE, kind, name, url, *options]
            return await self.nursery(command, {**os.environ, **ENVIRON})

        self.processes.append(process := Process(kind, name, launch))
        return process

    async def stop(self) -> None:
        """Kill whatever runs."""
        for process in self.processes:
            if process.runs:
                await process.end(signal.SIGKILL)


def _name_bot(number: int) -> tuple[str, str]:
    """Return the account and the token of a bot."""
    account = str(100_000_000 + number)
    return account, f"{account}:{'A' * 35}"
