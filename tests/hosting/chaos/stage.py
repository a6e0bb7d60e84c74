"""The stage of a play: a cell that runs, its platform and model, and what was said and came of it."""

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.crash.nursery import Nursery
from tests.crash.tools import mounted, no_mount
from tests.crash.world import Model
from tests.hosting.chaos.cell import MODULE, Cell
from tests.hosting.chaos.platform import Platform
from tests.hosting.chaos.story import Story
from tests.hosting.chaos.talk import HomesModel, Line, write_lines
from tests.hosting.proxy import Proxy
from tests.hosting.server import PostgresServer, run_server

_MEGABYTES = 48, 3  # of a disk for working copies, and for each home on it


@dataclass
class Outcome:
    """What came of a play. broken: each promise that did not hold, in words.

    troubles: what happened, by kind. skipped: what could not be played here, with the reason. counts: what was looked
    at, so that a check that looked at nothing shows. seconds: by part of the play.
    """

    messages: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    skipped: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, object]:
        """Return all but the log."""
        names = ("messages", "troubles", "skipped", "counts", "seconds", "broken")
        return {name: getattr(self, name) for name in names}


@dataclass
class Stage:
    """A cell that plays. lines: what people are to say, in order. asked: what they have said, by chat.

    happened: what was done to the cell, and when, in seconds.
    """

    story: Story
    server: PostgresServer
    proxy: Proxy
    cell: Cell
    platform: Platform
    model: Model
    rng: Random
    lines: Sequence[Line] = ()
    progress: Callable[[str], None] = lambda _: None
    asked: dict[str, list[str]] = field(default_factory=dict)
    outcome: Outcome = field(default_factory=Outcome)
    happened: list[tuple[float, str]] = field(default_factory=list)

    @property
    def said(self) -> int:
        return sum(map(len, self.asked.values()))

    @property
    def is_talking(self) -> bool:
        return self.said < len(self.lines)

    def count_answered(self) -> int:
        """Count the messages of which the platform has seen an answer."""
        return len(self.platform.answered - {None})

    def note_ports(self) -> None:
        """Have updates posted to the ingresses that run."""
        self.platform.ingresses = [each.port for each in self.cell.ingresses if each.port]

    def tell_progress(self) -> None:
        """Tell how far the play is."""
        told = f"{self.said} said, {self.count_answered()} answered"
        self.progress(f"{told}, {', '.join(f'{name} {count}' for name, count in self.outcome.troubles.items())}")

    def group_lines(self) -> Mapping[int, Sequence[Line]]:
        """Group what is said by its home."""
        found: dict[int, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.home, []).append(line)
        return found


@contextlib.asynccontextmanager
async def set_stage(story: Story, progress: Callable[[str], None]) -> AsyncIterator[Stage]:
    """Build a cell, its processes not started yet; whatever runs at the end is killed."""
    async with contextlib.AsyncExitStack() as stack:
        server = stack.enter_context(run_server())
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="kenobot-cell-", ignore_cleanup_errors=True))
        )
        homes: dict[str, int] = {}
        platform = await stack.enter_async_context(Platform())
        model = await stack.enter_async_context(HomesModel(homes.__getitem__))
        nursery = await stack.enter_async_context(Nursery(MODULE))
        proxy = Proxy(server.url)
        stack.callback(proxy.close)
        cell = Cell(proxy.url, folder, platform.base_url, model.url, server.url, nursery)
        sizes = story.bots, story.homes // story.bots, story.chats // story.homes
        await asyncio.to_thread(cell.build, *sizes, lambda number: number < story.bots // 2)
        await asyncio.to_thread(cell.begin_audit)
        lines = write_lines(story, [place for home in cell.homes for place in home.places])
        homes |= {line.tag: line.home for line in lines}
        stage = Stage(story, server, proxy, cell, platform, model, Random(f"{story.seed} trouble"), lines, progress)
        for number in range(story.ingresses):
            cell.add_ingress(f"ingress-{number + 1}")
        for number in range(story.workers):
            hours = story.clock_hours * (1, -1, 0)[number % 3]
            worker = cell.add_worker(f"worker-{number + 1}", idle=story.idle_seconds, clock_hours=hours)
            cell.folder_of(worker.name).mkdir(parents=True)
        if story.full_disks and not no_mount("tmpfs"):
            size = _MEGABYTES[0] + _MEGABYTES[1] * story.homes
            for worker in cell.workers:
                where = cell.folder_of(worker.name).parent
                await stack.enter_async_context(mounted("tmpfs", "none", f"size={size}m", where))
        stack.push_async_callback(cell.stop)
        yield stage
