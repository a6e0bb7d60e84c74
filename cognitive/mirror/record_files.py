"""Keeps the cards and the database in step: one file a record, looked at by folder, written by what changed.

Little of it is held in memory: what was written or read stands in a table, by folder. A turn looks at the folders of
the last days only; the others are looked at in rounds, so many files a step.

A card carries its own checksum, so a file that nobody edited is known as ours whatever a crash kept from being noted. A
deleted card is forgotten; many missing at once are a loss, and are written again.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.control import missing_files
from kenobot.cognitive.mirror import (
    card_rows,
    recent_folders,
    record_edits,
    record_paths,
    record_plans,
)
from kenobot.cognitive.mirror import (
    missing as lost,
)
from kenobot.cognitive.mirror import record_format as card_text
from kenobot.cognitive.mirror.card_rows import RecordFileRow
from kenobot.cognitive.mirror.front_matter import FrontMatterError
from kenobot.cognitive.mirror.record_plans import RecordFilePlan
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.text.calendar import local_day
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import FileStamp, PendingFile
from kenobot.storage.state import read_state, write_state

log = logging.getLogger(__name__)

CURSOR = "cards:event"  # state key: the last event whose records all stand in their cards
_FOLDERS = 16  # looked at in one go
_PROBLEMS = 200  # kept to be shown; the log has them all


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found of some folders. missing: known files that are not there, of so many known.

    gone: a folder that had known files is not there itself.
    """

    changed: tuple[tuple[str, str], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    known: int = 0
    gone: bool = False

    def __add__(self, other: "_Look") -> "_Look":
        return _Look(
            self.changed + other.changed,
            self.missing + other.missing,
            self.known + other.known,
            self.gone or other.gone,
        )


class RecordFiles:
    """The cards below `root`.

    Call `start` once, `sync_in` before each turn, `sync_out` after it, `scan` now and then.
    """

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        self._root = root.resolve()
        self._database = database
        self._clock = clock
        self._zone = zone
        self._policy = policy
        self._disk = policy.files
        self._lock = asyncio.Lock()
        self._flushing = asyncio.Lock()
        self._hot = recent_folders.RecentFolders(self._root, self._disk.hot_files)
        self._cursor: int | None = None
        self._again: set[int] = set()
        self._problems: dict[str, str] = {}
        self._left: dict[str, FileStamp] = {}
        self._round: list[str] = []
        self._round_look = _Look()

    @property
    def problems(self) -> tuple[str, ...]:
        """Files that are left alone or were written again, each with the reason: one plain sentence a file."""
        return tuple(self._problems[path] for path in sorted(self._problems))

    @property
    def has_pending_writes(self) -> bool:
        """Whether a card is still to be written, such as one for which there was no space."""
        return bool(self._again)

    async def start(self) -> int:
        """Take in what people did while nobody looked; how many facts that touched.

        Of a very large memory only the cards of the last days: the others have their turn in the rounds.
        """
        folders = await self._folders()
        await asyncio.to_thread(disk.remove_leftovers, self._root, folders)
        few = await self._database.read(card_rows.count_files) <= self._disk.scan_step_files
        return await self.sync_in() if few else await self.sync_in("")

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def sync_in(self, session: str | None = None) -> int:
        """Take in what people did to the cards; how many facts they touched. Raises StoreError.

        session: look only at the owner's and this chat's of the last days; "" at the owner's; without it, at all.
        """
        async with self._lock:
            look = await self._look(self._hot_folders(session) if session is not None else await self._folders())
            return await self._edited(look) + await self._gone(look)

    def has_changes(self, session: str) -> Callable[[], bool]:
        """Something cheap to call in another thread: whether `take_in(session)` may find a change."""
        return partial(recent_folders.any_changed, self._root, self._hot.snapshot(self._hot_folders(session)))

    async def scan(self) -> int:
        """One step of the slow round over all cards, going on where the last step ended; how many facts it touched."""
        async with self._lock:
            if not self._round:
                self._round = await self._folders()
                self._round_look = _Look()
            touched, seen = 0, 0
            while self._round and seen < self._disk.scan_step_files:
                next_ones, self._round = self._round[:_FOLDERS], self._round[_FOLDERS:]
                look = await self._look(next_ones)
                seen += max(len(next_ones), look.known)
                touched += await self._edited(look)
                self._round_look += replace(look, changed=())
            if not self._round:
                touched += await self._gone(self._round_look)
                self._round_look = _Look()
            return touched

    async def _folders(self) -> list[str]:
        there = await asyncio.to_thread(record_paths.find_folders, self._root)
        return sorted({*there, *await self._database.read(card_rows.known_folders)})

    def _hot_folders(self, session: str) -> list[str]:
        today = date.fromisoformat(local_day(self._clock.now(), self._zone))
        days = [(today - timedelta(days=ago)).isoformat() for ago in range(self._disk.hot_days)]
        return record_paths.recent_folders((OWNER_SCOPE, chat_scope(session)) if session else (OWNER_SCOPE,), days)

    def _is_hot(self, folder: str) -> bool:
        """Whether some chat's turn looks at this folder."""
        spot = record_paths.location_of(folder)
        oldest = date.fromisoformat(local_day(self._clock.now(), self._zone)) - timedelta(days=self._disk.hot_days - 1)
        return spot is not None and spot.area == "facts" and not spot.archived and spot.day >= oldest.isoformat()

    async def _look(self, folders: Sequence[str]) -> _Look:
        """Compare folders with what is known of them. The lock is held."""
        look = _Look()
        for start in range(0, len(folders), _FOLDERS):
            some = folders[start : start + _FOLDERS]
            found = await asyncio.to_thread(record_paths.scan_folders, self._root, some)
            known = await self._database.read(partial(card_rows.known_stamps, folders=some))
            for folder, (own, names) in found.items():
                if self._is_hot(folder):
                    self._hot.remember_folder(folder, own, names)
                look += self._compared(folder, names, known[folder])
        return look

    def _compared(self, folder: str, names: dict[str, FileStamp] | None, known: dict[str, FileStamp]) -> _Look:
        there = names or {}
        if there == known:
            return _Look(known=len(known))
        other = {name: mark for name, mark in there.items() if known.get(name) != mark}
        changed = tuple((folder, name) for name, mark in other.items() if not self._is_left(f"{folder}/{name}", mark))
        missing = tuple((folder, name) for name in known if name not in there)
        return _Look(changed, missing, len(known), names is None and bool(known))

    def _is_left(self, path: str, mark: FileStamp) -> bool:
        """Whether the file is one that is left alone, as it was when that was decided."""
        return self._left.get(path) == mark

    async def _edited(self, look: _Look) -> int:
        return sum([await self._one(folder, name) for folder, name in look.changed])

    async def _gone(self, look: _Look) -> int:
        """Forget what was deleted; what is lost, is no fact's card, or was forgotten before is written again."""
        gone = await asyncio.to_thread(self._absent, look.missing)
        missed = await self._database.read(partial(lost.unexpectedly_missing, gone=gone)) if gone else frozenset()
        held_back = look.gone or len(missed) > max(
            self._disk.loss_above_files, look.known * self._disk.loss_above_share
        )
        if held_back and missed:
            first = min(missed)
            self._report(
                first[0],
                f"{len(missed)} memory files are gone at once, such as {'/'.join(first)}: that looks like a loss, so "
                "they are written again. To forget something, say so in chat or delete its file alone.",
            )
            at = self._clock.now()
            await self._database.write(lambda connection: lost.record_loss(connection, missed, at))
        forgotten: list[int] = []
        size = self._disk.batch if held_back else 1  # to forget takes longer, and others have to write meanwhile
        for start in range(0, len(gone), size):
            some = gone[start : start + size]
            again = frozenset(some) if held_back else frozenset(some) - missed
            part_of = forgotten[0] if forgotten else None
            events, records = await self._database.write(partial(self._bury, some, again, part_of))
            forgotten += events
            self._again |= records
        if len(forgotten) >= self._disk.announce_from:
            at, where, count, event = self._clock.now(), gone[0][0], len(forgotten), forgotten[0]
            await self._database.write(
                lambda connection: missing_files.record_mass_forget(connection, at, where, count, event)
            )
        return len(forgotten)

    def _absent(self, files: Sequence[lost.FileKey]) -> list[lost.FileKey]:
        return [(folder, name) for folder, name in files if not os.path.lexists(self._root / folder / name)]

    def _bury(
        self, some: Sequence[lost.FileKey], again: frozenset[lost.FileKey], part_of: int | None, connection: Connection
    ) -> tuple[list[int], set[int]]:
        """Follow the deletion of files: the events that forgot their facts, and the records to be shown anew.

        again: what is written again, and nothing of it forgotten. part_of: the event of the first one that went.
        """
        events: list[int] = []
        records: set[int] = set()
        for folder, name in some:
            spot, row = record_paths.location_of(folder), card_rows.row_at(connection, folder, name)
            if spot is None or row is None:
                continue  # it has been taken in as moved
            card_rows.drop_row(connection, folder, name)
            if row.record is None:
                continue
            records.add(row.record)
            if (folder, name) in again or row.kind != "card" or spot.area != "facts":
                continue
            occasion = replace(record_edits.admit_context_of(spot, self._when()), part_of=part_of)
            event = record_edits.forget_deleted(connection, row.record, spot.scope, occasion)
            events += [event] if event else []
        return events, records

    def _when(self) -> record_edits.EditContext:
        now = self._clock.now()
        return record_edits.EditContext(now, local_day(now, self._zone), self._policy)

    # ── one file that is not as it was seen ──────────────────────────────────────────────────────────────────────

    async def _one(self, folder: str, name: str) -> int:
        """Look at one file. Raises StoreError; one that fails in any other way is reported, and costs only itself."""
        path = f"{folder}/{name}"
        found = await disk.read(self._root, path)
        if found.stamp is None:
            return 0
        if found.text is None:
            self._leave(path, found.stamp, found.problem)
            return 0
        try:
            card = card_text.parse(found.text)
            digest = card_text.file_checksum(found.text) if card.is_unedited else ""
            seen = RecordFileRow(folder, name, "card", None, digest, card.extra_lines, card.line_ending, found.stamp)
            taken = await self._database.write(
                partial(record_edits.absorb_edit, root=self._root, seen=seen, card=card, when=self._when())
            )
        except FrontMatterError as error:
            self._leave(path, found.stamp, f"{path} is left alone: {error}.")
            return 0
        except StoreError:
            raise
        except Exception:
            log.exception("%s", path)
            self._leave(path, found.stamp, f"{path} cannot be understood: it is left alone.")
            return 0
        self._again.update(taken.rewrite)
        self._left.pop(path, None)
        if taken.is_stale_copy:
            await asyncio.to_thread(partial(disk.remove, self._root, path, found.stamp, prune=True))
        if taken.replaced_row is not None:
            left = taken.replaced_row
            await asyncio.to_thread(partial(disk.remove, self._root, left.path, left.stamp, prune=True))
        if taken.problem:
            self._report(path, f"{path}: {taken.problem}.")
        else:
            self._problems.pop(path, None)
        return taken.touched

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def sync_out(self) -> int:
        """Write the card of every record that changed; how many edits were found on the way. Raises StoreError.

        A file that fails is tried again with the next flush.
        """
        async with self._flushing:
            if self._cursor is None:
                self._cursor = int(await self._database.read(lambda c: read_state(c, CURSOR)) or 0)
            again, self._again = self._again, set()
            touched = 0
            try:
                event, dirty = await self._database.read(
                    partial(record_plans.dirty_records, cursor=self._cursor, again=again)
                )
                for start in range(0, len(dirty), self._disk.batch):
                    async with self._lock:
                        touched += await self._write(dirty[start : start + self._disk.batch])
            except BaseException:
                self._again |= again
                raise
            if event != self._cursor:
                if not self._again:
                    await self._database.write_soon(lambda c: write_state(c, CURSOR, str(event)))
                self._cursor = event
            return touched

    async def _write(self, numbers: Sequence[int]) -> int:
        """Write the files of some records and note them; how many edits were found instead. The lock is held."""
        work = await self._database.read(
            partial(record_plans.plan_writes, numbers=numbers, zone=self._zone, policy=self._disk)
        )
        await self._clear(work)
        plans, touched = await self._unmoved(work.plans)
        folders = sorted({plan.row.folder for plan in plans})
        before = {folder: disk.peek(f"{self._root}/{folder}") for folder in folders}
        drafts = [PendingFile(plan.row.path, plan.text, plan.expected) for plan in plans]
        done = await asyncio.to_thread(disk.write, self._root, drafts) if drafts else {}
        written: list[tuple[RecordFilePlan, RecordFileRow]] = []
        for plan in plans:
            outcome = done[plan.row.path]
            if isinstance(outcome, FileStamp):
                written.append((plan, replace(plan.row, stamp=outcome)))
                self._problems.pop(plan.row.path, None)
            elif outcome is None:
                touched += await self._in_the_way(plan)
            else:
                self._failed(plan, outcome)
        if written:
            await self._database.write(partial(_note, rows=[row for _, row in written]))
        for plan, _ in written:
            if plan.moved_from is not None:
                await asyncio.to_thread(
                    partial(
                        disk.remove,
                        self._root,
                        plan.moved_from.path,
                        plan.moved_from.stamp,
                        prune=True,
                    )
                )
        for folder in folders:
            ours = {row.name: row.stamp for _, row in written if row.folder == folder}
            self._hot.remember_writes(folder, before[folder], ours)
        return touched

    async def _clear(self, work: record_plans.WritePlan) -> None:
        """Remove what shows nothing any more. What was erased goes in any case, a person's edit of it, too."""
        for row in (*work.obsolete, *work.erased):
            expected = row.stamp if row in work.obsolete else None
            await asyncio.to_thread(partial(disk.remove, self._root, row.path, expected, prune=True))
            await self._database.write(partial(card_rows.drop_row, folder=row.folder, name=row.name))

    async def _unmoved(self, plans: Sequence[RecordFilePlan]) -> tuple[list[RecordFilePlan], int]:
        """The plans whose earlier file is as it was left, and how many edits were found in the others."""
        kept: list[RecordFilePlan] = []
        touched = 0
        for plan in plans:
            moved = plan.moved_from
            if moved is None or disk.stamp_of(self._root / moved.path) in (
                None,
                moved.stamp,
            ):
                kept.append(plan)
            else:
                touched += await self._retry(plan, moved.folder, moved.name)
        return kept, touched

    async def _in_the_way(self, plan: RecordFilePlan) -> int:
        """Somebody's file stands where ours was to be, or ours is gone: take that in first."""
        if disk.stamp_of(self._root / plan.row.path) is None:
            return await self._gone(await self._look([plan.row.folder]))
        return await self._retry(plan, plan.row.folder, plan.row.name)

    async def _retry(self, plan: RecordFilePlan, folder: str, name: str) -> int:
        """Take a file in, then let the next flush write; for one that is left alone nobody waits."""
        path = f"{folder}/{name}"
        if self._left.get(path) == disk.stamp_of(self._root / path):
            return 0
        touched = await self._one(folder, name)
        if path not in self._left and plan.row.record is not None:
            self._again.add(plan.row.record)
        return touched

    def _failed(self, plan: RecordFilePlan, error: OSError) -> None:
        assert plan.row.record is not None
        self._again.add(plan.row.record)
        path = plan.row.path
        self._report(path, f"{path} cannot be written ({error.strerror}): check the disk and who owns it.")

    def _leave(self, path: str, stamp: FileStamp, problem: str) -> None:
        """Do nothing more about a file until it changes."""
        if len(self._left) >= _PROBLEMS:
            self._left.pop(next(iter(self._left)))
        self._left[path] = stamp
        self._report(path, problem)

    def _report(self, path: str, problem: str) -> None:
        if self._problems.get(path) != problem:
            log.warning("%s", problem)
        if len(self._problems) >= _PROBLEMS:
            self._problems.pop(next(iter(self._problems)))
        self._problems[path] = problem


def _note(connection: Connection, rows: Sequence[RecordFileRow]) -> None:
    for row in rows:
        card_rows.save_row(connection, row)
