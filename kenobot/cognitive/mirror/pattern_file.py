"""Keep `procedural/patterns.json` and the database in step.

The file is one list for the whole home, each pattern an object {id, trigger, response, confidence, learnedFrom,
usageCount}; one that is not the owner's own says whose it is by its `scope`.

What the file was last written as is noted, as digests, before it is written and again when it is: after a crash it is
known as ours whichever of the two it holds. Any other file was edited by a person: then what differs of a pattern from
what was noted is their word, one that is missing is forgotten, a new one is learned. A file that cannot be understood
is reported and left alone, whatever happens to memory meanwhile; one that is not there is written again.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror.file_sync import FileKey, FileSync, FileView
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import Pattern, candidate_of, one_line, patterns_of, text_of
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, records
from kenobot.cognitive.store.change import change
from kenobot.core import lazy, redaction
from kenobot.core.front_matter import UnusableFileError
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, is_session_id
from kenobot.ports.memory import Candidate
from kenobot.ports.records import ColumnValue
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import FileStamp, ReadResult
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.state import read_state, write_state
from kenobot.storage.times import stamp

PATH = "procedural/patterns.json"
STATE_KEY = "mirror:patterns"  # state key
_MOST = 5_000  # patterns of the whole home that the file shows, the newest
_ID = lazy.regex(r"pattern-([0-9]{1,18})")
_SCOPE = lazy.regex(r"(?:chat|user):(.+)")
_LONGEST = 16_000  # characters of a trigger or a response
_BY_HAND = 0.95

EntryDigest = tuple[str, float, str, int]
"""What a file said of a pattern: the digest of its words, its confidence, the digest of its origin, its uses."""

Digests = Mapping[int, EntryDigest]
"""What a file said of each pattern, by the number of its record."""


class FileVersion(NamedTuple):
    """A file as it was written, or read: the digest of its text, and what it said of each record's pattern."""

    digest: str
    entries: Digests


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """A pattern as the file has it. number: the record that its id names; None for one that has none yet."""

    number: int | None
    trigger: str
    response: str
    confidence: float
    learned_from: str
    uses: int
    scope: str


@dataclass(frozen=True, slots=True)
class _Shown:
    """A pattern's figures, and how it stands in the file."""

    figures: tuple[object, ...]
    text: str
    digest: EntryDigest


class PatternFile(FileSync[Digests]):
    """The file below `root`. Call `sync_in` before a turn and `sync_out` after memory has changed; both are cheap."""

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        super().__init__(root, database, clock, zone, policy)
        self._again.add(PATH)  # nothing is known of it yet
        # bounded: 5,000 patterns; test_only_what_changed_is_read_anew
        self._shown: Mapping[int, _Shown] = {}  # the patterns that the file shows, by number, in their order

    def recent_stamps(self, session: str = "") -> dict[str, FileStamp | None]:
        return {PATH: self._seen.get(PATH)}

    async def sync_in(self) -> int:
        """Take in what a person did to the file since the last look; how many patterns that touched.

        Raises StoreError.
        """
        async with self._lock:
            return await self._reconcile(PATH) if await asyncio.to_thread(self.has_changes) else 0

    def _find_dirty(self, connection: Connection, again: set[FileKey]) -> tuple[int, list[FileKey]]:
        is_dirty = (
            bool(again)
            or self.has_changes()
            or (PATH not in self._problems and pattern_rows.is_touched_since(connection, self._cursor or 0))
        )
        return events.last_event(connection), [PATH] if is_dirty else []

    def _view(self, connection: Connection, path: str, found: ReadResult) -> FileView[Digests]:
        self._shown = _render_patterns(connection, self._shown)
        text = join_entries(pattern.text for pattern in self._shown.values())
        digests = {number: pattern.digest for number, pattern in self._shown.items()}
        versions = _versions(connection)
        is_edited = found.text not in (None, text) and _digest(found.text or "") not in {
            each.digest for each in versions
        }
        return FileView(text, digests, is_edited, is_noted=versions == [FileVersion(_digest(text), digests)])

    def _absorb(self, connection: Connection, path: str, found: ReadResult) -> tuple[int, FileView[Digests]]:
        entries = parse(found.text or "")
        touched = _Edit(connection, self._edit_context()).apply(entries)
        digests = {entry.number: _entry_digest(entry) for entry in entries if entry.number is not None}
        _save_version(connection, text=found.text or "", digests=digests)
        return touched, self._view(connection, path, ReadResult())

    async def _prepare_write(self, view: FileView[Digests]) -> None:
        await self._database.write(partial(_save_version, text=view.text, digests=view.detail, beside=True))

    async def _note(self, path: str, view: FileView[Digests], stamp: FileStamp | None) -> None:
        if not view.is_noted:
            await self._database.write(partial(_save_version, text=view.text, digests=view.detail))
        self._seen.pop(PATH, None)
        if stamp is not None:
            self._seen[PATH] = stamp


# ── a person's edit ──────────────────────────────────────────────────────────────────────────────────────────────


class _Edit:
    """One person's edit of the file, inside a transaction."""

    def __init__(self, connection: Connection, context: AdmitContext) -> None:
        self._connection = connection
        self._context = context
        self._versions = _versions(connection)

    def apply(self, entries: Sequence[PatternEntry]) -> int:
        """Let memory follow; how many patterns that touched."""
        shown = patterns_of(pattern_rows.live_patterns(self._connection, ALL_SCOPES, _MOST))
        live = {pattern.id: pattern for pattern in shown}
        touched = 0
        for entry in entries:
            pattern = live.get(entry.number or 0)
            noted = [digest for each in self._versions if (digest := each.entries.get(entry.number or 0)) is not None]
            if pattern is not None:
                touched += self._change(pattern, entry, noted)
            elif _entry_digest(entry) not in noted:  # one that was written and is gone since must not come back
                from kenobot.cognitive.remember.admit import admit

                decision = admit(self._connection, _candidate(entry, entry.scope), self._context)
                if decision.record is not None:
                    self._set_figures(decision.record, entry, entry.scope)
                    touched += 1
        kept = {entry.number for entry in entries}
        for number, pattern in live.items():
            if number not in kept and self._versions and all(number in each.entries for each in self._versions):
                from kenobot.cognitive.control.forget import forget

                touched += bool(forget(self._connection, number, (pattern.record.scope,), self._context))
        return touched

    def _change(self, pattern: Pattern, entry: PatternEntry, noted: Sequence[EntryDigest]) -> int:
        """Let what a person changed take the place of what was there; the rest is as memory has it now."""
        record = pattern.record
        words, confidence, origin, uses = (
            any(value == each[at] for each in noted) for at, value in enumerate(_entry_digest(entry))
        )
        entry = replace(
            entry,
            trigger=pattern.trigger if words else entry.trigger,
            response=pattern.response if words else entry.response,
            confidence=record.confidence if confidence else entry.confidence,
            learned_from=pattern.learned_from if origin else entry.learned_from,
            uses=record.use_count if uses else entry.uses,
        )
        number = record.id
        if text_of(entry.trigger, entry.response) != record.text:
            from kenobot.cognitive.remember.admit import supersede

            decision = supersede(self._connection, number, _candidate(entry, record.scope), self._context)
            if decision.record is None:
                return 0
            number = decision.record
        return max(int(number != record.id), self._set_figures(number, entry, record.scope))

    def _set_figures(self, number: int, entry: PatternEntry, scope: str) -> int:
        """Let a pattern have the figures that a person gave it; what they keep does not end by itself."""
        record = records.get(self._connection, number, (scope,))
        if record is None:
            return 0
        attributes = {**json.loads(record.attributes), "learnedFrom": entry.learned_from}
        values: dict[str, ColumnValue] = {
            "confidence": entry.confidence,
            "use_count": entry.uses,
            "attributes": json.dumps(attributes, ensure_ascii=False),
            "expires": None,
        }
        if all(getattr(record, name) == value for name, value in values.items()):
            return 0
        values["updated"] = stamp(self._context.at)
        act = self._context.change_context(Sentence("reasons.owner_edited", path=PATH))
        change(self._connection, record, "edited", values, act, shown=False)
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


def _render_patterns(connection: Connection, before: Mapping[int, _Shown]) -> Mapping[int, _Shown]:
    """Render the patterns that the file shows; those of `before` that are as they were are kept."""
    figures = pattern_rows.figures_by_pattern(connection, ALL_SCOPES, _MOST)
    shown = {number: old for number, old in before.items() if figures.get(number) == old.figures}
    changed = records.by_ids(connection, [number for number in figures if number not in shown], ALL_SCOPES)
    for pattern in patterns_of(changed.values()):
        entry = entry_of(pattern)
        shown[pattern.id] = _Shown(figures[pattern.id], render_entry(entry), _entry_digest(entry))
    return {number: shown[number] for number in figures if number in shown}


def _versions(connection: Connection) -> list[FileVersion]:
    """Read the file as it was written last, and as it may have been written before a crash."""
    found = json.loads(read_state(connection, STATE_KEY) or "[]")
    return [
        FileVersion(each["text"], {int(number): (*digest,) for number, digest in each["of"].items()}) for each in found
    ]


def _save_version(connection: Connection, *, text: str, digests: Digests, beside: bool = False) -> None:
    """Note that the file holds `text`; or, `beside` what was noted last, that it may be about to."""
    version = FileVersion(_digest(text), digests)
    last = [each for each in _versions(connection)[-1:] if each.digest != version.digest] if beside else []
    noted = [{"text": each.digest, "of": each.entries} for each in (*last, version)]
    before, after = read_state(connection, STATE_KEY), json.dumps(noted)
    if before != after and (text or before):
        write_state(connection, STATE_KEY, after)


def _entry_digest(entry: PatternEntry) -> EntryDigest:
    return _digest(text_of(entry.trigger, entry.response)), entry.confidence, _digest(entry.learned_from), entry.uses


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# ── the text ─────────────────────────────────────────────────────────────────────────────────────────────────────


def entry_of(pattern: Pattern) -> PatternEntry:
    record = pattern.record
    confidence = round(record.confidence, 4)
    return PatternEntry(
        record.id, pattern.trigger, pattern.response, confidence, pattern.learned_from, record.use_count, record.scope
    )


def join_entries(patterns: Iterable[str]) -> str:
    """Join patterns, each as `render_entry` writes it; "" for none, which is no file."""
    whole = ",\n".join(patterns)
    return f"[\n{whole}\n]\n" if whole else ""


def render_entry(entry: PatternEntry) -> str:
    """Render a pattern as `json.dumps` would, indented by two in a list.

    Piece by piece, because `json` indents many times slower than it writes.
    """
    lines = (f'    "{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in _render_entry(entry).items())
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _render_entry(entry: PatternEntry) -> dict[str, str | float | int]:
    shown: dict[str, str | float | int] = {
        "id": f"pattern-{entry.number}",
        "trigger": entry.trigger,
        "response": entry.response,
        "confidence": entry.confidence,
        "learnedFrom": entry.learned_from,
        "usageCount": entry.uses,
    }
    return shown if entry.scope == OWNER_SCOPE else {**shown, "scope": entry.scope}


def parse(text: str) -> list[PatternEntry]:
    """Parse the patterns in a file, in its order, all or none. Raises UnusableFileError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableFileError(f"it is not whole JSON ({_shorten(error)})") from None
    if not isinstance(found, list):
        raise UnusableFileError("it must be a list of patterns")
    entries = [_entry(item, place) for place, item in enumerate(found, 1)]
    numbers = [entry.number for entry in entries if entry.number is not None]
    if len(set(numbers)) < len(numbers):
        raise UnusableFileError("two of its patterns have the same id")
    return entries


def validate_entry(item: Mapping[str, object]) -> tuple[str, str, float, int]:
    """Trigger, response, confidence and usage count of one pattern. Raises UnusableFileError for what cannot be one."""
    trigger, response = item.get("trigger"), item.get("response")
    if not (isinstance(trigger, str) and isinstance(response, str) and one_line(trigger) and one_line(response)):
        raise UnusableFileError("must have a trigger and a response")
    if max(len(trigger), len(response)) > _LONGEST:
        raise UnusableFileError(f"must not be longer than {_LONGEST} characters")
    confidence = item.get("confidence", _BY_HAND)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise UnusableFileError("must have a confidence between 0 and 1")
    uses = item.get("usageCount", 0)
    if isinstance(uses, bool) or not isinstance(uses, int) or not 0 <= uses < 10**9:
        raise UnusableFileError("must have a usageCount that is a whole number")
    kind = redaction.find_secret(trigger) or redaction.find_secret(response)
    if kind is not None:
        raise UnusableFileError(f"holds what looks like {kind}")
    return one_line(trigger), one_line(response), float(confidence), uses


def _entry(item: object, place: int) -> PatternEntry:
    if not isinstance(item, dict):
        raise UnusableFileError(f"pattern {place} must be an object")
    try:
        trigger, response, confidence, uses = validate_entry(item)
    except UnusableFileError as error:
        raise UnusableFileError(f"pattern {place} {error}") from None
    learned, scope = item.get("learnedFrom", "edit"), item.get("scope", OWNER_SCOPE)
    if not isinstance(learned, str) or not _is_scope(scope):
        raise UnusableFileError(f"pattern {place} must say whose it is as the others do")
    known = _ID.fullmatch(str(item.get("id", "")))
    return PatternEntry(
        int(known[1]) if known else None, trigger, response, confidence, one_line(learned)[:100], uses, str(scope)
    )


def _is_scope(scope: object) -> bool:
    found = _SCOPE.fullmatch(scope) if isinstance(scope, str) else None
    return scope == OWNER_SCOPE or (found is not None and is_session_id(found[1]))


def _shorten(error: Exception) -> str:
    return str(error).partition(":")[0] + (f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "")
