"""People who talk to the bots of a cell while a test does something to it, and what came of it in the end."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psycopg

from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore, read_version
from tests.crash.checker import compare
from tests.crash.world import Model, tag_in
from tests.hosting.cell import opened, read_truth
from tests.hosting.chaos.cell import Cell, HomeOf, Process
from tests.hosting.chaos.platform import Platform

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 120.0


@dataclass
class Talk:
    """Two bots, one that polls and one that is posted to, with homes and chats, and processes that serve them.

    asked: what was said, by chat, in order.
    """

    platform: Platform
    model: Model
    folder: Path
    homes: list[HomeOf] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    asked: dict[str, list[str]] = field(default_factory=dict)
    _count: int = 0
    _rng: Random = field(default_factory=lambda: Random(7))

    def build(self, url: str, homes: int, chats: int) -> None:
        """Make the tables of a database, and the homes of each bot with their chats."""
        cell = self._make_cell(url)
        cell.build(2, homes, chats, lambda number: number == 0)
        self.homes = cell.homes

    def add_worker(
        self, name: str, url: str, homes: int = 100, idle: float = 60.0, newer: Mapping[str, str] | None = None
    ) -> Process:
        """Prepare a worker, which is not started yet. newer: variables by which it runs another tree."""
        return self._add(self._make_cell(url).add_worker(name, homes, idle), newer)

    def add_ingress(self, name: str, url: str, newer: Mapping[str, str] | None = None) -> Process:
        """Prepare an ingress, which is not started yet."""
        return self._add(self._make_cell(url).add_ingress(name), newer)

    def _make_cell(self, url: str) -> Cell:
        return Cell(url, self.folder, self.platform.base_url, self.model.url, url)

    def _add(self, process: Process, newer: Mapping[str, str] | None) -> Process:
        if newer is not None:
            process.environ |= newer
            process.flags = ("-P",)
        self.processes.append(process)
        return process

    async def start(self, *processes: Process) -> None:
        """Start processes, and have updates posted to all ingresses that run."""
        await asyncio.gather(*(each.start() for each in processes))
        self.note_ports()

    def note_ports(self) -> None:
        """Have updates posted to the ingresses that run."""
        self.platform.ingresses = [each.port for each in self.processes if each.runs and each.port]

    async def say(self, times: int) -> None:
        """Say some things, each in the next chat, a moment apart."""
        places = [(home, chat) for home in self.homes for chat in home.chats]
        for _ in range(times):
            home, chat = places[self._count % len(places)]
            text = f"m{self._count:05d} {self._rng.choice(('peras', 'apples'))}"
            self._count += 1
            self.asked.setdefault(chat, []).append(text)
            await self.platform.tell(text, chat, home.token, posted=home.is_posted)
            await asyncio.sleep(0.1)

    def find_open(self) -> set[str]:
        """The chats in which a message has no answer yet."""
        answered = {tag_in(item.text) for item in self.platform.sent}
        return {chat for chat, texts in self.asked.items() if any(tag_in(text) not in answered for text in texts)}

    async def wait_until(self, found: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        try:
            async with asyncio.timeout(_SECONDS):
                while not await asyncio.to_thread(found):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            tails = "\n".join(f"{each.name}: {''.join(each.log[-15:])}" for each in self.processes)
            raise AssertionError(f"never came: {what}\n{tails}") from None

    async def end(self) -> None:
        """Let everything that runs end in good order."""
        await self.wait_until(lambda: not self.find_open(), "all answers")
        for process in self.processes:
            assert process.runs, (process.name, process.log[-10:])
            assert await process.end() == 0, (process.name, process.log[-10:])

    async def stop(self) -> None:
        """Kill whatever runs."""
        for process in self.processes:
            if process.runs:
                await process.end(9)

    def check(self, url: str) -> Counter[str]:
        """Check that all was kept and told once, in order; counts parts that came again, and copies compared."""
        counts = Counter[str]()
        store = HomeStore(Connections(url).open())
        for home in self.homes:
            loaded = self.folder / "checked" / str(home.number)
            loaded.mkdir(parents=True)
            version = store.load(home.number, loaded / "kenobot.db").version
            asked = {f"telegram-{chat}": self.asked.get(chat, []) for chat in home.chats}
            sent = [(f"telegram-{item.chat}", item.text) for item in self.platform.sent if item.chat in home.chats]
            verdict = compare(loaded, asked, sent, has_files=False)
            assert verdict.holds, f"home {home.number}: {verdict}"
            counts["repeated"] += verdict.repeated_parts
            for copy in self._find_copies(home.number):
                with opened(copy) as connection:
                    is_newest = read_version(connection) == version
                if is_newest:
                    assert read_truth(copy) == read_truth(loaded / "kenobot.db")
                    counts["copies"] += 1
        store.connections.close()
        for chat, texts in self.asked.items():
            answers = dict.fromkeys(tag_in(item.text) for item in self.platform.sent if item.chat == chat)
            assert [*answers] == [tag_in(text) for text in texts], f"chat {chat} is out of order"
        with psycopg.connect(url) as connection_:
            assert connection_.execute("SELECT * FROM kenobot.mail").fetchall() == []
        return counts

    def _find_copies(self, home: int) -> Iterator[Path]:
        for process in self.processes:
            if (copy := self._make_cell("").folder_of(process.name) / str(home) / "kenobot.db").exists():
                yield copy
