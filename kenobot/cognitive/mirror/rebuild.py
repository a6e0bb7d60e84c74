"""Rebuild memory from its Markdown tree alone, for when the database is lost.

The record files carry the records: text, scope, status, times, figures and links, as they stood when each was written.
What none carries is lost: conversations, events, vectors, and keys of what was erased. In the list files the lines of
known records are found again; what stands in no record file is taken in at the next start, as the owner's own words.
"""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import field, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, get_args

from kenobot.cognitive.control.export_rows import reserve_ids
from kenobot.cognitive.mirror import scan
from kenobot.cognitive.mirror.paths import (
    FileLocation,
    FileRole,
    entity_page_of,
    location_of,
    path_of,
    role_of,
    slot_form,
)
from kenobot.cognitive.mirror.records import record_file_rows
from kenobot.cognitive.store import events, list_file_rows, term_index
from kenobot.cognitive.store import records as store
from kenobot.core.front_matter import UnusableFileError
from kenobot.language.fingerprint import key_of
from kenobot.language.markdown import list_layout, record_format
from kenobot.language.markdown.list_layout import FileBlock
from kenobot.language.markdown.record_format import RecordFile
from kenobot.language.sanitize import MAX_RECORD_CHARS, sanitize
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Form, Source
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage import disk
from kenobot.storage.connection import Connection, connect
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp

Progress = Callable[[int, int], None]
"""Told how many files have been read, and of how many."""

_LINKS = frozenset("supports contradicts supersedes derived member related entity time causal trace".split())
_COPIED = frozenset(
    "form trust source category subject confidence importance status lifecycle verification tier by lang day "
    "stability seen uses".split()
)
_USUAL = {
    "form": "note", "trust": "owner", "source": "edit", "category": "fact", "tier": "daily", "status": "active",
    "confidence": 0.7, "mentions": 1,
}  # fmt: skip
_ALIKE = 0.6  # of an edited text and what it said before
_STEP = 500  # files between two words about progress


@dataclass(frozen=True, slots=True)
class ParsedRecord:
    """A card that makes a record: where it stands, what it says, and the record."""

    path: str
    card: RecordFile
    record: Record


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """Result of a rebuild, done or planned. problems: one plain sentence for each file or link that was left out."""

    records: int = 0
    links: int = 0
    by_status: dict[str, int] = field(default_factory=dict)  # bounded: 6 statuses; turn
    by_scope: dict[str, int] = field(default_factory=dict)  # bounded: the scopes there are; turn
    problems: tuple[str, ...] = ()
    written: bool = False


def read_record_files(root: Path, progress: Progress | None = None) -> tuple[list[ParsedRecord], list[str]]:
    """Read every card below the memory folder; the records they make, by number, and what is wrong with others."""
    paths = list(_files(root))
    found: dict[int, ParsedRecord] = {}
    problems: list[str] = []
    for at, (path, spot) in enumerate(paths):
        if progress is not None and at % _STEP == 0:
            progress(at, len(paths))
        if spot.area == "artifacts":
            continue
        try:
            card = _read(root / path)
            record = _record(card, spot)
        except UnusableFileError as error:
            problems.append(f"{path} is left out: {error}.")
            continue
        if record is None:
            continue  # a person's own: it is taken in at the next start
        rival = found.get(record.id)
        if rival is None or _prefer(card, rival.card):
            found[record.id] = ParsedRecord(path, card, record)
        if rival is not None:
            loser = path if found[record.id] is rival else rival.path
            problems.append(f"{loser} is left out: {found[record.id].path} is a card of the same record.")
    if progress is not None:
        progress(len(paths), len(paths))
    return _once_alive([found[number] for number in sorted(found)], problems), problems


def rebuild(
    connection: Connection, root: Path, at: datetime, *, replace_all: bool = False, dry_run: bool = False,
    progress: Progress | None = None,
) -> RebuildReport:  # fmt: skip
    """Make memory again from the tree at `root`, inside a transaction.

    replace_all: throw away what the database holds of memory; without it, only an empty one is written to. Raises
    ConfigError when it is not empty, or when the tree has no card to read.
    """
    count = store.count(connection, "true", (), ALL_SCOPES)
    if count and not replace_all:
        raise ConfigError("memory.not_empty", count=count)
    found, problems = read_record_files(root, progress)
    if not found:
        raise ConfigError("memory.no_files", root=root)
    if not dry_run:
        if count:
            record_file_rows.clear_memory(connection)
        _write(connection, found, at)
        _recognise(connection, root, [each.record for each in found if not each.card.is_unedited])
    known = {each.record.id: each.record.scope for each in found}
    links = 0
    for each in found:
        for link in each.card.links:
            if known.get(link.to) == each.record.scope and link.type in _LINKS and link.to != each.record.id:
                links += 1 if dry_run else int(record_file_rows.insert_link(connection, each.record, link))
            else:
                problems.append(f"{each.path}: its link to {link.to} ({link.type}) leads nowhere and is left out.")
    return RebuildReport(
        records=len(found),
        links=links,
        by_status=_count(each.record.status for each in found),
        by_scope=_count(each.record.scope for each in found),
        problems=tuple(problems),
        written=not dry_run,
    )


def require_memory(root: Path, database: Path) -> None:
    """Refuse to go on with an empty or missing database beside a tree that has cards. Raises ConfigError.

    Otherwise KenoBot would begin anew, as somebody who knows nothing, in a home full of memories.
    """
    if not has_record_files(root) or _has_anything(database):
        return
    raise ConfigError("memory.database_lost", root=root, database=database)


def _has_anything(database: Path) -> bool:
    if not database.exists() or not database.stat().st_size:
        return False
    try:
        with closing(connect(database, readonly=True)) as connection:
            return bool(events.last_event(connection) or store.last_record(connection))
    except sqlite3.Error:
        return True  # whoever opens it says better what is wrong


def has_record_files(root: Path) -> bool:
    return any(spot.area == "facts" for _, spot in _files(root))


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _files(root: Path) -> Iterator[tuple[str, FileLocation]]:
    """Iterate over the paths of all record files, each with what its folder is for."""
    for folder in scan.record_folders(root):
        if (spot := location_of(folder)) is not None:
            yield from ((f"{folder}/{name}", spot) for name in sorted(scan.record_files(root, folder) or ()))


def _read(path: Path) -> RecordFile:
    """Read and parse a record file. Raises UnusableFileError."""
    try:
        if path.is_symlink() or not path.is_file():
            raise UnusableFileError("it is not a plain file")
        if path.stat().st_size > disk.MAX_FILE_BYTES:
            raise UnusableFileError("it is larger than 5 MB")
        return record_format.parse(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnusableFileError("it is not UTF-8 text") from error
    except OSError as error:
        raise UnusableFileError(f"it cannot be read ({os.strerror(error.errno or 0)})") from error


def _record(card: RecordFile, spot: FileLocation) -> Record | None:
    """Make the record that a file carries; None for one that a person wrote. Raises UnusableFileError.

    Whose it is, the folder says: front matter that was copied elsewhere opens no other scope.
    """
    said: Mapping[str, Any] = card.values
    if card.id is None or "created" not in said:
        return None
    copied = {record_format.COLUMN_OF.get(name, name): value for name, value in said.items() if name in _COPIED}
    values = {**_USUAL, "day": spot.day, **copied}
    if values["form"] not in get_args(Form):
        raise UnusableFileError(f"there is no form {values['form']}")
    if values["trust"] not in get_args(Trust) or values["source"] not in get_args(Source):
        raise UnusableFileError(f"there is no trust {values['trust']}, or no source {values['source']}")
    if said.get("scope", spot.scope) != spot.scope:
        raise UnusableFileError(f"it is of the scope {said['scope']}, and stands in a folder of {spot.scope}")
    text = sanitize(card.text or "", MAX_RECORD_CHARS)
    if values["form"] == "box":
        text = f"memories of {values['day']}"
        values.setdefault("subject", "")
    if not text:
        raise UnusableFileError("it has no text")
    attributes = {**said.get("attributes", {}), **({"by": said["by"]} if said.get("by") else {})}
    policy = said.get("policy", "durable")
    created = _time(said["created"])
    values |= {name: _time(said.get(name)) or created for name in ("created", "updated", "valid_from", "last_seen")}
    values |= {name: _time(said.get(name)) for name in ("valid_to", "last_used", "confirmed", "expires")}
    values |= {
        "attributes": json.dumps(attributes, ensure_ascii=False),
        "tags": json.dumps(said.get("tags", []), ensure_ascii=False),
        "policy_class": "protected" if said.get("pinned") else "durable" if policy == "protected" else policy,
        "key": said.get("key") or key_of(text),
        "source_messages": json.dumps(said.get("evidence", [])),
    }
    return Record(id=card.id, scope=spot.scope, text=text, changed_event=0, **values)


def _time(value: object) -> str | None:
    """Convert a time to how the database keeps it; None for none."""
    return stamp(datetime.fromisoformat(str(value)).astimezone(UTC)) if value else None


def _prefer(card: RecordFile, rival: RecordFile) -> bool:
    """Prefer the file that a crash did not leave behind, or that a person edited last."""
    return (card.revision, not card.is_unedited) > (rival.revision, not rival.is_unedited)


def _once_alive(found: list[ParsedRecord], problems: list[str]) -> list[ParsedRecord]:
    """Keep one alive of records that say the same, the oldest. The others become history."""
    taken: dict[tuple[str, str, str], str] = {}
    for at, each in enumerate(found):
        record = each.record
        if record.status != "active":
            continue
        first = taken.setdefault((record.scope, record.form, record.key), each.path)
        if first != each.path:
            problems.append(f"{each.path} says the same as {first}: it is kept as history.")
            found[at] = replace(each, record=record._replace(status="superseded"))
    return found


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _write(connection: Connection, found: list[ParsedRecord], at: datetime) -> None:
    act = ChangeContext(at, "owner", Sentence("reasons.rebuilt"))
    reserve_ids(connection, "event", max(each.card.revision for each in found))
    for each in found:
        event = events.add_event(
            connection, act.at, act.actor, "rebuilt", record=each.record.id, data={"reason": act.reason}
        )
        columns = each.record._replace(changed_event=event)._asdict()
        del columns["by"]  # it stands in the attributes
        store.insert_record(connection, columns)
        term_index.index_record(connection, each.record.id, each.record.scope)
    evidence = [turn for each in found for turn in each.record.source_message_ids]
    reserve_ids(connection, "inbox", max(evidence, default=0))


def _recognise(connection: Connection, root: Path, edited: Sequence[Record]) -> None:
    """Find the records in the files that many share, so that what memory forgot is not taken for a person's new word.

    edited: records whose cards a person changed: the line that still says the earlier words is theirs. Lines that no
    record says are left out of what is noted: the next look takes them for added ones.
    """
    for path in scan.list_files(root, {}):
        place = role_of(path)
        assert place is not None
        try:
            text = (root / path).read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue  # the mirror says what is wrong with it
        blocks: list[FileBlock] = []
        for chunk in list_layout.split(place.kind, text):
            said = list_layout.fact_text(place.kind, chunk)
            known = _find_record(connection, place, said) if said is not None else None
            if said is not None and known is None:
                shown = (record for record in edited if path in (path_of(record), entity_page_of(record)))
                known = _once_said_by(shown, said)
            if said is None or known is not None:
                blocks.append(FileBlock(chunk, known))
        blocks = list_layout.normalize_blocks(place.kind, blocks)
        list_file_rows.save_list_file(
            connection, path, list_layout.join_blocks(blocks), list_layout.encode_blocks(blocks)
        )


def _once_said_by(edited: Iterable[Record], said: str) -> int | None:
    """Find the record whose text is the likest to `said`, if it is like it at all."""
    likeness = {record.id: SequenceMatcher(None, record.text, said).ratio() for record in edited}
    likest = max(likeness, key=lambda number: likeness[number], default=None)
    return likest if likest is not None and likeness[likest] >= _ALIKE else None


def _find_record(connection: Connection, place: FileRole, said: str) -> int | None:
    if place.kind == "slot":
        known = store.slot_record(connection, place.scope, slot_form(place.detail), place.detail)
        return known.id if known is not None and known.text == said else None
    found = record_file_rows.record_with_key(connection, place.scope, key_of(said))
    return found.id if found is not None else None


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
