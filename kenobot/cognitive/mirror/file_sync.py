"""Keep files that people edit and the database in step: what all kinds of files have in common.

A kind of file is a subclass. `_find_dirty` finds the files that may have to be written, `_view` says how a file should
be, `_absorb` lets memory follow a person's edit of it, and `_note` stores what the file was written as.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror.intake import LargeIntake
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.core.front_matter import UnusableFileError
from kenobot.language.calendar import local_day
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import UNKNOWN, FileStamp, ReadResult
from kenobot.storage.state import read_state, write_states

log = logging.getLogger(__name__)

Detail = TypeVar("Detail")
Note = Callable[[Connection], object]
FileKey = str | int
"""A path, or the number of a record whose files are meant."""

_TRIES = 5
_MOST_PROBLEMS = 200  # kept to be shown; the log has them all


@dataclass(frozen=True, slots=True)
class FileView(Generic[Detail]):
    """A file as it should be; text "": not there at all.

    detail: what the kind of file needs to note the file. edited: a person changed it. is_noted: just that is noted.
    """

    text: str
    detail: Detail
    edited: bool = False
    is_noted: bool = False


@dataclass(frozen=True, slots=True)
class DirtyFiles:
    """Files of one kind that have to be written, in that order.

    event: the newest that was looked at. again: what was to be written whatever the events say.
    """

    event: int
    keys: Sequence[FileKey]
    again: frozenset[FileKey]


class FileSync(Generic[Detail]):
    """The files of one kind below `root`. Call `sync_in` before a turn and `sync_out` after memory has changed."""

    cursor_key: ClassVar[str] = ""  # state key: the last event whose records all stand in their files
    batch: int = 1  # keys that are written in one go

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        self._root = root.resolve()
        self._database = database
        self._clock = clock
        self._zone = zone
        self._policy = policy
        self.intake = LargeIntake()
        self._lock = asyncio.Lock()  # held for one look, one file or one batch
        self._flushing = asyncio.Lock()
        self._cursor: int | None = None
        self._stored_cursor: int | None = None
        self._again: set[FileKey] = set()  # bounded: what is to be written; test_what_is_known_of_cards_is_bounded
        self._problems: dict[str, str] = {}  # bounded: 200 sentences; test_what_is_known_of_cards_is_bounded
        # bounded: the memory files; test_what_is_known_of_memory_files_goes_with_them
        self._seen: dict[str, FileStamp] = {}
        self._under_way: frozenset[str] = frozenset()  # files and folders that are being written
        self._notes: list[Note] = []  # bounded: one batch of files; turn

    @property
    def problems(self) -> tuple[str, ...]:
        """Name the files that are left alone or could not be written, each with the reason in one plain sentence."""
        return tuple(self._problems[path] for path in sorted(self._problems))

    @property
    def has_pending_writes(self) -> bool:
        """Tell whether a file is being written or still to be, such as one for which there was no space."""
        return bool(self._again) or self._flushing.locked()

    def has_changes(self, session: str = "") -> bool:
        """Tell whether a file that a turn of a chat looks at is not as it was seen. Looks at the disk."""
        stamps = self.recent_stamps(session)
        for path in self._under_way:
            stamps.pop(path, None)
        return disk.any_changed(str(self._root), stamps)

    async def sync_out(self, dirty: DirtyFiles | None = None) -> int:
        """Write every file whose records changed; how many facts edits touched that were found on the way.

        dirty: those files, where they were found just now; then the caller notes how far this came (`store_round`).
        Raises StoreError; a file that fails is tried again with the next call.
        """
        async with self._flushing:
            found = dirty or await self._look_for_dirty()
            self._again -= found.again
            touched = 0
            try:
                for start in range(0, len(found.keys), self.batch):
                    async with self._lock:
                        await self._store_notes()
                        touched += await _finish(self._write(found.keys[start : start + self.batch]))
            except BaseException:
                self._again |= found.again
                raise
            self._cursor = found.event
            if dirty is None:
                await store_round(self._database, [self])
            return touched

    async def _look_for_dirty(self) -> DirtyFiles:
        marks = await self.read_marks()
        return await self._database.read(partial(self.find_dirty, again=marks))

    async def read_marks(self) -> frozenset[FileKey]:
        """Return what is to be written whatever the events say. Raises StoreError."""
        async with self._lock:
            await self._open()
        return frozenset(self._again)

    def find_dirty(self, connection: Connection, again: Collection[FileKey]) -> DirtyFiles:
        """Find what has to be written since the last round. again: what is to be written whatever the events say."""
        event, keys = self._find_dirty(connection, set(again))
        return DirtyFiles(event, keys, frozenset(again))

    def next_cursor(self) -> int | None:
        """Return the event up to which all is written, None where that is noted already."""
        is_behind = self.cursor_key and not self._again and self._cursor != self._stored_cursor
        return self._cursor if is_behind else None

    def confirm_cursor(self, event: int) -> None:
        """Remember that an event is noted as the one up to which all is written."""
        self._stored_cursor = event

    async def _store_notes(self) -> None:
        """Store what is noted of files that were written; the lock is held. Before it, they look like edited ones.

        A crash before that is no harm: a file that holds what it would be written as is known as our own.
        """
        if notes := self._notes:
            await self._database.write(partial(_call_each, works=notes))
            self._notes = []

    async def _open(self) -> None:
        """Learn where the last process stopped."""
        await self._store_notes()
        if self._cursor is None:
            self._cursor = int(await self._database.read(lambda c: read_state(c, self.cursor_key)) or 0)
            self._stored_cursor = self._cursor

    async def _write(self, keys: Sequence[FileKey]) -> int:
        return sum([await self._reconcile(str(path)) for path in keys])

    @contextlib.contextmanager
    def _writing(self, paths: Iterable[str]) -> Iterator[None]:
        """Take paths out of what a turn compares while they are written: what changes there is our own doing.

        An edit of that moment is seen by the next look, for the file is noted with the stamp that we gave it.
        """
        mine = frozenset(paths)
        self._under_way |= mine
        try:
            yield
        finally:
            self._under_way -= mine

    # ── one file ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _reconcile(self, path: str) -> int:
        """Bring one file and memory to agree; how many facts a person's edit touched. The lock is held.

        Raises StoreError. A file that fails in any other way is reported, and costs only itself.
        """
        touched, stamp = 0, None
        try:
            for _ in range(_TRIES):
                found = await self._leave_torn_end(path, await disk.read(self._root, path))
                stamp = found.stamp
                if found.problem:
                    self._leave_alone(path, stamp, found.problem)
                    return touched
                seen = await self._compare(path, found)
                if seen is None:
                    break
                view = seen
                if seen.edited:
                    count, view = await self._take(path, found)
                    touched += count
                if await self._settle(path, found, view):
                    return touched
            self._again.add(path)
        except OSError as error:
            self._again.add(path)
            self._report_unwritten(path, error)
        except UnusableFileError as error:
            self._leave_alone(path, stamp, f"{path} is left alone: {error}.")
        except StoreError:
            raise
        except Exception:
            log.exception("%s", path)
            self._leave_alone(path, stamp, f"{path} cannot be understood: it is left alone.")
        return touched

    async def _leave_torn_end(self, path: str, found: ReadResult) -> ReadResult:
        """Leave away the half character with which an append of ours was cut off; any other is its owner's."""
        if found.before_half is None:
            return found
        whole = ReadResult(found.stamp, found.before_half)
        view = await self._compare(path, whole)
        return found if view is None or view.edited else whole

    async def _compare(self, path: str, found: ReadResult) -> FileView[Detail] | None:
        """Compare a file with how it should be; None to look at it again later."""
        return await self._database.read(partial(self._view, path=path, found=found))

    async def _take(self, path: str, found: ReadResult) -> tuple[int, FileView[Detail]]:
        """Take in a person's edit of a file; how many facts it touched, and how the file should be now."""
        return await self._database.write(partial(self._absorb, path=path, found=found))

    async def _settle(self, path: str, found: ReadResult, view: FileView[Detail]) -> bool:
        """Make the file hold the view's text, then note it; False when somebody changed the file meanwhile."""
        stamp = found.stamp
        if view.text == (found.text or ""):
            self._problems.pop(path, None)
            await self._note(path, view, stamp)
            return True
        await self._prepare_write(view)
        with self._writing([path]):
            seen = self._seen.pop(path, None)  # until it is noted, what stands there may be ours
            stamp = await disk.replace(self._root, path, view.text, found.stamp) if view.text else None
            if stamp is None and (view.text or not await asyncio.to_thread(disk.remove, self._root, path, found.stamp)):
                self._seen |= {} if seen is None else {path: seen}
                return False
            self._problems.pop(path, None)
            await self._note(path, view, stamp)
        return True

    def _leave_alone(self, path: str, stamp: FileStamp | None, problem: str) -> None:
        """Do nothing more about a file until it changes."""
        self._seen[path] = stamp or UNKNOWN
        self._report(path, problem)

    def _report(self, path: str, problem: str) -> None:
        if self._problems.get(path) != problem:
            log.warning("%s", problem)
        while len(self._problems) >= _MOST_PROBLEMS:
            del self._problems[next(iter(self._problems))]
        self._problems[path] = problem

    def _report_unwritten(self, path: str, error: OSError) -> None:
        self._report(path, f"{path} cannot be written ({error.strerror}): check the disk and who owns it.")

    def _today(self) -> str:
        return local_day(self._clock.now(), self._zone)

    def _edit_context(self) -> AdmitContext:
        """Make the context in which memory takes in what the owner did to a file today."""
        return AdmitContext(at=self._clock.now(), day=self._today(), actor="owner", policy=self._policy)

    # ── what a kind of file says ─────────────────────────────────────────────────────────────────────────────────

    def recent_stamps(self, session: str) -> dict[str, FileStamp | None]:
        """Tell how the files that a turn of a chat looks at were seen last, None for not there."""
        raise NotImplementedError

    def _find_dirty(self, connection: Connection, again: set[FileKey]) -> tuple[int, Sequence[FileKey]]:
        """Find the newest event and, in the order of writing, what may have to be written. again: what failed."""
        raise NotImplementedError

    def _view(self, connection: Connection, path: str, found: ReadResult) -> FileView[Detail]:
        """Say how the file should be that was read as `found`. Raises UnusableFileError."""
        raise NotImplementedError

    def _absorb(self, connection: Connection, path: str, found: ReadResult) -> tuple[int, FileView[Detail]]:
        """Let memory follow a person's edit; how many facts it touched, and how the file should be now."""
        raise NotImplementedError

    async def _prepare_write(self, view: FileView[Detail]) -> None:
        """Note that a file may be about to be written."""

    async def _note(self, path: str, view: FileView[Detail], stamp: FileStamp | None) -> None:
        """Note that the file is as it should be. No stamp: it is not there."""
        raise NotImplementedError


async def store_round(database: Database, kinds: Sequence[FileSync[Any]]) -> None:
    """Store what a round of writing noted of files of some kinds, and up to which event they are written.

    By one transaction. Raises StoreError.
    """
    async with contextlib.AsyncExitStack() as locks:
        for kind in kinds:
            await locks.enter_async_context(kind._lock)
        due = [(kind, event) for kind in kinds if (event := kind.next_cursor()) is not None]
        works = [note for kind in kinds for note in kind._notes]
        if due:
            works.append(partial(write_states, values={kind.cursor_key: str(event) for kind, event in due}))
        if works:
            await database.write_soon(partial(_call_each, works=works))
        for kind in kinds:
            kind._notes = []
        for kind, event in due:
            kind.confirm_cursor(event)


def _call_each(connection: Connection, works: Iterable[Note]) -> None:
    for work in works:
        work(connection)


async def _finish(work: Coroutine[None, None, int]) -> int:
    """Let `work` finish even if the caller is cancelled: an open file is closed, a written one is noted."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is not None:
            log.warning("A memory file was not brought up to date while stopping: %s", task.exception())
        raise
