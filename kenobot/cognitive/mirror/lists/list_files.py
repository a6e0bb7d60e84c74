"""Keep the Markdown files that many records share, such as daily logs and MEMORY.md, and the database in step.

A file is written first and noted in its table second. If the process dies in between, the file holds what it would be
written as, so it is not taken for a person's edit. A person's edit commits together with the note that it has been
read. A file that is not there is no edit: it is written again. One that is empty at once and held much is a loss.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Generator, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache, partial
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import scan
from kenobot.cognitive.mirror.file_sync import FileKey, FileSync, FileView
from kenobot.cognitive.mirror.lists.list_view import (
    CURSOR,
    Blocks,
    ListFile,
    LogAppend,
    TouchedRecords,
    find_copies,
    plan_append,
)
from kenobot.cognitive.mirror.paths import ARCHIVE, FileRole, has_own_file, is_legacy, paths_of, role_of
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.store import events, list_file_rows, tiers
from kenobot.cognitive.store import records as store
from kenobot.core.worker import finish_or_cancel
from kenobot.language.line_pairs import FileLines, LineEdits, pair_lines
from kenobot.language.markdown import list_layout
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import UNKNOWN, FileStamp, PendingFile, ReadResult
from kenobot.storage.scopes import ALL_SCOPES

log = logging.getLogger(__name__)

_FULL_SCAN_SECONDS = 2.0
_ARCHIVE_SECONDS = 60.0  # what no prompt shows is not looked at by turns: it only ever grows
_SAVING_SECONDS = 1.0  # that an editor may take between emptying a file and writing it
_LOOK_GRACE = 0.5  # seconds that a look may still take at the end
_HOT_DAYS = 3
_COPIES = 20  # of one name in the archive


class ListFiles(FileSync[Blocks]):
    """The list files below `root`. Call `start` once before the first turn; `sync_in` before each, `sync_out` after."""

    cursor_key = CURSOR

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        super().__init__(root, database, clock, zone, policy)
        # bounded: the memory files; test_what_is_known_of_memory_files_goes_with_them
        self._known: set[str] = set()
        # bounded: the topic files there are; test_what_is_known_of_memory_files_goes_with_them
        self._topics: set[str] = set()  # those of the known files in which a person wrote down a topic
        # bounded: the list files; turn
        self._emptied: dict[str, tuple[FileStamp, float]] = {}  # files that are empty at once, and since when
        self._scanned: float | None = None
        # bounded: the folders of list files there are; turn
        self._listed: Mapping[str, FileStamp | None] = {}  # when all of their files were as noted
        # bounded: the folders of list files there are; turn
        self._folders: Mapping[str, FileStamp | None] = {}  # the same, when their stamps tell of every change
        self._scanned_archive: float | None = None
        self._archive_wanted = False  # of the look that comes next
        self._aged = ""  # the day on which logs were last looked through for such as have to leave
        self._next_look: asyncio.Task[int] | None = None
        self._looks: set[asyncio.Task[int]] = set()  # bounded: the one at work and the next; turn
        self._unsettled: list[str] = []  # bounded: files edited in one save that are still to be written; turn
        self._there: dict[str, FileStamp] | None = None  # bounded: the list files, during a look at all of them; turn
        self._touched = TouchedRecords(0, ())  # of the round of writing under way
        # bounded: the memory files; test_what_is_known_of_memory_files_goes_with_them
        self._laid_out: set[str] = set()  # logs that were compared with memory as a whole, so that they may grow

    async def start(self) -> None:
        """Catch up with what happened to files and memory while nobody looked. Raises StoreError."""
        await asyncio.to_thread(lambda: disk.remove_leftovers(self._root, [*scan.list_folders(self._root), "identity"]))
        await self.sync_in()
        await self.sync_out()

    async def stop(self) -> None:
        """Write what is left, and break off what takes long. Raises StoreError; then the next start goes on with it."""
        await finish_or_cancel(set(self._looks), 0.0 if self.intake.is_under_way else _LOOK_GRACE)
        await self.sync_out()

    async def sync_in(self, session: str | None = None) -> int:
        """Take in what people did to the files since the last look; how many facts they touched.

        session: look only at the files that a turn of it shows and people are likeliest to change, unless it is time
        to look at all but the archive; without it, at all. Callers who wait for such a look share one. Raises
        StoreError when memory cannot be written: then the edit is still in the file and will be taken in later.
        """
        if session is not None and not self.full_scan_is_due():
            async with self._lock:
                await self._open()
                return await self._look_at(self._list_hot(session))
        self._archive_wanted |= session is None
        if self._next_look is None:
            self._next_look = asyncio.create_task(self._look(), name="look at the memory files")
            self._looks.add(self._next_look)
            self._next_look.add_done_callback(self._looks.discard)
        return await asyncio.shield(self._next_look)

    async def scan(self) -> int:
        """Look at the files that no turn looks at, when it is time; how many facts that touched. Raises StoreError."""
        now, last = self._clock.monotonic(), self._scanned_archive
        return 0 if last is not None and now - last < _ARCHIVE_SECONDS else await self.sync_in()

    def recent_stamps(self, session: str) -> dict[str, FileStamp | None]:
        return {path: self._seen.get(path) for path in self._list_hot(session)}

    def mark_dirty(self, record_ids: Iterable[int]) -> None:
        """Remember that these records were written, so that their files are. Call after the commit."""
        self._again.update(record_ids)

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
            partial(scan.list_files, self._root, self._seen, archive=archive)
            if paths is None
            else partial(scan.stat_paths, self._root, paths)
        )
        found = await asyncio.to_thread(look)
        changed = {path for path, stamp in found.items() if self._seen.get(path) != stamp}
        noted = self._known | self._seen.keys() | self._problems.keys()
        missing = (noted if paths is None else noted.intersection(paths)) - found.keys()
        if not archive:
            missing = {path for path in missing if not path.startswith(ARCHIVE)}
        touched = 0
        self._there = found if paths is None and archive else None
        try:
            for path in sorted(changed | missing):
                if not await self._is_as_noted(path):
                    touched += await self._reconcile(path)
        finally:
            self._there = None
        return touched

    async def _is_as_noted(self, path: str) -> bool:
        """Tell whether a file that this process never saw holds what was noted of it: then nothing is to be done."""
        if path in self._seen or path not in self._known:
            return False
        found = await self._read_as_noted(path)
        if found is None or found.stamp is None:
            return False
        self._seen[path] = found.stamp
        return True

    async def _read_as_noted(self, path: str) -> ReadResult | None:
        """Read a file; None when it does not hold what was noted of it."""
        found = await disk.read(self._root, path)
        row = await self._database.read(partial(list_file_rows.list_file, path=path))
        return found if found.text is not None and row is not None and found.text == row[0] else None

    async def _open(self) -> None:
        if self._cursor is None:
            for path in await self._database.read(list_file_rows.list_file_paths):
                self._learn(path)
        await super()._open()
        self._again |= self._leaving()

    @property
    def has_scanned(self) -> bool:
        """Tell whether this process has looked at all files."""
        return self._cursor is not None and self._scanned is not None

    def full_scan_is_due(self) -> bool:
        """Tell whether it is time to look at more than the files that a turn shows."""
        last = self._scanned if self._cursor is not None else None
        return last is None or self._clock.monotonic() - last >= _FULL_SCAN_SECONDS

    def has_changes(self, session: str = "") -> bool:
        if not self.full_scan_is_due():
            return super().has_changes(session)
        now, under_way = self._clock.monotonic(), self._under_way
        if self._is_as_listed(under_way):
            self._scanned = now
            return False
        folders, before = scan.peek_at_folders(self._root), self._listed
        self._folders, self._listed = {}, {}
        found = scan.list_files(self._root, self._seen, archive=False)
        there = {path: stamp for path, stamp in found.items() if path not in under_way}
        noted = {*self._known, *self._seen, *self._problems}
        is_gone = any(not path.startswith(ARCHIVE) for path in noted - there.keys() - under_way)
        if is_gone or not there.items() <= self._seen.items():
            return True
        # Listed twice with the same stamps, seconds apart: nothing came within the tick of the clock that made one.
        self._folders, self._listed = folders if folders == before else {}, folders
        self._scanned = now
        return False

    def _is_as_listed(self, under_way: frozenset[str]) -> bool:
        """Tell, without listing a folder, whether all of them and the files in them are as they were listed last."""
        if not self._folders or disk.any_changed(str(self._root), self._folders):
            return False
        noted = {*self._known, *self._seen, *self._problems} - under_way
        seen = {path: self._seen.get(path) for path in noted if not path.startswith(ARCHIVE)}
        return not disk.any_changed(str(self._root), seen)

    def _list_hot(self, session: str) -> Sequence[str]:
        """List the files that people and this chat are likeliest to change: as many however large memory is."""
        return _hot_paths(self._today(), session)

    def _find_dirty(self, connection: Connection, again: set[FileKey]) -> tuple[int, list[FileKey]]:
        event, cursor = events.last_record_event(connection), self._cursor or 0
        if event == cursor and not again:
            return event, []
        marked = {key for key in again if isinstance(key, int)}
        touched = events.record_ids_touched_since(connection, cursor)
        self._touched = TouchedRecords(cursor, {*touched, *marked})
        records = store.by_ids(connection, [*touched, *(marked - set(touched))], ALL_SCOPES)
        # What has ended or says something else goes from wherever it was shown, such as the log of what sleep promoted.
        other = (set(touched) - records.keys()).union(events.list_reworded_since(connection, cursor))
        other -= {number for number, record in records.items() if has_own_file(record)}
        paths: set[str] = set(list_file_rows.list_files_with(connection, other))
        left = tiers.former_tiers(connection, cursor)
        for record in records.values():
            if record.changed_event > cursor or record.id in marked:
                paths.update(paths_of(record, left.get(record.id, ())))
        # No record tells that it stands in a topic's file.
        paths.update(list_file_rows.list_files_with(connection, records, sorted(self._topics)))
        paths.update(key for key in again if isinstance(key, str))
        ours = {path for path in paths if role_of(path) is not None}
        # A log leaves the hot tree when the archive has it: so that comes along, and first.
        ours |= {ARCHIVE + path for path in ours if not path.startswith(ARCHIVE) and self._is_old_log(path)}
        return event, [*sorted(ours, key=lambda p: (not p.startswith(ARCHIVE), p))]

    async def _write(self, keys: Sequence[FileKey]) -> int:
        return sum([0 if await self._append(str(path)) else await self._reconcile(str(path)) for path in keys])

    async def _append(self, path: str) -> bool:
        """Append what is new to a day's log that is as it was noted; False when it has to be compared as a whole."""
        role, stamp = self._role(path), self._seen.get(path, UNKNOWN)
        if path not in self._laid_out or role.is_expired or stamp == UNKNOWN or path in self._problems:
            return False
        with self._writing([path]):
            del self._seen[path]  # until it is noted, what stands there may be ours
            plan, done = await self._database.read(partial(self._plan_append, path=path, role=role, stamp=stamp))
            if isinstance(done, OSError):
                self._again.add(path)
                self._report_unwritten(path, done)
                return True
            if plan is None:
                self._seen[path] = stamp
            if plan is None or done is None:
                return False
            if plan.text:
                self._notes.append(
                    partial(list_file_rows.extend_list_file, path=path, text=plan.text, blocks=plan.blocks)
                )
            self._seen[path] = done
        return True

    def _plan_append(
        self, connection: Connection, path: str, role: FileRole, stamp: FileStamp
    ) -> tuple[LogAppend | None, FileStamp | OSError | None]:
        """Plan what to append to a log, and append it in the same thread; the file's stamp, None if it was changed."""
        plan = plan_append(ListFile(connection, path, role, self._zone), self._touched)
        if plan is None or not plan.text:
            return plan, stamp
        return plan, disk.write(self._root, [PendingFile(path, plan.text, stamp, appends=True)])[path]

    def _learn(self, path: str) -> None:
        """Remember that a list file is there."""
        place = role_of(path)
        if place is not None and path not in self._known:
            self._known.add(path)
            if place.kind == "topic":
                self._topics.add(path)

    def _unlearn(self, path: str) -> None:
        """Forget a list file that is there no more."""
        self._known.discard(path)
        self._topics.discard(path)
        self._laid_out.discard(path)
        self._seen.pop(path, None)

    def _leaving(self) -> set[str]:
        """List the logs whose days have come to be over, with where they are kept from now on."""
        today = self._today()
        if today == self._aged:
            return set()
        self._aged = today
        over = [path for path in self._known if not path.startswith(ARCHIVE) and self._role(path).is_expired]
        return {path for log_ in over for path in (log_, ARCHIVE + log_)}

    def _is_old_log(self, path: str) -> bool:
        role = self._role(path)
        return role.kind == "daily" and role.is_expired

    def _role(self, path: str) -> FileRole:
        """Say what the list file at `path` holds today."""
        place = role_of(path)
        assert place is not None
        if not (place.archived or place.kind in ("daily", "topic")):
            return place
        sleep = self._policy.sleep
        last = date.fromisoformat(self._today()) - timedelta(days=sleep.daily_days)
        over = place.kind != "slot" and (place.detail <= last.isoformat() or is_legacy(path))
        return dataclasses.replace(place, is_expired=over, keeps_archive=sleep.expired == "archive")

    # ── one file ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _compare(self, path: str, found: ReadResult) -> FileView[Blocks] | None:
        if path in self._known and found.stamp is not None and found.text is not None and not found.text.strip():
            is_lost = await self._is_lost(path, found.stamp)
            if is_lost is None:
                return None
            found = ReadResult() if is_lost else found
        else:
            self._emptied.pop(path, None)
        return await super()._compare(path, found)

    async def _is_lost(self, path: str, stamp: FileStamp) -> bool | None:
        """Tell whether an emptied file held so much that it was lost, not emptied; None: too early to say.

        An editor that saves may empty a file first and write it then.
        """
        lost = await self._query_held(path)
        if not lost:
            return False
        now = self._clock.monotonic()
        seen, since = self._emptied.get(path, (None, now))
        if seen != stamp or now - since < _SAVING_SECONDS:
            self._emptied[path] = (stamp, since if seen == stamp else now)
            return None
        del self._emptied[path]
        from kenobot.cognitive.control import missing_files

        at = self._clock.now()
        await self._database.write(lambda connection: missing_files.record_loss(connection, at, path, lost))
        log.warning("%s is empty at once: that looks like a loss, so it is written again.", path)
        return True

    async def _query_held(self, path: str) -> tuple[int, ...]:
        """Query the records of a file whose emptying may be a loss; none where it held few."""
        held = await self._database.read(lambda c: ListFile(c, path, self._role(path), self._zone).last_records())
        return held if len(held) >= self._policy.files.announce_from else ()

    def _view(self, connection: Connection, path: str, found: ReadResult) -> FileView[Blocks]:
        is_watched = path in self._known and self._seen.get(path, UNKNOWN) != UNKNOWN
        return ListFile(connection, path, self._role(path), self._zone).view(found.text, is_watched=is_watched)

    async def _reconcile(self, path: str) -> int:
        """Bring one file and memory to agree, and every file that was edited in the same save. The lock is held."""
        touched = await super()._reconcile(path)
        while self._unsettled:
            touched += await super()._reconcile(self._unsettled.pop())
        return touched

    async def _take(self, path: str, found: ReadResult) -> tuple[int, FileView[Blocks]]:
        """Take in all files that were edited in the same save, before any of them is written."""
        save = await self._read_save(path, found.text or "")
        changes = sum(lines.change_count for _, lines in save)
        largest = max(save, key=lambda file: file[1].change_count)[1].path
        async with self.intake.announce(largest, changes, self._policy.files.large_from):
            touched = await self._take_save(path, save)
        return touched, await self._database.read(partial(self._view, path=path, found=found))

    async def _take_save(self, path: str, save: Sequence[tuple[str, FileLines]]) -> int:
        """Take in a save as one; just the file at `path` when another of them cannot be taken in."""
        edits = await self._database.read_long(partial(self._pair, files=[lines for _, lines in save]))
        follow = partial(self._follow, save=save, edits=edits)
        try:
            touched = await self._database.write_in_steps(follow, self._policy.files.intake_batch)
        except StoreError:
            raise
        except Exception:
            if len(save) == 1:
                raise
            log.exception("%s", ", ".join(lines.path for _, lines in save))  # the one is left alone when its turn comes
            return await self._take_save(path, [file for file in save if file[1].path == path])
        for _, lines in save:
            self._learn(lines.path)
            if lines.path != path:
                self._unsettled.append(lines.path)
        return touched

    async def _read_save(self, path: str, text: str) -> list[tuple[str, FileLines]]:
        """Read all files of a scope that were edited: the text of each, and its lines."""
        scope = self._role(path).scope
        there = self._there
        if there is None:
            there = await asyncio.to_thread(partial(scan.list_files, self._root, self._seen, archive=True))
        differing = [other for other, stamp in there.items() if other != path and self._seen.get(other) != stamp]
        edited = {path: (text, await self._database.read(partial(self._read_lines, path=path, text=text)))}
        for other in differing:
            if self._role(other).scope == scope and (lines := await self._read_edited(other)) is not None:
                edited[other] = lines
        # MEMORY.md comes first: what was put there belongs there.
        return [edited[other] for other in sorted(edited, key=lambda other: (not other.endswith("MEMORY.md"), other))]

    def _pair(self, connection: Connection, files: Sequence[FileLines]) -> list[LineEdits]:
        """Tell what became of the lines of the files of a save."""
        return pair_lines(files, self._policy.files.alike_from, find_copies(connection, files))

    async def _read_edited(self, path: str) -> tuple[str, FileLines] | None:
        """Read a file that a person edited, and its lines; None for any other, and for one that cannot be read now."""
        try:
            if await self._is_as_noted(path):
                return None
            found = await disk.read(self._root, path)
            if found.text is None or (not found.text.strip() and await self._query_held(path)):
                return None  # it may be lost
            view = await self._database.read(partial(self._view, path=path, found=found))
            lines = await self._database.read(partial(self._read_lines, path=path, text=found.text))
        except StoreError:
            raise
        except Exception as error:  # it is reported when its turn comes
            log.debug("%s is not compared with other files: %s", path, error)
            return None
        return (found.text, lines) if view.edited else None

    def _read_lines(self, connection: Connection, path: str, text: str) -> FileLines:
        return ListFile(connection, path, self._role(path), self._zone).lines(text)

    def _follow(
        self, connection: Connection, save: Sequence[tuple[str, FileLines]], edits: Sequence[LineEdits]
    ) -> Generator[None, None, int]:
        """Let memory follow all edits of a save; how many facts they touched.

        All files are noted in the last transaction: of a line that went from one to another both stay to be seen.
        """
        from kenobot.cognitive.mirror.lists.list_edits import ListFileEdit

        spared: set[int] = set()
        followed = []
        for (text, lines), edits_of in zip(save, edits, strict=True):
            place = self._role(lines.path)
            day = (place.detail if place.kind in ("daily", "topic") else "") or self._today()
            session = place.scope.removeprefix("chat:") if place.scope.startswith("chat:") else ""
            context = dataclasses.replace(self._edit_context(), day=day, session=session)
            edit = ListFileEdit(connection, lines.path, place, self._zone, context, edits_of, spared)
            followed.append((edit, (yield from edit.follow(text, lines))))
        for edit, blocks in followed:
            edit.note(blocks)
        return sum(edit.touched for edit, _ in followed)

    async def _note(self, path: str, view: FileView[Blocks], stamp: FileStamp | None) -> None:
        if stamp is None:
            if path in self._known:
                await self._database.write(partial(list_file_rows.delete_list_file, path=path))
            self._unlearn(path)
            return
        if not view.is_noted:
            blocks = list_layout.encode_blocks(view.detail)
            await self._database.write(partial(list_file_rows.save_list_file, path=path, text=view.text, blocks=blocks))
        self._learn(path)
        self._seen[path] = stamp
        place = self._role(path)
        if place.kind == "daily" and not place.archived:
            self._laid_out.add(path)
        if place.kind == "topic" and place.is_expired:
            await self._put_away(path)

    async def _put_away(self, path: str) -> None:
        """Take a topic file that memory has taken in, and whose day is over, out of the hot tree. Raises OSError.

        It stays in the archive as its owner wrote it, under a name of its own; where expired files are deleted, it
        goes.
        """
        found = await self._read_as_noted(path)
        if found is None or found.text is None:
            return  # edited meanwhile: the next look takes that in
        if self._policy.sleep.expired == "archive" and not await self._keep_text(ARCHIVE + path, found.text):
            self._report(path, f"{path} cannot be put into the archive: there are too many of that name.")
            return
        if await asyncio.to_thread(disk.remove, self._root, path, found.stamp):
            await self._database.write(partial(list_file_rows.delete_list_file, path=path))
            self._unlearn(path)

    async def _keep_text(self, path: str, text: str) -> bool:
        """Put a text where nobody's file stands, at `path` or beside it, unless it is there. Raises OSError."""
        stem = path.removesuffix(".md")
        for name in (path, *(f"{stem}-{copy}.md" for copy in range(2, _COPIES))):
            there = await disk.read(self._root, name)
            if there.text == text:
                return True
            if there.stamp is None and await disk.replace(self._root, name, text, None) is not None:
                return True
        return False


@lru_cache(maxsize=256)
def _hot_paths(day: str, session: str) -> tuple[str, ...]:
    today = date.fromisoformat(day)
    logs = [f"{(today - timedelta(days=ago)).isoformat()}.md" for ago in range(_HOT_DAYS)]
    of_chat = [f"chats/{session}/{name}" for name in ("MEMORY.md", "context.md", *logs)]
    return ("MEMORY.md", "identity/preferences.md", f"working/{session}.md", *logs, *of_chat)
