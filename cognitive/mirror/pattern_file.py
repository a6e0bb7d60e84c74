"""Keeps `procedural/patterns.json` and the database in step.

What the file was last written as is noted, as digests, before it is written and again when it is: after a crash it is
known as ours whichever of the two it holds. Any other file was edited by a person: then what differs of a pattern from
what was noted is their word, one that is missing is forgotten, a new one is learned. A file that cannot be understood
is reported and left alone, whatever happens to memory meanwhile; one that is not there is written again.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.mirror import pattern_format
from kenobot.cognitive.mirror.pattern_format import PATH, PatternEntry, PatternFileError
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import candidate_of, pattern_of, patterns_of, text_of
from kenobot.cognitive.procedural.pattern_rows import PatternFigures
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, records
from kenobot.cognitive.store.change import ColumnValue, change
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.cognitive.text.calendar import local_day
from kenobot.ports.clock import Clock
from kenobot.ports.memory import Candidate
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import FileStamp
from kenobot.storage.state import read_state, write_state

log = logging.getLogger(__name__)

STATE_KEY = "mirror:patterns"  # state key
_MOST = 5_000  # patterns of the whole home that the file shows, the newest
_TRIES = 5

EntryDigest = tuple[str, float, str, int]
"""What a file said of a pattern: the digest of its words, its confidence, the digest of its origin, its uses."""


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was written, or read: the digest of its text, and what it said of each record's pattern."""

    digest: str = ""
    entries: Mapping[int, EntryDigest] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A pattern, its mark, and how it stands in the file."""

    mark: PatternFigures
    text: str
    held: EntryDigest


_All = Mapping[int, _Shown]
"""The patterns that the file shows, by number, in their order."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The newest event, and the mark of the patterns then."""

    event: int = -1
    mark: PatternFigures = ()


class PatternFile:
    """The file below `root`. Call `sync_in` before a turn and `sync_out` after memory has changed; both are cheap."""

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        self._root = root.resolve()
        self._database = database
        self._clock = clock
        self._zone = zone
        self._policy = policy
        self._lock = asyncio.Lock()
        self._seen: FileStamp | None = None
        self._held = _digest("")  # what the file held when it was seen
        self._agreed = _Known()  # when the file was seen to agree
        self._left = False  # alone, until it changes
        self._problem = ""
        self._shown: _All = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the file is left alone, or could not be written: one plain sentence, or none."""
        return (self._problem,) if self._problem else ()

    def has_changes(self) -> Callable[[], bool]:
        """Something cheap to call in another thread: whether `take_in` would find a change."""
        return partial(disk.any_changed, str(self._root), {PATH: self._seen})

    async def sync_in(self) -> int:
        """Take in what a person did to the file since the last look; how many patterns that touched.

        Raises StoreError.
        """
        async with self._lock:
            return await self._sync() if await asyncio.to_thread(self.has_changes()) else 0

    async def sync_out(self) -> int:
        """Write the file if a pattern has changed; as `take_in` if a person was faster. Raises StoreError."""
        async with self._lock:
            known = await self._database.read(partial(self._news, self.has_changes()))
            if known is None:
                return await self._sync()
            self._agreed = known
            return 0

    def _news(self, edited: Callable[[], bool], connection: Connection) -> _Known | None:
        """What is known now; None when the file and memory may not agree any more."""
        if edited():
            return None
        if self._left:
            return self._agreed
        event = events.last_event(connection)
        if event == self._agreed.event:
            return self._agreed
        if self._agreed.mark and not pattern_rows.touched_since(connection, self._agreed.event):
            return _Known(event, self._agreed.mark)
        known = _Known(event, pattern_rows.patterns_fingerprint(connection))
        if known.mark == self._agreed.mark or _digest(_text(self._patterns(connection))) == self._held:
            return known
        return None

    def _patterns(self, connection: Connection) -> _All:
        """The patterns that the file should show; only such as have changed since are read anew."""
        self._shown = _patterns(connection, self._shown)
        return self._shown

    def _look(self, connection: Connection) -> tuple[_All, list[FileVersion]]:
        """The patterns that the file should show, and the file as it was written."""
        return self._patterns(connection), _noted(connection)

    async def _sync(self) -> int:
        """Bring file and memory to agree; how many patterns a person's edit touched. The lock is held."""
        self._agreed, touched = _Known(), 0
        for _ in range(_TRIES):
            found = await disk.read(self._root, PATH)
            self._left = False
            if found.problem:
                self._leave_alone(found, found.problem)
                return touched
            shown, versions = await self._database.read(self._look)
            if found.text not in (None, _text(shown)) and _digest(found.text or "") not in {
                each.digest for each in versions
            }:
                try:
                    entries = pattern_format.parse(found.text or "")
                except PatternFileError as error:
                    self._leave_alone(found, f"{PATH} is left alone: {error}.")
                    return touched
                absorb = partial(self._absorb, text=found.text or "", entries=entries)
                touched += await self._database.write(absorb)
                shown = await self._database.read(self._patterns)
            try:
                if await self._settle(found, shown):
                    self._problem = ""
                    return touched
            except OSError as error:
                self._report(f"{PATH} cannot be written ({error.strerror}): check the disk and who owns it.")
                return touched
        return touched

    async def _settle(self, found: disk.ReadResult, shown: _All) -> bool:
        """Make the file show these patterns; False when somebody changed it meanwhile."""
        stamp, wanted = found.stamp, _text(shown)
        held = {number: pattern.held for number, pattern in shown.items()}
        if (found.text or "") != wanted:
            await self._database.write(partial(_note, text=wanted, held=held, beside=True))
            if not wanted:
                if not await asyncio.to_thread(disk.remove, self._root, PATH, found.stamp):
                    return False
                stamp = None
            else:
                stamp = await disk.replace(self._root, PATH, wanted, found.stamp)
                if stamp is None:
                    return False
            await self._database.write(partial(_note, text=wanted, held=held, beside=False))
        elif wanted:
            await self._database.write(partial(_note, text=wanted, held=held, beside=False))
        self._seen, self._held = stamp, _digest(wanted)
        return True

    def _absorb(self, connection: Connection, *, text: str, entries: list[PatternEntry]) -> int:
        now = self._clock.now()
        occasion = AdmitContext(at=now, day=local_day(now, self._zone), actor="owner", policy=self._policy)
        touched = _Edit(connection, occasion).apply(entries)
        held = {entry.number: _held(entry) for entry in entries if entry.number is not None}
        _note(connection, text=text, held=held, beside=False)
        return touched

    def _leave_alone(self, found: disk.ReadResult, problem: str) -> None:
        """Do nothing more about the file until it changes."""
        self._seen, self._left = found.stamp, True
        self._report(problem)

    def _report(self, problem: str) -> None:
        if self._problem != problem:
            log.warning("%s", problem)
        self._problem = problem


# ── a person's edit ──────────────────────────────────────────────────────────────────────────────────────────────


class _Edit:
    """One person's edit of the file, inside a transaction."""

    def __init__(self, connection: Connection, occasion: AdmitContext) -> None:
        self._connection = connection
        self._occasion = occasion
        self._act = occasion.change_context(f"the owner edited {PATH}")
        self._versions = _noted(connection)

    def apply(self, entries: Sequence[PatternEntry]) -> int:
        """Let memory follow; how many patterns that touched."""
        live = {record.id: record for record in _live(self._connection)}
        touched = 0
        for entry in entries:
            record = live.get(entry.number or 0)
            if record is not None:
                touched += self._changed(record, entry)
            elif not self._as_noted(entry):  # one that was written and is gone since must not come back
                touched += self._added(entry)
        standing = {entry.number for entry in entries}
        for number, record in live.items():
            if number not in standing and self._versions and all(number in each.entries for each in self._versions):
                touched += int(forget(self._connection, number, (record.scope,), self._occasion))
        return touched

    def _noted_of(self, entry: PatternEntry) -> list[EntryDigest]:
        held = [each.entries.get(entry.number or 0) for each in self._versions]
        return [each for each in held if each is not None]

    def _as_noted(self, entry: PatternEntry) -> bool:
        return _held(entry) in self._noted_of(entry)

    def _added(self, entry: PatternEntry) -> int:
        """Learn a pattern that a person wrote."""
        decision = admit(self._connection, _candidate(entry, entry.scope), self._occasion)
        if decision.record is None:
            return 0
        self._set(decision.record, entry, entry.scope, uses=entry.uses)
        return 1

    def _changed(self, record: Record, entry: PatternEntry) -> int:
        """Let what a person changed take the place of what was there; the rest is as memory has it now."""
        words, confidence, learned, uses = _held(entry)
        was = self._noted_of(entry)
        now = pattern_of(record)
        assert now is not None
        number = record.id
        if any(words == each[0] for each in was):
            entry = replace(entry, trigger=now.trigger, response=now.response)
        if any(confidence == each[1] for each in was):
            entry = replace(entry, confidence=record.confidence)
        if any(learned == each[2] for each in was):
            entry = replace(entry, learned_from=now.learned_from)
        if any(uses == each[3] for each in was):
            entry = replace(entry, uses=record.uses)
        if text_of(entry.trigger, entry.response) != record.text:
            decision = supersede(self._connection, number, _candidate(entry, record.scope), self._occasion)
            if decision.record is None:
                return 0
            number = decision.record
        return max(int(number != record.id), self._set(number, entry, record.scope, uses=entry.uses))

    def _set(self, number: int, entry: PatternEntry, scope: str, *, uses: int) -> int:
        """Let a pattern have the figures that a person gave it; what they keep does not end by itself."""
        known = records.get(self._connection, number, (scope,))
        if known is None:
            return 0
        attrs = {**json.loads(known.attrs), "learnedFrom": entry.learned_from}
        values: dict[str, ColumnValue] = {
            "confidence": entry.confidence,
            "uses": uses,
            "attrs": json.dumps(attrs, ensure_ascii=False),
            "expires": None,
        }
        held = records.column_values(self._connection, known, sorted(values))
        if held == tuple(values[name] for name in sorted(values)):
            return 0
        values["updated"] = records.stamp(self._occasion.at)
        change(self._connection, known, "edited", values, self._act, shown=False)
        return 1


def _candidate(entry: PatternEntry, scope: str) -> Candidate:
    return candidate_of(
        scope,
        entry.trigger,
        entry.response,
        source="edit",
        trust="owner",
        learned_from=entry.learned_from,
        confidence=entry.confidence,
    )


# ── what is noted ────────────────────────────────────────────────────────────────────────────────────────────────


def _live(connection: Connection) -> list[Record]:
    """The records of the patterns that the file shows."""
    return [pattern.record for pattern in patterns_of(pattern_rows.live_patterns(connection, ALL_SCOPES, _MOST))]


def _patterns(connection: Connection, before: _All) -> _All:
    """The patterns that the file shows: those of `before` that are as they were, and the others as they are now."""
    marks = pattern_rows.figures_by_pattern(connection, ALL_SCOPES, _MOST)
    known = {
        number: before[number] for number, mark in marks.items() if number in before and before[number].mark == mark
    }
    changed = records.by_ids(connection, [number for number in marks if number not in known], ALL_SCOPES)
    for pattern in patterns_of(changed.values()):
        entry = pattern_format.entry_of(pattern)
        known[pattern.id] = _Shown(marks[pattern.id], pattern_format.render_entry(entry), _held(entry))
    return {number: known[number] for number in marks if number in known}


def _text(shown: _All) -> str:
    """The file that shows these patterns."""
    return pattern_format.join_entries(pattern.text for pattern in shown.values())


def _noted(connection: Connection) -> list[FileVersion]:
    found = json.loads(read_state(connection, STATE_KEY) or "[]")
    return [
        FileVersion(
            each["text"], {int(number): (held[0], held[1], held[2], held[3]) for number, held in each["of"].items()}
        )
        for each in found
    ]


def _note(connection: Connection, *, text: str, held: Mapping[int, EntryDigest], beside: bool) -> None:
    """Note that the file holds `text`; or, `beside` what was noted last, that it may be about to."""
    version = FileVersion(_digest(text), held)
    last = [each for each in _noted(connection)[-1:] if each.digest != version.digest] if beside else []
    told: Json = [
        {"text": each.digest, "of": {str(number): [*held] for number, held in each.entries.items()}}
        for each in (*last, version)
    ]
    wanted = json.dumps(told)
    if read_state(connection, STATE_KEY) != wanted:
        write_state(connection, STATE_KEY, wanted)


def _held(entry: PatternEntry) -> EntryDigest:
    return _digest(text_of(entry.trigger, entry.response)), entry.confidence, _digest(entry.learned_from), entry.uses


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
