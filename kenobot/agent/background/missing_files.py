"""Announce memory files that vanished all at once, and forget them in batches where the owner says so."""

from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import missing_files
from kenobot.cognitive.control.missing_files import forget_batch
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import ControlPolicy
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.text.calendar import local_day
from kenobot.core.bus import Bus
from kenobot.ports.clock import Clock
from kenobot.ports.signals import MEMORY_FILES_MISSING
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database


class MissingFilesWorker:
    """Call `tick` now and then."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        clock: Clock,
        zone: ZoneInfo,
        files: MemoryFiles,
        policy: ControlPolicy = DEFAULT.control,
    ) -> None:
        self._database = database
        self._bus = bus
        self._clock = clock
        self._zone = zone
        self._files = files
        self._policy = policy

    async def tick(self) -> None:
        """Announce each loss once, and forget what the owner wants forgotten. Raises StoreError."""
        for loss in await self._database.read(missing_files.unannounced):
            where = {"at": loss.at, "where": loss.where}
            await self._bus.emit(MEMORY_FILES_MISSING, "memory", "", **where, files=loss.files, event=loss.event)
            await self._database.write_soon(partial(missing_files.mark_announced, loss=loss))
        while await self._database.read(missing_files.read_pending_forget) is not None:
            if await self._database.write(self._forget_some):
                self._files.mark_dirty()

    def _forget_some(self, connection: Connection) -> bool:
        """Forget the next batch, unless the decision was undone meanwhile."""
        pending = missing_files.read_pending_forget(connection)
        if pending is None:
            return False
        undone = events.undone_by(connection, pending.event) is not None
        now, size = self._clock.now(), 0 if undone else self._policy.max_forgotten_together
        batch, rest = pending.records[:size], () if undone else pending.records[size:]
        records = [each for each in store.by_ids(connection, batch, pending.reach).values() if each.status == "active"]
        missing_files.save_pending_forget(connection, replace(pending, records=rest))
        day = local_day(now, self._zone)
        occasion = AdmitContext(now, day, "owner", pending.session, part_of=pending.event)
        return bool(forget_batch(connection, records, pending.reach, occasion))
