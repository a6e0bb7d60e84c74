"""Keep the whole Markdown tree and the database in step, in the background.

The kinds of files know nothing of each other: what one takes in, the others show next.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror.file_sync import DirtyFiles, FileSync, store_round
from kenobot.cognitive.mirror.intake import LargeIntake
from kenobot.cognitive.mirror.lists.list_files import ListFiles
from kenobot.cognitive.mirror.pattern_file import PatternFile
from kenobot.cognitive.mirror.rebuild import require_memory
from kenobot.cognitive.mirror.records.record_files import RecordFiles
from kenobot.cognitive.mirror.session_note import SessionNote
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.core.pacing import Rank, run_at_rank
from kenobot.core.quiet_spell import QuietSpell
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.memory_files import IntakeNotice
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

log = logging.getLogger(__name__)

_ROUNDS = 3  # of writing: an edit found in one kind of file is shown in the other


class MemoryFiles:
    """The files below `root`. Call `begin` once before the first turn; `sync_in` before each; `scan` now and then.

    announce: awaited when much begins to be taken in, and when it is done.
    quiet: what is to be written is written in the background after it.
    """

    def __init__(
        self,
        root: Path,
        database: Database,
        clock: Clock,
        zone: ZoneInfo,
        policy: Policy = DEFAULT,
        announce: Callable[[IntakeNotice], Awaitable[None]] | None = None,
        quiet: QuietSpell | None = None,
    ) -> None:
        self._root = root.resolve()
        self._database = database
        self._pacer = database.pacer
        self._quiet = quiet or QuietSpell()
        self._intake = LargeIntake(announce) if announce is not None else LargeIntake()
        self.list_files = ListFiles(root, database, clock, zone, policy)
        self.record_files = RecordFiles(root, database, clock, zone, policy)
        self.pattern_file = PatternFile(root, database, clock, zone, policy)
        self.session_note = SessionNote(root, database, clock, zone)
        self.list_files.intake = self.record_files.intake = self._intake
        # What one kind takes in, the others show: in this order.
        self._kinds: tuple[FileSync[Any], ...] = (self.list_files, self.pattern_file, self.record_files)
        self._round = asyncio.Lock()  # of writing
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        # bounded: the turns at work; turn
        self._looks: set[asyncio.Task[int]] = set()
        self._is_caught_up = False
        self._tried = asyncio.Event()  # to catch up

    @staticmethod
    def require_database(root: Path, database: Path) -> None:
        """Refuse to go on with an empty or missing database beside files of memory. Raises ConfigError."""
        require_memory(root, database)

    @property
    def problems(self) -> tuple[str, ...]:
        """Name the files that are left alone, each with the reason in one plain sentence."""
        return self.list_files.problems + self.record_files.problems + self.pattern_file.problems

    def begin(self) -> None:
        """Begin to catch up with what happened while nobody looked, and to write along, both in the background."""
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_along(), name="memory files")

    async def catch_up(self) -> None:
        """Take in what happened to files and memory while nobody looked. Raises StoreError."""
        await self.list_files.start()
        await self.record_files.start()
        await self.pattern_file.sync_in()
        await self.sync_out()
        self._is_caught_up = True

    async def wait_caught_up(self) -> None:
        """Return once it has caught up, or cannot for now."""
        if self._writer is not None:
            await self._tried.wait()

    async def start(self) -> None:
        """Catch up, then write along in the background. Raises StoreError."""
        await self.catch_up()
        self.begin()

    async def stop(self) -> None:
        """End the background work and write what is left; what cannot be written now is written at the next start."""
        self._intake.close()
        tasks = {*self._looks, *([self._writer] if self._writer is not None else [])}
        for task in tasks:  # a file that is being written is finished and noted; what is being taken in goes on later
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._writer = None
        try:
            await self.list_files.stop()
            await self.sync_out()
        except StoreError as error:
            log.warning("The memory files are not up to date: %s", error)

    async def sync_in(self, session: str | None = None) -> int:
        """Take in what people did to the files since the last look; how many facts they touched. Raises StoreError.

        session: look only at the files that a turn of it shows and people are likeliest to change, and wait no more
        once that turns out to be much: it goes on in the background, and what is known is answered from.
        """
        if session is None:
            return await self._sync_in(None)
        if self._intake.is_under_way:
            return 0
        look = asyncio.create_task(self._sync_in(session), name="look at the memory files")
        self._looks.add(look)
        look.add_done_callback(self._end_look)
        with self._pacer.mark_waiting():  # for files that are just being written
            return await self._intake.wait_unless_large(look)

    async def _sync_in(self, session: str | None) -> int:
        touched = await self.list_files.sync_in(session) + await self.record_files.sync_in(session)
        touched += await self.pattern_file.sync_in()
        if touched:
            self._wake.set()
        return touched

    def _end_look(self, look: asyncio.Task[int]) -> None:
        self._looks.discard(look)
        if not look.cancelled() and (error := look.exception()) is not None:
            log.warning("The edited files are not taken in yet: %s", error)

    def has_changes(self, session: str) -> Callable[[], bool] | None:
        """Make a cheap check, to call in another thread, of whether `sync_in(session)` may find a change.

        None before the first look at all files: then call `sync_in`.
        """
        if not self.list_files.has_scanned:
            return None
        return lambda: any(kind.has_changes(session) for kind in self._kinds)

    def mark_dirty(self, record_ids: Iterable[int] = ()) -> None:
        """Remember that these records were written, so that their files are. Call after the commit."""
        self.list_files.mark_dirty(record_ids)
        self._quiet.begin_after(self._wake.set)

    async def scan(self) -> None:
        """Look at some of the files that no turn looks at, and have written what that changes."""
        touched = await self.list_files.scan() + await self.record_files.scan()
        if touched or self.record_files.has_pending_writes or not self._is_caught_up:
            self._wake.set()

    async def _write_along(self) -> None:
        with run_at_rank(Rank.SOON):
            await self.run()

    async def run(self) -> None:
        """Catch up, then write files as records change, until cancelled.

        A round that fails is logged, and made up for by the next.
        """
        while True:
            if self._is_caught_up or self._tried.is_set():
                await self._wake.wait()
            self._wake.clear()
            try:
                await (self.sync_out() if self._is_caught_up else self.catch_up())
            except StoreError as error:
                log.warning("The memory files are not up to date: %s", error)
            except Exception:
                log.exception("The memory files are not up to date")
            self._tried.set()

    async def sync_out(self) -> None:
        """Write every file whose records changed. Raises StoreError; a file that fails is tried again later."""
        async with self._round:
            is_note_due = False
            for _ in range(_ROUNDS):
                dirty, is_due = await self._find_dirty()
                touched = sum([await kind.sync_out(found) for kind, found in zip(self._kinds, dirty, strict=True)])
                is_note_due = is_note_due or is_due or bool(touched)
                if not touched:
                    break
            await store_round(self._database, self._kinds)
            if is_note_due:
                await self.session_note.sync_out()

    async def _find_dirty(self) -> tuple[list[DirtyFiles], bool]:
        """Find what is to be written of each kind of files, and whether SESSION.md may be, by one read job."""
        marks = [await kind.read_marks() for kind in self._kinds]

        def find(connection: Connection) -> tuple[list[DirtyFiles], bool]:
            found = [kind.find_dirty(connection, again) for kind, again in zip(self._kinds, marks, strict=True)]
            return found, self.session_note.is_due(connection)

        return await self._database.read(find)
