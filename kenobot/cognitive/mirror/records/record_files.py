"""Keep the record files, one Markdown file a record, and the database in step.

Little of it is held in memory: what was written or read stands in a table, by folder. A turn looks at the folders of
the last days only; the others are looked at in rounds, so many files a step.

A record file carries its own checksum, so a file that nobody edited is known as ours whatever a crash kept from being
noted. A deleted one is forgotten; many missing at once are a loss, and are written again.
"""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import date, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import scan
from kenobot.cognitive.mirror.file_sync import DirtyFiles, FileKey, FileSync, FileView
from kenobot.cognitive.mirror.paths import location_of, scope_folder
from kenobot.cognitive.mirror.records import record_file_rows, record_plans
from kenobot.cognitive.mirror.records.record_file_rows import EditOutcome, RecordFileRow
from kenobot.cognitive.mirror.records.record_plans import RecordFilePlan
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.core import pacing
from kenobot.language.markdown import record_format
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import FileStamp, PendingFile, ReadResult

_FOLDERS_AT_ONCE = 16
_READ_AT_ONCE = 64  # files
_MOST_LEFT_ALONE = 200  # files; the oldest is looked at again
_MOST_RECENT_FOLDERS = 64


@dataclass(frozen=True, slots=True)
class _FolderLook:
    """A folder beside what is noted of it. known: noted files. changed, missing: names of those that are not as noted.

    stamp, files: of the folder itself, and of its files, None where there is no such folder.
    """

    stamp: FileStamp | None
    files: Mapping[str, FileStamp] | None
    known: int
    changed: Mapping[str, FileStamp]
    missing: Sequence[str]


@dataclass(slots=True)
class _Look:
    """Changes of some folders since they were noted. missing: noted files that are not there, of `known` in all.

    lost_folder: one that had files is not there itself.
    """

    changed: list[str] = field(default_factory=list)  # bounded: the files of 16 folders; turn
    missing: list[str] = field(default_factory=list)  # bounded: the files that were deleted since the last look; turn
    known: int = 0
    lost_folder: bool = False


_Outcomes = Mapping[str, FileStamp | OSError | None]


class _Planned(NamedTuple):
    """The files of some records as they are to be. before: stamps of their folders. done: what came of writing them.

    removals: files to be removed if they have this stamp, None: in any case. done None: nothing was written yet.
    """

    plans: Sequence[RecordFilePlan]
    removals: Sequence[tuple[RecordFileRow, FileStamp | None]]
    before: Mapping[str, FileStamp | None]
    done: _Outcomes | None


class RecordFiles(FileSync[EditOutcome]):
    """The record files below `root`.

    Call `start` once, `sync_in` before each turn, `sync_out` after it, `scan` now and then.
    """

    cursor_key = "cards:event"

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        super().__init__(root, database, clock, zone, policy)
        self._limits = policy.files
        self.batch = policy.files.batch
        # bounded: 64 folders, of each 100 files; test_what_is_known_of_cards_is_bounded
        self._recent: OrderedDict[str, tuple[FileStamp | None, dict[str, FileStamp]]] = OrderedDict()
        self._look_count = 0
        self._is_complete = False  # whether this process has looked for records without a file
        # bounded: 64 folders; test_what_is_known_of_cards_is_bounded
        self._last_look: dict[str, int] = {}  # by folder, which of all looks was its last
        self._round: list[str] = []  # bounded: the folders of cards there are; test_what_is_known_of_cards_is_bounded
        self._round_look = _Look()

    async def start(self) -> int:
        """Take in what people did while nobody looked; how many facts that touched.

        Of a very large memory only the files of the last days: the others have their turn in the rounds.
        """
        folders = await self._list_folders()
        await asyncio.to_thread(disk.remove_leftovers, self._root, folders)
        few = await self._database.read(record_file_rows.count_files) <= self._limits.scan_step_files
        return await self.sync_in() if few else await self.sync_in("")

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def sync_in(self, session: str | None = None) -> int:
        """Take in what people did to the files; how many facts they touched. Raises StoreError.

        session: look only at the owner's and this chat's of the last days; "" at the owner's; without it, at all. Of
        callers who wait for a look at the same folders, one looks.
        """
        asked_after = self._look_count
        async with self._lock:
            look = _Look()
            recent = self._recent_paths(session) if session is not None else None
            folders = await self._list_folders() if recent is None else recent
            folders = [each for each in folders if self._last_look.get(each, 0) <= asked_after]
            number = self._look_count = self._look_count + 1
            await self._look(folders, look)
            touched = await self._take_edits(look) + await self._take_missing(look)
            self._last_look |= {each: number for each in folders if each in self._recent}
            return touched

    def recent_stamps(self, session: str) -> dict[str, FileStamp | None]:
        stamps: dict[str, FileStamp | None] = {}
        for folder in self._recent_paths(session):
            stamp, files = self._recent.get(folder, (None, {}))
            stamps |= {folder: stamp, **{f"{folder}/{name}": each for name, each in files.items()}}
        return stamps

    async def scan(self) -> int:
        """Take one step of the slow round over all files, from where the last step ended; how many facts it touched."""
        async with self._lock:
            if not self._round:
                self._round = await self._list_folders()
                self._round_look = _Look()
            look, touched, seen = self._round_look, 0, 0
            while self._round and seen < self._limits.scan_step_files:
                folders, self._round = self._round[:_FOLDERS_AT_ONCE], self._round[_FOLDERS_AT_ONCE:]
                known = look.known
                await self._look(folders, look)
                seen += max(len(folders), look.known - known)
                touched += await self._take_edits(look)
            if not self._round:
                touched += await self._take_missing(look)
            return touched

    async def _list_folders(self) -> list[str]:
        there = await asyncio.to_thread(scan.record_folders, self._root)
        return sorted({*there, *await self._database.read(record_file_rows.list_folders)})

    def _recent_paths(self, session: str) -> Sequence[str]:
        return _recent_folders(self._today(), self._limits.hot_days, session)

    def _recent_among(self, folders: Sequence[str]) -> set[str]:
        """Select the folders that some chat's turn looks at."""
        oldest = (date.fromisoformat(self._today()) - timedelta(days=self._limits.hot_days - 1)).isoformat()
        late = ((folder, location_of(folder)) for folder in folders if folder.rpartition("/")[2] >= oldest)
        return {folder for folder, spot in late if spot is not None and spot.area == "facts" and not spot.archived}

    def _remember_folder(self, folder: str, stamp: FileStamp | None, files: Mapping[str, FileStamp]) -> None:
        """Keep what a turn compares of a folder: its own stamp, from before the look, and those of its newest files."""
        newest = sorted(files.items(), key=lambda item: item[1])[-self._limits.hot_files :]
        self._recent[folder] = (stamp, dict(newest))
        self._recent.move_to_end(folder)
        while len(self._recent) > _MOST_RECENT_FOLDERS:
            oldest, _ = self._recent.popitem(last=False)
            self._last_look.pop(oldest, None)

    async def _look(self, folders: Sequence[str], look: _Look) -> None:
        """Compare folders with what is noted of them, and add to `look` what changed. The lock is held."""
        await self._store_notes()
        for start in range(0, len(folders), _FOLDERS_AT_ONCE):
            some = folders[start : start + _FOLDERS_AT_ONCE]
            # By a reader of the database: of background work it rests between two folders while turns are under way.
            found = await self._database.read(partial(_look_at_folders, root=self._root, folders=some))
            recent = self._recent_among(some)
            for folder, each in found.items():
                if folder in recent:
                    self._remember_folder(folder, each.stamp, each.files or {})
                look.known += each.known
                look.lost_folder |= each.files is None and bool(each.known)
                look.missing += [f"{folder}/{name}" for name in each.missing]
                changed = ((f"{folder}/{name}", stamp) for name, stamp in each.changed.items())
                look.changed += [path for path, stamp in changed if self._seen.get(path) != stamp]

    async def _take_edits(self, look: _Look) -> int:
        changed, look.changed = look.changed, []
        if len(changed) > 1:
            changed = await self._skip_moved(changed)
        folder = changed[0].rpartition("/")[0] if changed else ""
        async with self.intake.announce(folder, len(changed), self._limits.large_from):
            return sum([await self._reconcile(path) for path in changed])

    async def _skip_moved(self, changed: Sequence[str]) -> list[str]:
        """Note anew the files of which only the stamps have changed, as in a home that was copied; the other paths."""
        left: list[str] = []
        for start in range(0, len(changed), _READ_AT_ONCE):
            some = changed[start : start + _READ_AT_ONCE]
            same = await self._database.read(partial(_same_texts, root=self._root, paths=some))
            if same:
                await self._database.write_soon(partial(record_file_rows.save_stamps, rows=same))
            known = {row.path for row in same}
            for path in known:
                self._problems.pop(path, None)
                self._seen.pop(path, None)
            left += [path for path in some if path not in known]
        return left

    async def _take_missing(self, look: _Look) -> int:
        """Forget what was deleted; what is lost, is no fact's file, or was forgotten before is written again."""
        gone = await asyncio.to_thread(
            lambda: [path for path in look.missing if not os.path.lexists(self._root / path)]
        )
        if not gone:
            return 0
        from kenobot.cognitive.control import missing_files
        from kenobot.cognitive.mirror.records import record_edits

        unexpected = await self._database.read(partial(record_edits.unexpectedly_missing, paths=gone))
        limit = max(self._limits.loss_above_files, look.known * self._limits.loss_above_share)
        is_loss = look.lost_folder or len(unexpected) > limit
        at = self._clock.now()
        if is_loss and unexpected:
            first = min(unexpected)
            self._report(
                first.rpartition("/")[0],
                f"{len(unexpected)} memory files are gone at once, such as {first}: that looks like a loss, so "
                "they are written again. To forget something, say so in chat or delete its file alone.",
            )
            await self._database.write(partial(record_edits.record_loss, paths=unexpected, at=at))
        events: list[int] = []
        size = self.batch if is_loss else 1  # to forget takes longer, and others have to write meanwhile
        for start in range(0, len(gone), size):
            some = gone[start : start + size]
            kept = frozenset(some) if is_loss else frozenset(some) - unexpected
            context = replace(self._edit_context(), part_of=events[0] if events else None)
            forgotten, records = await self._database.write(
                partial(record_edits.absorb_deletions, paths=some, kept=kept, context=context)
            )
            events += forgotten
            self._again |= records
        if len(events) >= self._limits.announce_from:
            where, _, _ = gone[0].rpartition("/")
            await self._database.write(
                lambda connection: missing_files.record_mass_forget(connection, at, where, len(events), events[0])
            )
        return len(events)

    # ── one file that is not as it was seen ──────────────────────────────────────────────────────────────────────

    async def _compare(self, path: str, found: ReadResult) -> FileView[EditOutcome]:
        return FileView("", EditOutcome(0, None), edited=found.text is not None)

    def _absorb(self, connection: Connection, path: str, found: ReadResult) -> tuple[int, FileView[EditOutcome]]:
        from kenobot.cognitive.mirror.records import record_edits

        assert found.text is not None and found.stamp is not None
        file = record_format.parse(found.text)
        digest = record_format.file_checksum(found.text) if file.is_unedited else ""
        folder, _, name = path.rpartition("/")
        seen = RecordFileRow(folder, name, "card", None, digest, file.extra_lines, file.line_ending, found.stamp)
        outcome = record_edits.absorb_edit(connection, self._root, seen, file, self._edit_context())
        return outcome.touched, FileView("", outcome)

    async def _settle(self, path: str, found: ReadResult, view: FileView[EditOutcome]) -> bool:
        outcome = view.detail
        self._again.update(outcome.rewrite)
        self._seen.pop(path, None)
        if outcome.leftover is not None:
            await self._remove(outcome.leftover.path, outcome.leftover.stamp)
        if outcome.problem:
            self._report(path, f"{path}: {outcome.problem}.")
        else:
            self._problems.pop(path, None)
        return True

    async def _remove(self, path: str, expected: FileStamp | None) -> None:
        await asyncio.to_thread(partial(disk.remove, self._root, path, expected, prune=True))

    def _leave_alone(self, path: str, stamp: FileStamp | None, problem: str) -> None:
        while len(self._seen) >= _MOST_LEFT_ALONE:
            del self._seen[next(iter(self._seen))]
        super()._leave_alone(path, stamp, problem)

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _find_dirty(self, connection: Connection, again: set[FileKey]) -> tuple[int, list[FileKey]]:
        numbers = {key for key in again if isinstance(key, int)}
        event, dirty = record_plans.dirty_records(
            connection, self._cursor or 0, numbers, complete=not self._is_complete
        )
        return event, [*dirty]

    async def sync_out(self, dirty: DirtyFiles | None = None) -> int:
        touched = await super().sync_out(dirty)
        self._is_complete = True
        return touched

    async def _write(self, keys: Sequence[FileKey]) -> int:
        """Write the files of some records and note them; how many edits were found instead. The lock is held."""
        numbers = [key for key in keys if isinstance(key, int)]
        under_way = self._under_way
        try:
            plans, removals, before, done = await self._database.read(partial(self._plan_and_write, numbers=numbers))
            if done is not None:
                return await self._note_outcomes(plans, before, done)
        finally:
            self._under_way = under_way
        for row, expected in removals:
            await self._remove(row.path, expected)
            await self._database.write(partial(record_file_rows.drop_row, path=row.path))
        plans, touched = await self._select_unmoved(plans)
        before = self._peek_at_folders(plans)
        look = _Look()
        # A lost folder, once it is made again, would look like one whose files were deleted by hand.
        await self._look([folder for folder, stamp in before.items() if stamp is None], look)
        if look.missing:
            return touched + await self._take_missing(look) + await self._write(keys)
        with self._writing([*before, *(plan.row.path for plan in plans)]):
            return touched + await self._write_files(plans, before)

    def _plan_and_write(self, connection: Connection, numbers: Sequence[int]) -> _Planned:
        """Plan the files of some records, and where each is to stand as it stood, or anew, write them in this thread.

        They are under way then until the caller has noted them.
        """
        plans, removals = record_plans.plan_writes(connection, numbers, self._zone, self._limits)
        before, done = self._peek_at_folders(plans), None
        if not removals and all(before.values()) and all(plan.moved_from is None for plan in plans):
            self._under_way |= {*before, *(plan.row.path for plan in plans)}
            done = self._put_files(plans)
        return _Planned(plans, removals, before, done)

    def _peek_at_folders(self, plans: Sequence[RecordFilePlan]) -> dict[str, FileStamp | None]:
        return {folder: disk.peek(f"{self._root}/{folder}") for folder in sorted({plan.row.folder for plan in plans})}

    def _put_files(self, plans: Sequence[RecordFilePlan]) -> _Outcomes:
        pending = [PendingFile(plan.row.path, plan.text, plan.expected) for plan in plans]
        return disk.write(self._root, pending) if pending else {}

    async def _write_files(self, plans: Sequence[RecordFilePlan], before: Mapping[str, FileStamp | None]) -> int:
        """Write the files of `plans` and note them; how many edits were found instead. before: stamps of folders."""
        return await self._note_outcomes(plans, before, await asyncio.to_thread(self._put_files, plans))

    async def _note_outcomes(
        self, plans: Sequence[RecordFilePlan], before: Mapping[str, FileStamp | None], done: _Outcomes
    ) -> int:
        """Note the files that were written; how many edits were found instead."""
        touched = 0
        written: list[tuple[RecordFilePlan, RecordFileRow]] = []
        for plan in plans:
            outcome = done[plan.row.path]
            if isinstance(outcome, FileStamp):
                written.append((plan, replace(plan.row, stamp=outcome)))
                self._problems.pop(plan.row.path, None)
            elif isinstance(outcome, OSError):
                self._again.add(plan.record)
                self._report_unwritten(plan.row.path, outcome)
            elif disk.stamp_of(f"{self._root}/{plan.row.path}") is None:  # ours is gone: take that in first
                look = _Look()
                await self._look([plan.row.folder], look)
                touched += await self._take_missing(look)
            else:
                touched += await self._take_first(plan, plan.row.path)
        if written:
            rows = [(row, plan.previous_row) for plan, row in written]
            self._notes.append(partial(record_file_rows.save_rows, rows=rows))
        if any(plan.moved_from is not None for plan, _ in written):  # noted first: what is gone would be forgotten
            await self._store_notes()
        for plan, _ in written:
            if plan.moved_from is not None:
                await self._remove(plan.moved_from.path, plan.moved_from.stamp)
        for folder, was in before.items():
            files = {row.name: row.stamp for _, row in written if row.folder == folder}
            stamp, seen = self._recent.get(folder, (None, {}))
            if folder in self._recent and stamp == was:  # then what we wrote is all that is new in it
                self._remember_folder(folder, disk.peek(f"{self._root}/{folder}"), {**seen, **files})
        return touched

    async def _select_unmoved(self, plans: Sequence[RecordFilePlan]) -> tuple[list[RecordFilePlan], int]:
        """Select the plans whose earlier file is as it was left; and count the edits found in the others."""
        kept: list[RecordFilePlan] = []
        touched = 0
        for plan in plans:
            moved = plan.moved_from
            if moved is None or disk.stamp_of(f"{self._root}/{moved.path}") in (None, moved.stamp):
                kept.append(plan)
            else:
                touched += await self._take_first(plan, moved.path)
        return kept, touched

    async def _take_first(self, plan: RecordFilePlan, path: str) -> int:
        """Take a file in, then let the next call write; one that is left alone is not waited for."""
        if self._seen.get(path) == disk.stamp_of(f"{self._root}/{path}"):
            return 0
        touched = await self._reconcile(path)
        if path not in self._seen:
            self._again.add(plan.record)
        return touched


def _look_at_folders(connection: Connection, root: Path, folders: Sequence[str]) -> dict[str, _FolderLook]:
    """Stat folders and their files, all before what is noted of them is read."""
    there: dict[str, tuple[FileStamp | None, dict[str, FileStamp] | None]] = {}
    for folder in folders:
        pacing.step()
        there[folder] = scan.folder_and_files(root, folder)
    looks: dict[str, _FolderLook] = {}
    for folder, (stamp, found) in there.items():
        noted, files = record_file_rows.read_stamps(connection, folder), found or {}
        changed: dict[str, FileStamp] = {}
        missing: list[str] = []
        if files != noted:
            changed = {name: each for name, each in files.items() if noted.get(name) != each}
            missing = [name for name in noted if name not in files]
        looks[folder] = _FolderLook(stamp, found, len(noted), changed, missing)
    return looks


def _same_texts(connection: Connection, root: Path, paths: Sequence[str]) -> list[RecordFileRow]:
    """Select the files that stand as they were noted, each with the stamp that it has now."""
    same: list[RecordFileRow] = []
    for row in record_file_rows.rows_of_records_at(connection, paths):
        pacing.step()
        found = disk.read_still(root, row.path)
        if found is not None and record_format.is_written_as(found[1], row.digest, row.line_ending):
            same.append(replace(row, stamp=found[0]))
    return same


@lru_cache(maxsize=256)
def _recent_folders(day: str, days: int, session: str) -> tuple[str, ...]:
    today = date.fromisoformat(day)
    recent = [(today - timedelta(days=ago)).isoformat() for ago in range(days)]
    scopes = (OWNER_SCOPE, chat_scope(session)) if session else (OWNER_SCOPE,)
    return tuple(f"{scope_folder(scope)}facts/{each}" for scope in scopes for each in recent)
