"""A home with the whole tree: what `Simulation` has, and the cards."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.store import records as store
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import ManualClock
from tests.unit.cognitive.mirror.house import ZONE, House


class CardHouse(House):
    """`tree` is this process's tree, `again` makes it a new one's."""

    def __init__(
        self, root: Path, database: Database, clock: ManualClock, zone: ZoneInfo = ZONE, policy: Policy = DEFAULT
    ) -> None:
        super().__init__(root, database, clock, zone)
        self.policy = policy
        self.tree = MemoryFiles(root, database, clock, zone, policy)

    def again(self) -> MemoryFiles:
        """A new process: it knows only what is on disk."""
        if self.tree._writer is not None:
            self.tree._writer.cancel()
        self.tree = MemoryFiles(self.root, self.database, self.clock, self.zone, self.policy)
        return self.tree

    async def tell(self, candidate: Candidate) -> int:
        """Let memory take a candidate in, and show it; the record's id."""
        decision = await self.database.write(lambda c: admit(c, candidate, self.occasion("model")))
        assert decision.record is not None
        await self.tree.sync_out()
        return decision.record

    async def sync(self) -> int:
        """A look at all files and a write; how many facts people's edits touched."""
        touched = await self.tree.sync_in()
        await self.tree.sync_out()
        return touched

    def cards(self, folder: str = "") -> dict[int, str]:
        """The cards below a folder, as paths by the number of their record; a copy of one hides it."""
        found: dict[int, str] = {}
        for path in sorted(self.files()):
            if re.search(r"(^|/)(facts|boxes)/", path) and path.startswith(folder):
                number = re.search(r"^id: (\d+)$", self.text(path), re.MULTILINE)
                if number:
                    found[int(number[1])] = path
        return found

    def card(self, record: int) -> str:
        return self.cards()[record]

    async def everything(self) -> list[Record]:
        """Every record of every scope and status."""
        rows = await self.database.read(lambda c: c.execute("SELECT id FROM record ORDER BY id").fetchall())
        records = await self.database.read(lambda c: store.by_ids(c, [row[0] for row in rows], ALL_SCOPES))
        return [records[row[0]] for row in rows]


@asynccontextmanager
async def open_card_house(
    folder: Path, zone: ZoneInfo = ZONE, start: datetime | None = None, policy: Policy = DEFAULT
) -> AsyncIterator[CardHouse]:
    """A house with cards in `folder`, closed at the end."""
    database = Database.open(folder / "kenobot.db", folder / "backups")
    house = CardHouse(folder / "memory", database, ManualClock(start) if start else ManualClock(), zone, policy)
    try:
        yield house
    finally:
        await house.tree.stop()
        await database.close()
