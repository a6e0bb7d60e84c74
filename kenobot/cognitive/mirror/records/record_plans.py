"""Plan which record files to write, with what text, and which to remove. Reads the database only."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, count
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import paths
from kenobot.cognitive.mirror.records import record_file_rows
from kenobot.cognitive.mirror.records.record_file_rows import RecordFileKind, RecordFileRow
from kenobot.cognitive.policy.control import FilesPolicy
from kenobot.cognitive.remember.boxes import list_topics
from kenobot.cognitive.remember.confidence import is_worth_artifact
from kenobot.cognitive.store import boxes, events, records
from kenobot.language.calendar import local_time
from kenobot.language.markdown import record_format
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.disk import FileStamp
from kenobot.storage.scopes import ALL_SCOPES


@dataclass(frozen=True, slots=True)
class RecordFilePlan:
    """A file to be written for a record. previous_row: the one that shows it now, here or elsewhere."""

    record: int
    row: RecordFileRow
    text: str
    previous_row: RecordFileRow | None

    @property
    def moved_from(self) -> RecordFileRow | None:
        """Name the file that this one takes the place of, if that stands elsewhere."""
        return self.previous_row if self.previous_row is not None and self.previous_row.path != self.row.path else None

    @property
    def expected(self) -> FileStamp | None:
        """Stamp of what must stand where this is to be written; None: nothing."""
        return self.previous_row.stamp if self.previous_row is not None and self.moved_from is None else None


def dirty_records(connection: Connection, cursor: int, again: set[int], *, complete: bool) -> tuple[int, list[int]]:
    """Query the newest event, and the records whose files may have to be written since `cursor`.

    A box tells of what lies in it, so it is written with that. complete: with those that have no file, which a process
    that died was about to write again.
    """
    event = events.last_record_event(connection)
    if event == cursor and not again and not complete:
        return event, []
    found = set(events.record_ids_touched_since(connection, cursor)) | again
    if complete:
        found.update(record_file_rows.records_without_file(connection, ALL_SCOPES))
    present = records.by_ids(connection, sorted(found), ALL_SCOPES)
    found.update(record_file_rows.boxes_of(connection, sorted(found)))
    if any(record_file_rows.is_purged(connection, gone) for gone in found - present.keys()):
        found.update(records.select_ids(connection, "form = 'box'", (), ALL_SCOPES))
    return event, sorted(found)


def plan_writes(
    connection: Connection, numbers: Sequence[int], zone: ZoneInfo, policy: FilesPolicy
) -> tuple[list[RecordFilePlan], list[tuple[RecordFileRow, FileStamp | None]]]:
    """Plan what to write for these records, and what to remove if it has this stamp, None: in any case."""
    by_id = records.by_ids(connection, numbers, ALL_SCOPES)
    plans: list[RecordFilePlan | None] = []
    removals: list[tuple[RecordFileRow, FileStamp | None]] = []
    for number in numbers:
        rows = {row.kind: row for row in record_file_rows.rows_of_record(connection, number)}
        record = by_id.get(number)
        if record is None:  # erased: a person's edit of it goes, too
            removals.extend((row, None) for row in rows.values())
            continue
        card, quote = rows.get("card"), rows.get("artifact")
        plans.append(_plan_file(connection, record, "card", card, render_record(connection, record, card, zone)))
        quoted = render_artifact(connection, record, policy)
        if quoted is not None and quote is None:  # once written it stays as it is, whatever the record says later
            plans.append(_plan_file(connection, record, "artifact", None, quoted))
        elif quoted is None and quote is not None:
            removals.append((quote, quote.stamp))
    return [plan for plan in plans if plan is not None], removals


def _plan_file(
    connection: Connection, record: Record, kind: RecordFileKind, row: RecordFileRow | None, text: str
) -> RecordFilePlan | None:
    """Plan how to write a file of `record`; None when it holds that already."""
    area: paths.Area = "artifacts" if kind == "artifact" else paths.area_of(record)
    folder, digest = paths.folder_of(record, area), record_format.file_checksum(text)
    if row is not None and paths.is_right_folder(row.folder, record, area):
        folder = row.folder
        if row.digest == digest:
            return None

    def is_free(name: str) -> bool:
        other = record_file_rows.row_at(connection, f"{folder}/{name}")
        return other is None or (other.record, other.kind) == (record.id, kind)

    others = (paths.name_of(record, str(salt)) for salt in count(1))
    name = next(filter(is_free, chain([row.name if row is not None else paths.name_of(record)], others)))
    extra_lines, line_ending = (row.extra_lines, row.line_ending) if row is not None else ((), "\n")
    planned = RecordFileRow(folder, name, kind, record.id, digest, extra_lines, line_ending)
    return RecordFilePlan(record.id, planned, text, row)


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def render_record(connection: Connection, record: Record, row: RecordFileRow | None, zone: ZoneInfo) -> str:
    """Render the file of `record` as it should be now."""
    links = record_file_rows.links_from(connection, record.id)
    body = _box_body(connection, record, zone) if record.form == "box" else None
    known = record._replace(
        changed_event=max(record.changed_event, record_file_rows.last_event_of(connection, record.id))
    )
    return record_format.render(known, links, row.extra_lines if row else (), row.line_ending if row else "\n", body)


def render_artifact(connection: Connection, record: Record, policy: FilesPolicy) -> str | None:
    """Quote `record` in the words in which it was first said; None for what is not worth it."""
    worth = is_worth_artifact(record.form, record.category, record.confidence, record.trust, policy)
    if record.status != "active" or not worth:
        return None
    head: dict[str, Json] = {
        "id": record.id,
        "artifact": True,
        "category": record.category,
        "scope": record.scope,
        "created": record.created,
    }
    first = record_file_rows.values_after(connection, record, 0).get("text", record.text)
    return record_format.with_checksum(head, _quote(str(first)))


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _box_body(connection: Connection, box: Record, zone: ZoneInfo) -> str:
    """List what lies in a box, as far as it is believed."""
    members = boxes.box_members(connection, box.id)
    known = records.by_ids(connection, [member.record for member in members], (box.scope,))
    alive = {number: record for number, record in known.items() if record.status == "active"}
    members = [member for member in members if member.record in alive]
    lines = [f"# {', '.join(list_topics(members)) or box.text}", ""]
    lines += [_tell_member(record.text, record.created, zone) for record in (alive[m.record] for m in members)]
    return "\n".join(lines).rstrip()


@lru_cache(maxsize=1024)  # a box is written anew with each memory that is laid into it
def _tell_member(text: str, created: str, zone: ZoneInfo) -> str:
    first = text.partition("\n")[0]
    return f"- {local_time(datetime.fromisoformat(created), zone)} {first}"
