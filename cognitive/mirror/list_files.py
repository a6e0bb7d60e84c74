"""`ListFiles`: keeps the Markdown files and the database in step.

A file is written first and noted in the mirror table second. If the process dies in between, the file holds what it
would be written as, so it is not taken for a person's edit. A person's edit commits together with the note that it
has been read. A file that is not there is no edit: it is written again.
"""

import asyncio
import contextlib
import dataclasses
import logging
import stat
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import list_edits, list_layout
from kenobot.cognitive.mirror import missing as lost
from kenobot.cognitive.mirror.list_edits import FileView
from kenobot.cognitive.mirror.list_paths import (
    ARCHIVE,
    FileRole,
    archive_path,
    entity_page_of,
    index_path_of,
    is_legacy,
    path_of,
    role_of,
)
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, list_file_rows, tiers
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.cognitive.text.calendar import local_day
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import UNKNOWN, FileStamp
from kenobot.storage.state import read_state, write_state

log = logging.getLogger(__name__)

_FULL_SCAN_SECONDS = 2.0
_ARCHIVE_SECONDS = 60.0  # what no prompt shows is not looked at by turns: it only ever grows
_HOT_DAYS = 3
_TRIES = 5
_COPIES = 20  # of one name in the archive
_GROUPS = ("chats", "users")


class ListFiles:
    """The files below `root`. Call `start` once before the first turn; `sync_in` before each, `sync_out` after it."""

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        self._root = root.resolve()
        self._database = database
        self._clock = clock
        self._zone = zone
        self._policy = policy
        self._lock = asyncio.Lock()
        self._flushing = asyncio.Lock()
        self._seen: dict[str, FileStamp] = {}
        self._known: set[str] = set()
        self._topics: set[str] = set()  # those of the known files in which a person wrote down a topic
        self._marked: set[int] = set()
        self._again: set[str] = set()
        self._problems: dict[str, str] = {}
        self._emptied = lost.EmptiedFiles(database, clock, policy.files.announce_from)
        self._cursor: int | None = None
        self._scanned: float | None = None
        self._scanned_archive: float | None = None
        self._archive_wanted = False  # of the look that comes next
        self._aged = ""  # the day on which logs were last looked through for such as have to leave
        self._next_look: asyncio.Task[int] | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """Files that are left alone, each with the reason: one plain sentence a file."""
        return tuple(self._problems[path] for path in sorted(self._problems))

    async def start(self) -> None:
        """Catch up with what happened to files and memory while nobody looked. Raises StoreError."""
        await asyncio.to_thread(lambda: disk.remove_leftovers(self._root, [*folders(self._root), "identity"]))
        await self.sync_in()
        await self.sync_out()

    async def stop(self) -> None:
        """Write what is left; what cannot be written now is written at the next start."""
        if self._next_look is not None:
            await asyncio.wait([self._next_look])
        try:
            await self.sync_out()
        except StoreError as error:
            log.warning("The memory files are not up to date: %s", error)

    async def sync_in(self, session: str | None = None) -> int:
        """Take in what people did to the files since the last look; how many facts they touched.

        session: look only at the files that a turn of it shows and people are likeliest to change, unless it is time
        to look at all but the archive; without it, at all. Callers who wait for such a look share one. Raises
        StoreError when memory cannot be written: then the edit is still in the file and will be taken in later.
        """
        if session is not None and not self._full_scan_is_due():
            async with self._lock:
                await self._open()
                return await self._look_at(self._hot(session))
        self._archive_wanted |= session is None
        if self._next_look is None:
            self._next_look = asyncio.create_task(self._look(), name="look at the memory files")
        return await asyncio.shield(self._next_look)

    async def scan(self) -> int:
        """Look at the files that no turn looks at, when it is time; how many facts that touched. Raises StoreError."""
        now, last = self._clock.monotonic(), self._scanned_archive
        return 0 if last is not None and now - last < _ARCHIVE_SECONDS else await self.sync_in()

    def has_changes(self, session: str) -> Callable[[], bool] | None:
        """Something cheap to call in another thread: whether `take_in(session)` would find a change.

        None when it is time to look at all the files: then call `take_in`.
        """
        if self._cursor is None or self._full_scan_is_due():
            return None
        return partial(disk.any_changed, str(self._root), {path: self._seen.get(path) for path in self._hot(session)})

    def mark_dirty(self, record_ids: Iterable[int]) -> None:
        """Remember that these records were written, so that their files are. Call after the commit."""
        self._marked.update(record_ids)

    async def sync_out(self) -> None:
        """Write every file whose records changed. Raises StoreError; a file that fails is tried again later."""
        async with self._flushing:
            async with self._lock:
                await self._open()
            marked, self._marked = self._marked, set()
            again, self._again = self._again | self._leaving(), set()
            try:
                event, dirty = await self._database.read(partial(self._dirty, marked))
                for path in sorted(dirty | again, key=_archive_first):
                    async with self._lock:
                        await _to_its_end(self._sync(path))
            except BaseException:
                self._marked |= marked
                self._again |= again
                raise
            if event != self._cursor:
                if not self._again:
                    await self._database.write_soon(lambda c: write_state(c, list_edits.CURSOR, str(event)))
                self._cursor = event

    # ── which files ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> int:
        async with self._lock:
            self._next_look = None  # from here on an edit may come too late for this look
            self._scanned = self._clock.monotonic()
            archive, self._archive_wanted = self._archive_wanted, False
            if archive:
                self._scanned_archive = self._scanned
            await self._open()
            return await self._look_at(None, archive=archive)

    async def _look_at(self, paths: Sequence[str] | None, *, archive: bool = False) -> int:
        """Look at these files, or at all there are, and take in what changed. The lock is held."""
        look = (
            partial(scan, self._root, self._seen, archive=archive)
            if paths is None
            else partial(stat_paths, self._root, paths)
        )
        found = await asyncio.to_thread(look)
        changed = {path for path, stamp in found.items() if self._seen.get(path) != stamp}
        noted = self._known | self._problems.keys()
        missing = (noted if paths is None else noted.intersection(paths)) - found.keys()
        if not archive:
            missing = {path for path in missing if not path.startswith(ARCHIVE)}
        touched = 0
        for path in sorted(changed | missing, key=_core_first):
            if not await self._is_as_noted(path):
                touched += await self._sync(path)
        return touched

    async def _is_as_noted(self, path: str) -> bool:
        """Whether a file that this process never saw holds what was noted of it: then there is nothing to work out."""
        if path in self._seen or path not in self._known:
            return False
        found = await disk.read(self._root, path)
        row = await self._database.read(partial(list_file_rows.list_file, path=path))
        if found.stamp is None or row is None or found.text != row[0]:
            return False
        self._seen[path] = found.stamp
        return True

    async def _open(self) -> None:
        """Learn where the last process stopped."""
        if self._cursor is None:
            for path in await self._database.read(list_file_rows.list_file_paths):
                self._learn(path)
            self._cursor = int(await self._database.read(lambda c: read_state(c, list_edits.CURSOR)) or 0)

    def _full_scan_is_due(self) -> bool:
        return self._scanned is None or self._clock.monotonic() - self._scanned >= _FULL_SCAN_SECONDS

    def _hot(self, session: str) -> list[str]:
        """The files that people and this chat are likeliest to change: as many however large memory is."""
        today = date.fromisoformat(local_day(self._clock.now(), self._zone))
        logs = [f"{(today - timedelta(days=ago)).isoformat()}.md" for ago in range(_HOT_DAYS)]
        of_chat = [f"chats/{session}/{name}" for name in ("MEMORY.md", "context.md", *logs)]
        return ["MEMORY.md", "identity/preferences.md", f"working/{session}.md", *logs, *of_chat]

    def _dirty(self, marked: set[int], connection: Connection) -> tuple[int, set[str]]:
        """The newest event that speaks of a record, and the files of what has changed since the cursor."""
        cursor = self._cursor or 0
        touched = events.record_ids_touched_since(connection, cursor)
        records = store.by_ids(connection, [*touched, *(marked - set(touched))], ALL_SCOPES)
        paths: set[str] = set(list_file_rows.list_files_with(connection, set(touched) - records.keys()))
        left = tiers.former_tiers(connection, cursor)
        for record in records.values():
            if record.changed > cursor or record.id in marked:
                paths.update(_paths_of(record, left.get(record.id, ())))
        # No record tells that it stands in a topic's file.
        paths.update(list_file_rows.list_files_with(connection, records, sorted(self._topics)))
        return events.last_record_event(connection), paths

    def _learn(self, path: str) -> None:
        """A file of the mirror is there."""
        if path in self._known:
            return
        self._known.add(path)
        place = role_of(path)
        if place is not None and place.kind == "topic":
            self._topics.add(path)

    def _unlearn(self, path: str) -> None:
        """A file of the mirror is there no more."""
        self._known.discard(path)
        self._topics.discard(path)
        self._seen.pop(path, None)

    def _leaving(self) -> set[str]:
        """Logs whose days have come to be over since this was last asked, with where they are kept from now on."""
        today = local_day(self._clock.now(), self._zone)
        if today == self._aged:
            return set()
        self._aged = today
        over = [path for path in self._known if (place := self._place(path)) is not None and place.is_expired]
        return {path for log_ in over if not log_.startswith(ARCHIVE) for path in (log_, archive_path(log_))}

    def _place(self, path: str) -> FileRole | None:
        """What the file at `path` holds today."""
        place = role_of(path)
        if place is None or not (place.archived or place.kind in ("daily", "topic")):
            return place
        sleep = self._policy.sleep
        last = date.fromisoformat(local_day(self._clock.now(), self._zone)) - timedelta(days=sleep.daily_days)
        over = place.kind != "slot" and (place.detail <= last.isoformat() or is_legacy(path))
        return dataclasses.replace(place, is_expired=over, keeps_archive=sleep.expired == "archive")

    # ── one file ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _sync(self, path: str) -> int:
        """Bring one file and memory to agree; how many facts a person's edit touched. The lock is held.

        Raises StoreError. A file that fails in any other way is reported, and costs only itself.
        """
        place = self._place(path)
        if place is None:
            return 0
        touched = 0
        try:
            for _ in range(_TRIES):
                found = await disk.read(self._root, path)
                if found.problem:
                    self._leave_alone(path, found.stamp, found.problem)
                    return touched
                empty = await self._emptied.classify(path, place, found) if path in self._known else "kept"
                if empty == "wait":
                    self._again.add(path)
                    return touched
                held = None if empty == "lost" else found.text
                sheet = await self._database.read(
                    partial(list_edits.view_file, path=path, place=place, zone=self._zone, found=held)
                )
                if sheet.edited:
                    count, sheet = await self._database.write(partial(self._absorb, path, place, found.text or ""))
                    touched += count
                    self._learn(path)
                if await self._settle(path, found, sheet):
                    self._problems.pop(path, None)
                    if place.kind == "topic" and place.is_expired:
                        await self._put_away(path)
                    return touched
            self._again.add(path)
        except OSError as error:
            self._again.add(path)
            self._report(path, f"{path} cannot be written ({error.strerror}): check the disk and who owns it.")
        except StoreError:
            raise
        except Exception:
            log.exception("%s", path)
            self._leave_alone(path, found.stamp, f"{path} cannot be understood: it is left alone.")
        return touched

    def _absorb(self, path: str, place: FileRole, text: str, connection: Connection) -> tuple[int, FileView]:
        now = self._clock.now()
        day = (place.detail if place.kind in ("daily", "topic") else "") or local_day(now, self._zone)
        session = place.scope.removeprefix("chat:") if place.scope.startswith("chat:") else ""
        occasion = AdmitContext(at=now, day=day, actor="owner", session=session, policy=self._policy)
        return list_edits.apply_edit(connection, path, place, self._zone, text, occasion)

    async def _settle(self, path: str, found: disk.ReadResult, sheet: FileView) -> bool:
        """Make the file hold what `sheet` says, then note it; False when somebody changed the file meanwhile."""
        text = sheet.text
        stamp = found.stamp
        if not sheet.blocks and found.text != "":
            if found.stamp is not None and not await asyncio.to_thread(disk.remove, self._root, path, found.stamp):
                return False
            stamp = None
        elif text != found.text:
            stamp = await disk.replace(self._root, path, text, found.stamp)
            if stamp is None:
                return False
        if stamp is None:
            if path in self._known:
                await self._database.write(partial(list_file_rows.delete_list_file, path=path))
            self._unlearn(path)
            return True
        if not sheet.is_stored:
            frozen = list_layout.encode_blocks(sheet.blocks)
            await self._database.write(partial(list_file_rows.save_list_file, path=path, text=text, blocks=frozen))
        self._learn(path)
        self._seen[path] = stamp
        return True

    async def _put_away(self, path: str) -> None:
        """Take a topic file that memory has taken in, and whose day is over, out of the hot tree. Raises OSError.

        It stays in the archive as its owner wrote it, under a name of its own; where expired files are deleted, it
        goes.
        """
        found = await disk.read(self._root, path)
        row = await self._database.read(partial(list_file_rows.list_file, path=path))
        if found.text is None or row is None or found.text != row[0]:
            return  # edited meanwhile: the next look takes that in
        if self._policy.sleep.expired == "archive" and not await self._kept(archive_path(path), found.text):
            self._report(path, f"{path} cannot be put into the archive: there are too many of that name.")
            return
        if await asyncio.to_thread(disk.remove, self._root, path, found.stamp):
            await self._database.write(partial(list_file_rows.delete_list_file, path=path))
            self._unlearn(path)

    async def _kept(self, path: str, text: str) -> bool:
        """Put a text where nobody's file stands, at `path` or beside it, unless it is there. Raises OSError."""
        stem = path.removesuffix(".md")
        for name in (path, *(f"{stem}-{copy}.md" for copy in range(2, _COPIES))):
            there = await disk.read(self._root, name)
            if there.text == text:
                return True
            if there.stamp is None and await disk.replace(self._root, name, text, None) is not None:
                return True
        return False

    def _leave_alone(self, path: str, stamp: FileStamp | None, problem: str) -> None:
        """Do nothing more about a file until it changes."""
        self._seen[path] = stamp or UNKNOWN
        self._report(path, problem)

    def _report(self, path: str, problem: str) -> None:
        if self._problems.get(path) != problem:
            log.warning("%s", problem)
        self._problems[path] = problem


async def _to_its_end(work: Coroutine[None, None, int]) -> int:
    """Let `work` finish even if the caller is cancelled: an open file is closed, a written one is noted."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is not None:
            log.warning("A memory file was not brought up to date while stopping: %s", task.exception())
        raise


def _paths_of(record: store.Record, left: Iterable[str]) -> set[str]:
    """Every file that `record` may stand in or have stood in: sleep and people move facts between the tiers.

    left: tiers that it has had since its files were written, as its events tell.
    """
    had = [record._replace(tier=tier) for tier in (record.tier, *left)]
    candidates = [path for each in had for path in (path_of(each), index_path_of(each))]
    return {path for path in (*candidates, entity_page_of(record)) if path is not None}


def _archive_first(path: str) -> tuple[bool, str]:
    """A log leaves the hot tree when the archive has it."""
    return not path.startswith(ARCHIVE), path


def _core_first(path: str) -> tuple[bool, str]:
    """A line moved from a log into MEMORY.md is found there before it is missed in the log, so it stays one fact."""
    return not path.endswith("MEMORY.md"), path


# ── the tree ─────────────────────────────────────────────────────────────────────────────────────────────────────


def scan(root: Path, seen: Mapping[str, FileStamp], *, archive: bool = True) -> dict[str, FileStamp]:
    """Stat every list file, by path; `archive`: those in there, too. Links, backups and others' files are left out.

    A file that is as it was `seen` costs little more than its lstat: this runs over all of memory again and again.
    """
    found: dict[str, FileStamp] = {}
    for folder in folders(root, archive=archive):
        found.update(_walk(root, f"{folder}/" if folder else "", seen))
    return found | stat_paths(root, ["identity/preferences.md"])


def folders(root: Path, *, archive: bool = True) -> list[str]:
    """List the folders in which list files may stand. Links are not followed."""
    own = [f"{group}/{name}" for group in _GROUPS for name in disk.subfolders(root / group)]
    found = ["", "working", "entities", *own, *(f"{folder}/entities" for folder in own)]
    if archive and not (root / ARCHIVE).is_symlink():
        kept = [f"{ARCHIVE}{group}/{name}" for group in _GROUPS for name in disk.subfolders(root / ARCHIVE / group)]
        found += [ARCHIVE.rstrip("/"), *kept]
    return found


def stat_paths(root: Path, paths: Iterable[str]) -> dict[str, FileStamp]:
    """Stat those of `paths` that are plain files."""
    found: dict[str, FileStamp] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            now = (root / path).lstat()
            if stat.S_ISREG(now.st_mode):
                found[path] = FileStamp.of(now)
    return found


def _walk(root: Path, folder: str, seen: Mapping[str, FileStamp]) -> Iterator[tuple[str, FileStamp]]:
    for entry in disk.entries(root / folder):
        path = folder + entry.name
        before = seen.get(path)
        if before is None and role_of(path) is None:
            continue
        with contextlib.suppress(OSError):  # gone between the listing and the look
            now = entry.stat(follow_symlinks=False)
            if before == (now.st_mtime_ns, now.st_size, now.st_ino):
                yield path, before
            elif stat.S_ISREG(now.st_mode):
                yield path, FileStamp.of(now)
