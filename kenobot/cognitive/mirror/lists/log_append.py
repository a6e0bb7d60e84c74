"""Plan how a day's log grows by what is new, without laying out again what stands there. Reads the database only.

It goes only where the whole layout would give the same: nothing that stands in the log has changed, and what is new
comes after it.
"""

from collections.abc import Collection, Iterator, Sequence

from kenobot.cognitive.mirror.lists.list_view import ListFile
from kenobot.cognitive.store import records as store
from kenobot.language.markdown import list_layout
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record


@dataclass(frozen=True, slots=True)
class TouchedRecords:
    """Records that events after `cursor` speak of, or that were to be written before and were not."""

    cursor: int
    ids: Collection[int]


@dataclass(frozen=True, slots=True)
class LogAppend:
    """Append to a log: the text and the records, as `list_layout.encode_blocks` has them."""

    text: str
    blocks: Sequence[str | int]


def plan_append(file: ListFile, touched: TouchedRecords) -> LogAppend | None:
    """Plan what to append to a log that is as it was noted; None where it has to be laid out anew."""
    noted = file.noted_text
    if noted is None or (noted and not noted.endswith("\n\n")) or file.role.stays_empty:
        return None
    standing = {block for block in file.noted_ids if isinstance(block, int)}
    found = store.by_ids(file.connection, [*touched.ids], file.reach)
    if any(number in standing and number not in found for number in touched.ids):
        return None
    new: list[Record] = []
    for record in found.values():
        if record.id not in standing:
            new += [record] if record.status == "active" and file.shows(record) else []
        elif record.changed_event > touched.cursor or record.status != "active" or not file.shows(record):
            return None
    items = [file.item(record) for record in sorted(new, key=lambda record: record.id)]
    chunks = [list_layout.render("daily", item) for item in items]
    literal = {list_layout.fact_text("daily", block) for block in _literals(file.noted_ids)} if items else set()
    text = "".join(chunks)
    if any(item.text.strip() in literal for item in items) or list_layout.split("daily", text) != chunks:
        return None
    return LogAppend(text, [*file.noted_ids, *(item.id for item in items)])


def _literals(blocks: Sequence[str | int]) -> Iterator[str]:
    return (block for block in blocks if isinstance(block, str))
