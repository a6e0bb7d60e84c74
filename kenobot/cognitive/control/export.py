"""Export memory and import it again: every record of any status, with its past, links and evidence.

An export is a text of JSON lines, the first of which says what it is and how many lines of each kind follow. An import
checks all of it before it writes any, and writes in short transactions where a bot works beside it.
"""

import base64
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from kenobot.cognitive.control import export_format as form
from kenobot.cognitive.control import export_rows as rows
from kenobot.cognitive.control.export_format import LINE_KINDS, ImportFormatError
from kenobot.cognitive.control.forget import Actor
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.store import events, records, term_index
from kenobot.cognitive.store.change import tombstone_time
from kenobot.core import redaction
from kenobot.language.fingerprint import key_about, key_of
from kenobot.language.sanitize import sanitize
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.memory import CONFIDED, KEPT_ON_YES
from kenobot.ports.memory_files import MemoryImportReport
from kenobot.ports.sentences import Sentence
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.stepped_work import run_steps
from kenobot.storage.times import stamp

_EVERY = 1000  # lines between two reports of progress
_LIVE_FORMS_BY_WORDS = ("note", "episode")  # their key is that of their words, unless they fill a slot

_IDENTITY = "identity:"  # at the head of a state that is none of the database's
NO_IDENTITY: Mapping[str, str] = MappingProxyType({})

Progress = Callable[[int], None]


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def export(
    connection: Connection, reach: Scopes, at: datetime, identity: Mapping[str, str] = NO_IDENTITY
) -> Iterator[str]:
    """Iterate over the lines of an export of everything within `reach`. Read it within one transaction.

    identity: what the whole home has in files that no row holds, by name; as states that an older KenoBot passes over.
    """
    counts = {kind: sum(1 for _ in rows.export_rows(connection, kind, reach)) for kind in LINE_KINDS}
    counts["state"] += len(identity)
    yield _line("head", {"format": form.FORMAT, "version": form.VERSION, "exported": stamp(at), "counts": counts})
    for kind in LINE_KINDS:
        for row in rows.export_rows(connection, kind, reach):
            row.pop("changed_event", None)
            if kind == "vector":
                row.pop("hash")  # it is made of the words, and is made anew
                row["embedding"] = base64.b64encode(row["embedding"]).decode()
            yield _line(kind, row)
    yield from (_line("state", {"key": f"{_IDENTITY}{name}", "value": text}) for name, text in identity.items())


def _line(kind: str, content: dict[str, Any]) -> str:
    return json.dumps({kind: content}, ensure_ascii=False)


def count_confidences(connection: Connection, reach: Scopes) -> int:
    """Count the live records of an export that were told in confidence."""
    return records.count(connection, f"tags LIKE ? AND {records.LIVE}", (f'%"{CONFIDED}"%',), reach)


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """Counts of an export, for its import. turn: the highest inbox row that it names."""

    lines: int
    turn: int


def check_lines(lines: Iterable[str], is_memory_file: form.IsMemoryFile) -> ExportSummary:
    """Check an export before anything of it is put into memory. Raises ImportFormatError with the line's number."""
    head: form.HeadLine | None = None
    counts = dict.fromkeys(LINE_KINDS, 0)
    known = set[int]()
    number = turn = 0
    for number, kind, content in _parse_lines(lines, is_memory_file):
        match content:
            case form.HeadLine():
                head = content
                continue
            case form.RecordLine():
                if content.id in known:
                    raise ImportFormatError(number, f"record {content.id} stands there twice")
                known.add(content.id)
                turn = max(turn, *content.source_messages, 0)
            case form.MessageLine() | form.HiddenTurnLine():
                turn = max(turn, content.inbox_id or 0)
            case form.VectorLine():
                _numbers(number, content.embedding)
        for record in _list_named_records(content):
            if record not in known:
                raise _refuse_unknown(number, record)
        counts[kind] += 1
    if head is None:
        raise ImportFormatError(1, "invalid import format: the file is empty")
    for kind, count in head.counts.items():
        if counts.get(kind, 0) != count:
            raise ImportFormatError(
                number, f"the file ends early: it should hold {count} of {kind}, and holds {counts.get(kind, 0)}"
            )
    return ExportSummary(number, turn)


def _parse_lines(lines: Iterable[str], is_memory_file: form.IsMemoryFile) -> Iterator[tuple[int, str, Any]]:
    for number, text in enumerate(lines, 1):
        if len(text) > form.MAX_LINE_CHARS:
            raise ImportFormatError(number, "it is too long to be a line of an export")
        if not text.strip():
            raise ImportFormatError(number, "it is empty")
        yield number, *form.parse(text, number, is_memory_file)


def _list_named_records(content: Any) -> Iterator[int]:
    """Yield the records that a line speaks of, which must have come before it."""
    match content:
        case form.EventLine() | form.VectorLine() | form.HiddenTurnLine():
            if content.record_id is not None:
                yield content.record_id
        case form.LinkLine():
            yield from (content.src, content.dst)


def _refuse_unknown(number: int, record: int) -> ImportFormatError:
    return ImportFormatError(number, f"it speaks of record {record}, which has not come before")


def import_lines(
    connection: Connection,
    lines: Iterable[str],
    actor: Actor,
    is_memory_file: form.IsMemoryFile,
    progress: Progress | None = None,
) -> MemoryImportReport:
    """Put the lines of an export into memory, inside a transaction that the caller commits or, to try it, undoes.

    Raises ImportFormatError, with the number of the line, before anything is written.
    """
    lines = list(lines)
    summary = check_lines(lines, is_memory_file)
    return run_steps(import_in_steps(connection, lines, summary, actor, is_memory_file, progress))


def identity_in(lines: Iterable[str], is_memory_file: form.IsMemoryFile) -> dict[str, str]:
    """Find the texts of the identity folder in a checked export, by name."""
    states = (content for _, kind, content in _parse_lines(lines, is_memory_file) if kind == "state")
    return {each.key.removeprefix(_IDENTITY): each.value for each in states if each.key.startswith(_IDENTITY)}


def import_in_steps(
    connection: Connection,
    lines: Iterable[str],
    summary: ExportSummary,
    actor: Actor,
    is_memory_file: form.IsMemoryFile,
    progress: Progress | None = None,
) -> Generator[None, None, MemoryImportReport]:
    """Put the lines of an export that was checked into memory; a transaction may end at each yield.

    What is here already wins: a record of the same number and birth, or a live one of the same words. What was erased
    for good here stays out. Numbers are kept where they are free and mended in everything that refers to them. An
    import that is broken off is completed by the same one again.
    """
    intake = _Intake(connection, actor, summary.turn)
    for number, kind, content in _parse_lines(lines, is_memory_file):
        if kind != "head":
            intake.take(number, kind, content)
            yield
        if progress is not None and number % _EVERY == 0:
            progress(number)
    return (yield from intake.finish())


class _Intake:
    """State of an import: what became of the numbers of the file. A number that maps to None was left out."""

    def __init__(self, connection: Connection, deed: Actor, turn: int) -> None:
        self._connection = connection
        self._deed = deed
        self._report = MemoryImportReport(dict.fromkeys(LINE_KINDS, 0), dict.fromkeys(LINE_KINDS, 0))
        self._turns: dict[int, int] = {}
        self._records: dict[int, int | None] = {}
        self._events: dict[int, int] = {}
        self._fresh: dict[int, str] = {}
        self._resumed: set[int] = set()  # of these, what an import put in that was broken off
        self._offset = self._highest = rows.last_inbox_id(connection)  # inbox rows of the file get numbers above it
        rows.reserve_ids(connection, "inbox", self._offset + turn)  # what comes in meanwhile gets others
        self._last_event = 0

    def take(self, number: int, kind: str, content: Any) -> None:
        """Put one line in. Raises ImportFormatError."""
        match content:
            case form.MessageLine():
                self._count(kind, self._message(content))
            case form.RecordLine():
                self._record(number, content)
            case form.EventLine():
                self._take_event(number, content)
            case form.LinkLine():
                self._take_record_row(number, kind, content.model_dump(), "src", "dst")
            case form.VectorLine():
                embedding = _numbers(number, content.embedding)
                self._take_record_row(number, kind, {**content.model_dump(), "embedding": embedding}, "record_id")
            case form.HiddenTurnLine():
                turn = self._turn(content.inbox_id)
                record = self._map_record(number, content.record_id) if turn is not None else None
                if turn is not None and record is not None:
                    self._count(kind, len(conversation.hide_turns(self._connection, [turn], record)))
            case form.TombstoneLine():
                self._count(kind, rows.insert_row(self._connection, kind, content.model_dump()))
            case form.FileLine():
                self._file(content)
            case form.StateLine():
                fit = content.key.startswith(rows.EXPORTED_STATE_PREFIXES)
                self._count(kind, rows.insert_row(self._connection, "key_value", content.model_dump()) if fit else 0)

    def finish(self) -> Generator[None, None, MemoryImportReport]:
        """Tell of each new record that it was imported, so that files and prompts learn of it."""
        act = self._deed.change_context(Sentence("reasons.import"))
        told: dict[str, Json] = {"reason": act.reason}
        if self._fresh:
            told["part_of"] = events.add_event(self._connection, act.at, act.actor, "imported", data=told)
        for record, scope in self._fresh.items():
            event = events.add_event(self._connection, act.at, act.actor, "imported", record=record, data=told)
            records.set_changed_event(self._connection, record, scope, event)
            yield
        rows.reserve_ids(self._connection, "inbox", self._highest)
        return self._report

    def _count(self, kind: str, written: int) -> None:
        (self._report.added if written else self._report.already_known)[kind] += 1

    def _leave_out(self, why: str) -> None:
        self._report.skipped[why] = self._report.skipped.get(why, 0) + 1

    def _turn(self, turn: int) -> int | None:
        """Map an inbox row of the file to its number here; None for one of whose words nothing came along."""
        if turn in self._turns or self._offset:
            return self._turns.get(turn)
        self._highest = max(self._highest, turn)
        return turn

    def _message(self, line: form.MessageLine) -> int:
        known = conversation.find_message(self._connection, line.session, line.role, line.at, line.text)
        turn = line.inbox_id
        if known is not None:
            if turn is not None and known:
                self._turns.setdefault(turn, known)
            return 0
        if turn is not None:
            turn = self._turns.setdefault(turn, self._offset + turn)
            self._highest = max(self._highest, turn)
        text = sanitize(line.text, DEFAULT.max_text_chars * 100)
        return conversation.import_message(
            self._connection, line.session, line.role, text, line.at, turn, line.trust, line.scope
        )

    def _record(self, number: int, line: form.RecordLine) -> None:
        text = sanitize(line.text, DEFAULT.max_text_chars)
        by_words = line.form in _LIVE_FORMS_BY_WORDS and not line.key.startswith("slot:")
        said = {key_of(text), key_about(line.subject, text)}
        key = key_of(text) if (by_words and line.key not in said) or not line.key else line.key
        mine = rows.find_record(self._connection, line.id, line.scope, line.form, key, line.created)
        if mine is None and line.status == "active":
            twin = records.by_key(self._connection, line.scope, line.form, key)
            mine = twin.id if twin is not None else None
        self._records[line.id] = mine
        if mine is not None and rows.is_half_imported(self._connection, mine):
            self._fresh[mine] = line.scope
            self._resumed.add(mine)
            self._count("record", mine)
        elif mine is not None:
            self._count("record", 0)
        elif not text:
            self._leave_out("there is nothing in it")
        elif tombstone_time(self._connection, line.scope, key) is not None:
            self._leave_out("it was erased for good here")
        elif KEPT_ON_YES not in line.tags and (kind := redaction.find_secret(text)) is not None:
            self._leave_out(Sentence("reasons.looks_like", kind=kind))
        else:
            self._put_record(line, text, key)

    def _put_record(self, line: form.RecordLine, text: str, key: str) -> None:
        values = line.model_dump()
        sources = [turn for turn in map(self._turn, line.source_messages) if turn is not None]
        values |= {"text": text, "key": key, "source_messages": sources, "changed_event": 0}
        for name in ("valid_from", "updated", "last_seen"):
            values[name] = values[name] or line.created
        values["day"] = line.day or line.created[:10]
        fresh = not rows.exists(self._connection, "event", record_id=line.id)  # nor anything of one that is gone
        record = rows.insert_row(self._connection, "record", values) if fresh else 0
        if not record:  # the number is another's here
            del values["id"]
            record = rows.insert_row(self._connection, "record", values)
        self._records[line.id] = record
        self._fresh[record] = line.scope
        self._count("record", record)
        term_index.index_record(self._connection, record, line.scope)

    def _take_event(self, number: int, line: form.EventLine) -> None:
        record = None
        if line.record_id is None:
            told = {"type": line.type, "at": line.at, "actor": line.actor, "session": line.session}
            is_known = rows.exists(self._connection, "event", **told, record_id=None)
        else:
            record = self._map_record(number, line.record_id)
            happened = {"type": line.type, "at": line.at, "actor": line.actor}
            is_known = record not in self._fresh or (
                record in self._resumed and rows.exists(self._connection, "event", **happened, record_id=record)
            )
        if is_known:
            self._count("event", 0)
            return
        data = dict(line.data)
        for name, known in (("part_of", self._events), ("undoes", self._events), ("by", self._records)):
            said = data.get(name)
            if isinstance(said, int) and said in known:
                data[name] = known[said]
        if isinstance(links := data.get("links"), list):
            data["links"] = [[self._map_number(end) for end in pair] for pair in links if isinstance(pair, list)]
        values = {**line.model_dump(), "record_id": record, "data": data}
        self._last_event = max(self._last_event, events.last_event(self._connection))
        if line.id <= self._last_event:
            del values["id"]
        self._last_event = self._events[line.id] = rows.insert_row(self._connection, "event", values)
        self._count("event", self._last_event)

    def _map_number(self, number: Any) -> Any:
        return self._records.get(number, number) if isinstance(number, int) else number

    def _map_record(self, number: int, record: int) -> int | None:
        """Map a record of the file to its number here. Raises ImportFormatError for one that did not come before."""
        if record not in self._records:
            raise _refuse_unknown(number, record)
        return self._records[record]

    def _take_record_row(self, number: int, kind: str, values: dict[str, Any], *names: str) -> None:
        """Put in what belongs to records, unless one of these was left out."""
        for name in names:
            here = self._map_record(number, values[name])
            if here is None:
                return
            values[name] = here
        self._count(kind, rows.insert_row(self._connection, kind, values))

    def _file(self, line: form.FileLine) -> None:
        blocks: list[Json] = [self._map_number(block) for block in line.blocks]
        if rows.exists(self._connection, "list_file", path=line.path):
            self._count("file", 0)
        elif None in blocks:  # its text holds what was left out
            self._leave_out("it is a file with a memory that was left out")
        else:
            self._count("file", rows.insert_row(self._connection, "list_file", {**line.model_dump(), "blocks": blocks}))


def _numbers(number: int, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ImportFormatError(number, "vector.embedding: not base64") from None
