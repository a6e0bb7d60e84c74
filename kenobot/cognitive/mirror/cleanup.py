"""Finish what commands and the command line began: purges, and the forgetting of files that vanished all at once."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import forget, missing_files, revived_lines
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.index.index import Indexer
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.core.bus import Bus
from kenobot.language.calendar import local_day
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory_changes import PurgePlan
from kenobot.ports.memory_files import Mirror, MissingFiles, RevivedLines
from kenobot.ports.signals import MEMORY_FILES_MISSING, MEMORY_REVIVED
from kenobot.storage import erasure
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.erasure import ErasureResult
from kenobot.storage.scopes import Scopes


def execute_purge(
    connection: Connection, doomed: PurgePlan, reach: Scopes, at: AdmitContext
) -> tuple[PurgePlan, ErasureResult]:
    """Erase what `doomed` names from every table, inside a transaction; returns the plan as carried out.

    reach: the scopes it was found in. Files and free space follow later: see `kenobot.storage.erasure`.
    """
    connection.execute("PRAGMA secure_delete = ON")
    doomed = forget.plan_purge(connection, doomed.record.id, reach) or doomed  # it may have changed since it was read
    scopes = dict.fromkeys(record.scope for record in doomed.records)
    numbers = [record.id for record in doomed.records]
    erased = erasure.erase_turns(connection, doomed.turns, doomed.wordings, doomed.record.scope, numbers)
    for scope in list(scopes)[1:]:
        erasure.erase_turns(connection, (), (), scope)  # a copy in another memory stood in other prompts
    erasure.note_unfinished_purge(connection, forget.purge(connection, doomed, at, erased.messages))
    return doomed, erased


@dataclass(frozen=True, slots=True)
class PurgeFinisher:
    """Finishes purges of the database in `path` that the command line could not, or that died; `tick` now and then."""

    database: Database
    path: Path
    files: Mirror
    indexer: Indexer

    async def tick(self) -> None:
        """Write files and index without the erased words, then vacuum, if a purge is unfinished. Raises StoreError.

        The database is vacuumed last, because the others leave what they overwrote in its free space, and in a thread;
        writes wait for it, some seconds where it is very large.
        """
        if await self.database.read(erasure.is_purge_unfinished):
            await self.files.sync_out()
            await self.indexer.index_all()
            await asyncio.to_thread(erasure.vacuum_erased, self.path)


def _look(connection: Connection) -> tuple[list[MissingFiles], RevivedLines | None, bool]:
    """Return the losses to announce, what came back and is to be asked about, and whether there is more to forget."""
    to_forget = missing_files.read_pending_forget(connection)
    return missing_files.list_unannounced(connection), revived_lines.open_question(connection), to_forget is not None


@dataclass(frozen=True, slots=True)
class MissingFilesWorker:
    """Announces memory files that vanished all at once, and forgets them in batches where the owner says so.

    Asks about lines that came back, too.
    """

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    files: Mirror

    async def tick(self) -> None:
        """Announce each loss and what came back, once; forget what the owner wants forgotten. Raises StoreError."""
        losses, held, has_pending = await self.database.read(_look)
        for loss in losses:
            where = {"at": loss.at, "where": loss.where}
            await self.bus.emit(MEMORY_FILES_MISSING, "memory", "", **where, files=loss.files, event=loss.event)
            await self.database.write_soon(partial(missing_files.mark_announced, loss=loss))
        if held is not None and not held.told:
            where = {"at": held.at, "where": held.where}
            await self.bus.emit(MEMORY_REVIVED, "memory", "", **where, lines=len(held.lines))
            await self.database.write_soon(partial(revived_lines.mark_announced, held=held))
        while has_pending:
            if await self.database.write(self._forget_some):
                self.files.mark_dirty()
            has_pending = await self.database.read(missing_files.read_pending_forget) is not None

    def _forget_some(self, connection: Connection) -> bool:
        """Forget the next batch, unless the decision was undone meanwhile."""
        pending = missing_files.read_pending_forget(connection)
        if pending is None:
            return False
        undone = events.find_undo(connection, pending.event) is not None
        now, size = self.clock.now(), 0 if undone else DEFAULT.control.max_forgotten_together
        batch, rest = pending.records[:size], () if undone else pending.records[size:]
        records = [each for each in store.by_ids(connection, batch, pending.reach).values() if each.status == "active"]
        missing_files.save_pending_forget(connection, replace(pending, records=rest))
        day = local_day(now, self.zone)
        occasion = AdmitContext(now, day, "owner", pending.session, part_of=pending.event)
        return bool(missing_files.forget_batch(connection, records, pending.reach, occasion))
