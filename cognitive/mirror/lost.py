"""What of memory's files is gone that should be there: what to hold back until the owner says that it was meant."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from kenobot.cognitive import card_store, losses, store
from kenobot.cognitive.mirror import cardfiles, layout
from kenobot.cognitive.mirror.places import Place, page_of, path_of
from kenobot.db import Connection

File = tuple[str, str]  # folder and name


def missed(connection: Connection, gone: Sequence[File]) -> frozenset[File]:
    """Those of the missing cards that should be there: none that a crash kept us from noting as moved or removed."""
    found = set()
    for folder, name in gone:
        spot, row = cardfiles.spot_of(folder), card_store.at(connection, folder, name)
        if spot is None or row is None:
            continue
        record = store.get(connection, row.record, (spot.scope,)) if row.record is not None else None
        area: cardfiles.Area | None = "artifacts" if row.kind == "artifact" else None
        if row.record is None or (record is not None and cardfiles.right_place(folder, record, area)):
            found.add((folder, name))
    return frozenset(found)


def hold_back(connection: Connection, files: Iterable[File], at: datetime) -> None:
    """Note the cards that were lost, as far as a deletion would have forgotten what they say."""
    found: dict[int, str] = {}
    for folder, name in sorted(files):
        spot, row = cardfiles.spot_of(folder), card_store.at(connection, folder, name)
        facts = spot is not None and spot.area == "facts" and not spot.archived
        if facts and row is not None and row.record is not None and row.kind == "card":
            found[row.record] = folder
    if found:
        losses.hold_back(connection, at, next(iter(found.values())), tuple(found))


def is_lost(connection: Connection, path: str, place: Place, at: datetime, least: int) -> bool:
    """Whether a file that is empty now held so much that it was lost rather than emptied; then that is noted."""
    row = store.mirrored(connection, path)
    held = [block.record for block in (layout.thaw(place.kind, *row) if row else []) if block.record is not None]
    found = store.by_ids(connection, held, (place.scope,)).values()
    gone = [record.id for record in found if record.status == "active" and path in (path_of(record), page_of(record))]
    if len(gone) < least:
        return False
    losses.hold_back(connection, at, path, tuple(gone))
    return True
