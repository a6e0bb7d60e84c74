"""What of memory's files is gone that should be there: what to hold back until the owner says that it was meant."""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Literal

from kenobot.cognitive.control import missing_files
from kenobot.cognitive.mirror import card_rows, list_layout, record_paths
from kenobot.cognitive.mirror.list_paths import FileRole, entity_page_of, path_of
from kenobot.cognitive.store import list_file_rows, records
from kenobot.ports.clock import Clock
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import FileStamp, ReadResult

log = logging.getLogger(__name__)

_SAVING = 1.0  # seconds that an editor may take between emptying a file and writing it
FileKey = tuple[str, str]  # folder and name


def unexpectedly_missing(connection: Connection, gone: Sequence[FileKey]) -> frozenset[FileKey]:
    """Those of the missing cards that should be there: none that a crash kept us from noting as moved or removed."""
    found = set()
    for folder, name in gone:
        spot, row = record_paths.location_of(folder), card_rows.row_at(connection, folder, name)
        if spot is None or row is None:
            continue
        record = records.get(connection, row.record, (spot.scope,)) if row.record is not None else None
        area: record_paths.Area | None = "artifacts" if row.kind == "artifact" else None
        if row.record is None or (record is not None and record_paths.is_right_folder(folder, record, area)):
            found.add((folder, name))
    return frozenset(found)


def record_loss(connection: Connection, files: Iterable[FileKey], at: datetime) -> None:
    """Note the cards that were lost, as far as a deletion would have forgotten what they say."""
    found: dict[int, str] = {}
    for folder, name in sorted(files):
        spot, row = record_paths.location_of(folder), card_rows.row_at(connection, folder, name)
        facts = spot is not None and spot.area == "facts" and not spot.archived
        if facts and row is not None and row.record is not None and row.kind == "card":
            found[row.record] = folder
    if found:
        missing_files.record_loss(connection, at, next(iter(found.values())), tuple(found))


class EmptiedFiles:
    """Files that are empty at once, and held so much that they were lost rather than emptied. least: how much that is.

    An editor that saves may empty a file first and write it then: so it counts only when it is empty still a little
    later.
    """

    def __init__(self, database: Database, clock: Clock, least: int) -> None:
        self._database = database
        self._clock = clock
        self._least = least
        self._since: dict[str, tuple[FileStamp | None, float]] = {}

    async def classify(self, path: str, place: FileRole, found: ReadResult) -> Literal["kept", "wait", "lost"]:
        """What an empty file that is known is: "wait" for the next look, or lost, which is noted."""
        if found.text is None or found.text.strip():
            self._since.pop(path, None)
            return "kept"
        gone = await self._database.read(partial(_said_in, path=path, place=place))
        if len(gone) < self._least:
            return "kept"
        stamp, since = self._since.get(path, (None, 0.0))
        if stamp != found.stamp:
            self._since[path] = (found.stamp, self._clock.monotonic())
            return "wait"
        if self._clock.monotonic() - since < _SAVING:
            return "wait"
        del self._since[path]
        at = self._clock.now()
        await self._database.write(lambda connection: missing_files.record_loss(connection, at, path, gone))
        log.warning("%s is empty at once: that looks like a loss, so it is written again.", path)
        return "lost"


def _said_in(connection: Connection, path: str, place: FileRole) -> tuple[int, ...]:
    """The live records that belong into a file and stood there when it was last written or read."""
    row = list_file_rows.list_file(connection, path)
    held = [
        block.record
        for block in (list_layout.decode_blocks(place.kind, *row) if row else [])
        if block.record is not None
    ]
    found = records.by_ids(connection, held, (place.scope,)).values()
    mine = (
        record for record in found if record.status == "active" and path in (path_of(record), entity_page_of(record))
    )
    return tuple(record.id for record in mine)
