"""Keep `procedural/patterns.json` and the database in step.

What the file was last written as is noted, as digests, before it is written and again when it is: after a crash it is
known as ours whichever of the two it holds. Any other file was edited by a person: then what differs of a pattern from
what was noted is their word, one that is missing is forgotten, a new one is learned. A file that cannot be understood
is reported and left alone, whatever happens to memory meanwhile; one that is not there is written again.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.mirror.file_sync import FileKey, FileSync, FileView
from kenobot.cognitive.mirror.patterns import pattern_format
from kenobot.cognitive.mirror.patterns.pattern_format import PATH, PatternEntry
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
from kenobot.storage.disk import FileStamp, ReadResult
from kenobot.storage.state import read_state, write_state

STATE_KEY = "mirror:patterns"  # state key
_MOST = 5_000  # patterns of the whole home that the file shows, the newest

EntryDigest = tuple[str, float, str, int]
"""What a file said of a pattern: the digest of its words, its confidence, the digest of its origin, its uses."""

Digests = Mapping[int, EntryDigest]
"""What a file said of each pattern, by the number of its record."""


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was written, or read: the digest of its text, and what it said of each record's pattern."""

    digest: str = ""
    entries: Digests = field(default_factory=dict)  # bounded: 5,000 patterns; turn


@dataclass(frozen=True, slots=True)
class _Shown:
    """A pattern's figures, and how it stands in the file."""

    figures: PatternFigures
    text: str
    digest: EntryDigest


_Patterns = Mapping[int, _Shown]
"""The patterns that the file shows, by number, in their order."""


@dataclass(frozen=True, slots=True)
class _Agreed:
    """The newest event at which file and memory agreed, and the figures of all patterns then."""

    event: int = -1
    fingerprint: PatternFigures = ()


class PatternFile(FileSync[Digests]):
    """The file below `root`. Call `sync_in` before a turn and `sync_out` after memory has changed; both are cheap."""

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        super().__init__(root, database, clock, zone, policy)
        self._last_digest = _digest("")  # of the file when it was seen last
        self._agreed = _Agreed()  # when the file was seen to agree
        self._is_left = False  # alone, until it changes
        self._shown: _Patterns = {}  # bounded: 5,000 patterns; test_only_what_changed_is_read_anew

    def has_changes(self) -> Callable[[], bool]:
        """Make a cheap check, to call in another thread, of whether `sync_in` would find a change."""
        return partial(disk.any_changed, str(self._root), {PATH: self._seen.get(PATH)})

    async def sync_in(self) -> int:
        """Take in what a person did to the file since the last look; how many patterns that touched.

        Raises StoreError.
        """
        async with self._lock:
            return await self._reconcile(PATH) if await asyncio.to_thread(self.has_changes()) else 0

    def _dirty(self, connection: Connection, again: set[FileKey]) -> tuple[int, list[FileKey]]:
        agreed = None if again else self._still_agreed(connection)
        if agreed is None:
            return self._agreed.event, [PATH]
        self._agreed = agreed
        return agreed.event, []

    def _still_agreed(self, connection: Connection) -> _Agreed | None:
        """Since when file and memory agree; None when they may not agree any more."""
        if self.has_changes()():
            return None
        if self._is_left:
            return self._agreed
        event = events.last_event(connection)
        if event == self._agreed.event:
            return self._agreed
        if self._agreed.fingerprint and not pattern_rows.touched_since(connection, self._agreed.event):
            return _Agreed(event, self._agreed.fingerprint)
        agreed = _Agreed(event, pattern_rows.patterns_fingerprint(connection))
        if agreed.fingerprint == self._agreed.fingerprint or _digest(self._text(connection)) == self._last_digest:
            return agreed
        return None

    def _text(self, connection: Connection) -> str:
        """Render the file; only patterns that have changed since are read anew."""
        self._shown = _patterns(connection, self._shown)
        return pattern_format.join_entries(pattern.text for pattern in self._shown.values())

    def _view(self, connection: Connection, path: str, found: ReadResult) -> FileView[Digests]:
        self._is_left = False
        self._agreed = _Agreed()
        text = self._text(connection)
        digests = {number: pattern.digest for number, pattern in self._shown.items()}
        is_edited = found.text not in (None, text) and _digest(found.text or "") not in {
            version.digest for version in _versions(connection)
        }
        return FileView(text, digests, is_edited)

    def _absorb(self, connection: Connection, path: str, found: ReadResult) -> tuple[int, FileView[Digests]]:
        entries = pattern_format.parse(found.text or "")
        now = self._clock.now()
        context = AdmitContext(at=now, day=local_day(now, self._zone), actor="owner", policy=self._policy)
        touched = _Edit(connection, context).apply(entries)
        digests = {entry.number: _entry_digest(entry) for entry in entries if entry.number is not None}
        _save_version(connection, text=found.text or "", digests=digests, beside=False)
        return touched, self._view(connection, path, ReadResult())

    async def _before_write(self, view: FileView[Digests]) -> None:
        await self._database.write(partial(_save_version, text=view.text, digests=view.detail, beside=True))

    async def _note(self, path: str, view: FileView[Digests], stamp: FileStamp | None) -> None:
        await self._database.write(partial(_save_version, text=view.text, digests=view.detail, beside=False))
        self._seen.pop(PATH, None)
        if stamp is not None:
            self._seen[PATH] = stamp
        self._last_digest = _digest(view.text)

    def _leave_alone(self, path: str, stamp: FileStamp | None, problem: str) -> None:
        super()._leave_alone(path, stamp, problem)
        self._is_left = True


# ── a person's edit ──────────────────────────────────────────────────────────────────────────────────────────────


class _Edit:
    """One person's edit of the file, inside a transaction."""

    def __init__(self, connection: Connection, occasion: AdmitContext) -> None:
        self._connection = connection
        self._occasion = occasion
        self._act = occasion.change_context(f"the owner edited {PATH}")
        self._versions = _versions(connection)

    def apply(self, entries: Sequence[PatternEntry]) -> int:
        """Let memory follow; how many patterns that touched."""
        live = {record.id: record for record in _live(self._connection)}
        touched = 0
        for entry in entries:
            record = live.get(entry.number or 0)
            if record is not None:
                touched += self._changed(record, entry)
            elif not self._as_versions(entry):  # one that was written and is gone since must not come back
                touched += self._added(entry)
        kept = {entry.number for entry in entries}
        for number, record in live.items():
            if number not in kept and self._versions and all(number in each.entries for each in self._versions):
                touched += bool(forget(self._connection, number, (record.scope,), self._occasion))
        return touched

    def _noted_of(self, entry: PatternEntry) -> list[EntryDigest]:
        digests = [version.entries.get(entry.number or 0) for version in self._versions]
        return [digest for digest in digests if digest is not None]

    def _as_versions(self, entry: PatternEntry) -> bool:
        return _entry_digest(entry) in self._noted_of(entry)

    def _added(self, entry: PatternEntry) -> int:
        """Learn a pattern that a person wrote."""
        decision = admit(self._connection, _candidate(entry, entry.scope), self._occasion)
        if decision.record is None:
            return 0
        self._set(decision.record, entry, entry.scope, uses=entry.uses)
        return 1

    def _changed(self, record: Record, entry: PatternEntry) -> int:
        """Let what a person changed take the place of what was there; the rest is as memory has it now."""
        words, confidence, learned, uses = _entry_digest(entry)
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
            entry = replace(entry, uses=record.use_count)
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
        attrs = {**json.loads(known.attributes), "learnedFrom": entry.learned_from}
        values: dict[str, ColumnValue] = {
            "confidence": entry.confidence,
            "use_count": uses,
            "attributes": json.dumps(attrs, ensure_ascii=False),
            "expires": None,
        }
        before = records.column_values(self._connection, known, sorted(values))
        if before == tuple(values[name] for name in sorted(values)):
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
    """Query the records of the patterns that the file shows."""
    return [pattern.record for pattern in patterns_of(pattern_rows.live_patterns(connection, ALL_SCOPES, _MOST))]


def _patterns(connection: Connection, before: _Patterns) -> _Patterns:
    """Render the patterns that the file shows; those of `before` that are as they were are kept."""
    figures = pattern_rows.figures_by_pattern(connection, ALL_SCOPES, _MOST)
    shown = {number: old for number, old in before.items() if figures.get(number) == old.figures}
    changed = records.by_ids(connection, [number for number in figures if number not in shown], ALL_SCOPES)
    for pattern in patterns_of(changed.values()):
        entry = pattern_format.entry_of(pattern)
        shown[pattern.id] = _Shown(figures[pattern.id], pattern_format.render_entry(entry), _entry_digest(entry))
    return {number: shown[number] for number in figures if number in shown}


def _versions(connection: Connection) -> list[FileVersion]:
    """Read the file as it was written last, and as it may have been written before a crash."""
    found = json.loads(read_state(connection, STATE_KEY) or "[]")
    return [
        FileVersion(each["text"], {int(number): (*digest,) for number, digest in each["of"].items()}) for each in found
    ]


def _save_version(connection: Connection, *, text: str, digests: Digests, beside: bool) -> None:
    """Note that the file holds `text`; or, `beside` what was noted last, that it may be about to."""
    version = FileVersion(_digest(text), digests)
    last = [each for each in _versions(connection)[-1:] if each.digest != version.digest] if beside else []
    noted: Json = [
        {"text": each.digest, "of": {str(number): [*digest] for number, digest in each.entries.items()}}
        for each in (*last, version)
    ]
    before, after = read_state(connection, STATE_KEY), json.dumps(noted)
    if before != after and (text or before):
        write_state(connection, STATE_KEY, after)


def _entry_digest(entry: PatternEntry) -> EntryDigest:
    return _digest(text_of(entry.trigger, entry.response)), entry.confidence, _digest(entry.learned_from), entry.uses


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
