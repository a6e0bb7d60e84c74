"""A home for the mirror's tests: a real database and real files, with a bot and a person who write to them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.mirror.lists.list_files import ListFiles
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.language.calendar import local_day
from kenobot.ports.identity import OWNER_SCOPE, Trust
from kenobot.ports.json_value import Json
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.records import Record
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import ManualClock

ZONE = ZoneInfo("UTC")
TODAY = "2026-02-14"
LOG = f"{TODAY}.md"
ENTRY = "## 14:30 — {}\n\n".format


class House:
    """The files are `root`; `mirror` is this process's mirror, `restart` makes it a new one's."""

    def __init__(
        self, root: Path, database: Database, clock: ManualClock, zone: ZoneInfo = ZONE, policy: Policy = DEFAULT
    ) -> None:
        self.root = root
        self.database = database
        self.clock = clock
        self.zone = zone
        self.policy = policy
        self.mirror = ListFiles(root, database, clock, zone, policy)

    def restart(self) -> ListFiles:
        """A new process: it knows only what is on disk. The old one is gone, whatever it was doing."""
        self.mirror = ListFiles(self.root, self.database, self.clock, self.zone, self.policy)
        return self.mirror

    # ── the bot ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def learn(
        self,
        text: str,
        scope: str = OWNER_SCOPE,
        *,
        form: Form = "note",
        category: str = "fact",
        slot: str = "",
        core: bool = False,
        trust: Trust = "model",
        replaces: int | None = None,
        flush: bool = False,
    ) -> int:
        """Let the bot remember `text`; the record's id."""
        tier: Json = "core" if core else "daily"
        candidate = Candidate(form, scope, text, category, "tag", trust, slot, "core" if tier == "core" else "daily")
        occasion = self.occasion("model")

        if replaces is None:
            decision = await self.database.write(lambda c: admit(c, candidate, occasion))
        else:
            decision = await self.database.write(lambda c: supersede(c, replaces, candidate, occasion))
        assert decision.record is not None
        if flush:
            self.mirror.mark_dirty([decision.record])
            await self.mirror.sync_out()
        return decision.record

    async def forget(self, record: int) -> None:
        occasion = self.occasion("owner")
        await self.database.write(lambda c: forget(c, record, ALL_SCOPES, occasion))

    def occasion(self, actor: str) -> AdmitContext:
        return AdmitContext(at=self.clock.now(), day=local_day(self.clock.now(), self.zone), actor=actor)

    # ── the person ───────────────────────────────────────────────────────────────────────────────────────────────

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8")

    def write(self, path: str, text: str) -> None:
        """Save a file as an editor does: the new text goes into the same file."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))

    def edit(self, path: str, old: str, new: str) -> None:
        text = self.text(path)
        assert old in text
        self.write(path, text.replace(old, new, 1))

    # ── what is true ─────────────────────────────────────────────────────────────────────────────────────────────

    async def record(self, number: int) -> Record:
        found = await self.database.read(lambda c: store.get(c, number, ALL_SCOPES))
        assert found is not None
        return found

    async def live(self, scope: str = OWNER_SCOPE) -> list[Record]:
        """Every live record of a scope but the boxes they lie in, in the order they came."""
        rows = await self.database.read(
            lambda c: c.execute(
                "SELECT id FROM record WHERE scope = ? AND status = 'active' AND form != 'box' ORDER BY id", (scope,)
            ).fetchall()
        )
        records = await self.database.read(lambda c: store.by_ids(c, [row[0] for row in rows], ALL_SCOPES))
        return [records[row[0]] for row in rows]

    async def texts(self, scope: str = OWNER_SCOPE) -> list[str]:
        return [record.text for record in await self.live(scope)]

    async def count_events(self) -> int:
        return await self.database.read(events.last_event)

    def files(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()}


@asynccontextmanager
async def open_house(folder: Path, zone: ZoneInfo = ZONE, start: datetime | None = None) -> AsyncIterator[House]:
    """A house in `folder`, closed at the end."""
    database = Database.open(folder / "kenobot.db", folder / "backups")
    house = House(folder / "memory", database, ManualClock(start) if start else ManualClock(), zone)
    try:
        yield house
    finally:
        await house.mirror.stop()
        await database.close()
