"""Which files of cards are to be written, and which removed, for records that changed. Reads the database only."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import card_rows, record_paths, record_text
from kenobot.cognitive.mirror import record_format as cards
from kenobot.cognitive.mirror.card_rows import RecordFileKind, RecordFileRow
from kenobot.cognitive.policy.files import FilesPolicy
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.storage.connection import Connection
from kenobot.storage.disk import FileStamp


@dataclass(frozen=True, slots=True)
class RecordFilePlan:
    """A file to be written for a record. previous_row: the one that shows it now, here or elsewhere."""

    record: int
    row: RecordFileRow
    text: str
    previous_row: RecordFileRow | None

    @property
    def moved_from(self) -> RecordFileRow | None:
        """The file that this one takes the place of, if that stands elsewhere."""
        return self.previous_row if self.previous_row is not None and self.previous_row.path != self.row.path else None

    @property
    def expected(self) -> FileStamp | None:
        """What must stand where this is to be written; None: nothing."""
        return self.previous_row.stamp if self.previous_row is not None and self.moved_from is None else None


def dirty_records(connection: Connection, cursor: int, again: set[int]) -> tuple[int, list[int]]:
    """The newest event of a record, and the records whose files may have to be written: of events after `cursor`.

    A box tells of what lies in it, so it is written with that.
    """
    found = set(events.record_ids_touched_since(connection, cursor)) | again
    if cursor == 0:
        found.update(card_rows.records_without_file(connection, ALL_SCOPES))
    present = store.by_ids(connection, sorted(found), ALL_SCOPES)
    found.update(card_rows.boxes_of(connection, sorted(found)))
    if len(present) < len(found) and any(card_rows.is_purged(connection, gone) for gone in found - present.keys()):
        found.update(card_rows.all_boxes(connection, ALL_SCOPES))
    return events.last_record_event(connection), sorted(found)


def plan_writes(
    connection: Connection, numbers: Sequence[int], zone: ZoneInfo, policy: FilesPolicy
) -> tuple[list[RecordFilePlan], list[tuple[RecordFileRow, FileStamp | None]]]:
    """What is to be written for these records; and what to remove, with the stamp it must have, None: in any case."""
    records = store.by_ids(connection, numbers, ALL_SCOPES)
    plans: list[RecordFilePlan | None] = []
    removals: list[tuple[RecordFileRow, FileStamp | None]] = []
    for number in numbers:
        rows = {row.kind: row for row in card_rows.rows_of_record(connection, number)}
        record = records.get(number)
        if record is None:  # erased: a person's edit of it goes, too
            removals.extend((row, None) for row in rows.values())
            continue
        card, quote = rows.get("card"), rows.get("artifact")
        plans.append(
            _plan_file(connection, record, "card", card, record_text.render_record(connection, record, card, zone))
        )
        quoted = record_text.render_artifact(connection, record, policy)
        if quoted is not None and quote is None:  # once written it stays as it is, whatever the record says later
            plans.append(_plan_file(connection, record, "artifact", None, quoted))
        elif quoted is None and quote is not None:
            removals.append((quote, quote.stamp))
    return [plan for plan in plans if plan is not None], removals


def _plan_file(
    connection: Connection, record: store.Record, kind: RecordFileKind, row: RecordFileRow | None, text: str
) -> RecordFilePlan | None:
    """How to write a file of `record`; None when it holds that already."""
    area: record_paths.Area = "artifacts" if kind == "artifact" else record_paths.area_of(record)
    folder, digest = record_paths.folder_of(record, area), cards.file_checksum(text)
    if row is not None and record_paths.is_right_folder(row.folder, record, area):
        folder = row.folder
        if row.digest == digest:
            return None
    name = row.name if row is not None else record_paths.name_of(record)
    salt = 0
    while (other := card_rows.row_at(connection, f"{folder}/{name}")) is not None and (other.record, other.kind) != (
        record.id,
        kind,
    ):
        salt += 1
        name = record_paths.name_of(record, str(salt))
    extra_lines, line_ending = (row.extra_lines, row.line_ending) if row is not None else ((), "\n")
    planned = RecordFileRow(folder, name, kind, record.id, digest, extra_lines, line_ending)
    return RecordFilePlan(record.id, planned, text, row)
