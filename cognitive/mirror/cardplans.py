"""Which files of cards are to be written, and which removed, for records that changed. Reads the database only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import card as cards
from kenobot.cognitive.mirror import card_rows, cardfiles, cardtext
from kenobot.cognitive.mirror.card_rows import Kind, Row
from kenobot.cognitive.mirror.files import Stamp
from kenobot.cognitive.policy.files import DiskPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.scopes import WHOLE_HOME
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class Plan:
    """A file to be written for a record. before: the one that shows it now, here or elsewhere."""

    row: Row
    text: str
    before: Row | None

    @property
    def moved(self) -> Row | None:
        """The file that this one takes the place of, if that stands elsewhere."""
        return self.before if self.before is not None and self.before.path != self.row.path else None

    @property
    def expected(self) -> Stamp | None:
        """What must stand where this is to be written; None: nothing."""
        return stamp(self.before) if self.before is not None and self.moved is None else None


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done on disk. erased: files of records that are gone, whatever stands there now."""

    plans: tuple[Plan, ...]
    outdated: tuple[Row, ...]
    erased: tuple[Row, ...]


def stamp(row: Row) -> Stamp:
    """The file as it was noted."""
    return Stamp(row.mtime, row.size, row.inode)


def stamped(row: Row, seen: Stamp) -> Row:
    return replace(row, mtime=seen.mtime_ns, size=seen.size, inode=seen.inode)


def dirty(connection: Connection, cursor: int, again: set[int]) -> tuple[int, list[int]]:
    """The newest event of a record, and the records whose files may have to be written: of events after `cursor`.

    A box tells of what lies in it, so it is written with that.
    """
    found = set(store.touched_since(connection, cursor)) | again
    if cursor == 0:
        found.update(card_rows.unwritten(connection, WHOLE_HOME))
    present = store.by_ids(connection, sorted(found), WHOLE_HOME)
    found.update(card_rows.boxes_with(connection, sorted(found)))
    if len(present) < len(found) and any(card_rows.purged(connection, gone) for gone in found - present.keys()):
        found.update(card_rows.boxes(connection, WHOLE_HOME))
    return store.last_touch(connection), sorted(found)


def plan(connection: Connection, numbers: Sequence[int], zone: ZoneInfo, policy: DiskPolicy) -> Work:
    """What is to be written, and what to be removed, for these records."""
    records = store.by_ids(connection, numbers, WHOLE_HOME)
    plans: list[Plan] = []
    outdated: list[Row] = []
    erased: list[Row] = []
    for number in numbers:
        rows = {row.kind: row for row in card_rows.of_record(connection, number)}
        record = records.get(number)
        if record is None:
            erased.extend(rows.values())
            continue
        card, quote = rows.get("card"), rows.get("artifact")
        plans.extend(_file(connection, record, "card", card, cardtext.compose(connection, record, card, zone)))
        quoted = cardtext.artifact(connection, record, policy)
        if quoted is not None and quote is None:  # once written it stays as it is, whatever the record says later
            plans.extend(_file(connection, record, "artifact", quote, quoted))
        elif quoted is None and quote is not None:
            outdated.append(quote)
    return Work(tuple(plans), tuple(outdated), tuple(erased))


def _file(connection: Connection, record: store.Record, kind: Kind, row: Row | None, text: str) -> list[Plan]:
    """How to write a file of `record`; nothing when it holds that already."""
    area: cardfiles.Area = "artifacts" if kind == "artifact" else cardfiles.area_of(record)
    folder, digest = cardfiles.folder_of(record, area), cards.checksum_of(text)
    if row is not None and cardfiles.right_place(row.folder, record, area):
        folder = row.folder
        if row.digest == digest:
            return []
    name = row.name if row is not None else cardfiles.name_of(record)
    salt = 0
    while (other := card_rows.at(connection, folder, name)) is not None and (other.record, other.kind) != (
        record.id,
        kind,
    ):
        salt += 1
        name = cardfiles.name_of(record, str(salt))
    rest, ends = (row.rest, row.ends) if row is not None else ((), "\n")
    return [Plan(Row(folder, name, kind, record.id, digest, rest, ends, 0, 0, 0), text, row)]
