"""Rows of a pass's watermark: how far it has judged what was remembered, so nothing is missed or judged twice."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import FACTS, LIVE, Json, Record
from kenobot.cognitive.store.scopes import ALL_SCOPES, scope_filter
from kenobot.storage.connection import Connection

_PAGE = 500
where, _ = scope_filter(ALL_SCOPES)


@dataclass(frozen=True, slots=True)
class PassWatermark:
    """The newest change that a pass has judged, and of which record. last_asked: the newest record asked about."""

    event: int = -1
    record: int = 0
    last_asked: int | None = None

    def event_data(self, name: str) -> dict[str, Json]:
        """The data of the event that keeps it."""
        return {"by": name, "upto": self.event, "of": self.record, "asked": self.last_asked}


def load_watermark(connection: Connection, name: str) -> PassWatermark:
    """The watermark of a pass."""
    row = connection.execute(
        "SELECT data FROM event WHERE type = 'judged' AND json_extract(data, '$.by') = ? ORDER BY id DESC LIMIT 1",
        (name,),
    ).fetchone()
    if row is None:
        return PassWatermark()
    data = json.loads(row[0])
    return PassWatermark(int(data["upto"]), int(data["of"]), data["asked"])


def changed_since(connection: Connection, mark: PassWatermark) -> Iterator[Record]:
    """Live facts that came or were reworded after `mark`, in the order of that."""
    after = (mark.event, mark.record)
    while True:
        rows = connection.execute(
            f"SELECT changed_event, id FROM record WHERE (changed_event, id) > (?, ?) AND {LIVE} AND +{where} "
            f"AND {FACTS} ORDER BY changed_event, id LIMIT ?",
            (*after, _PAGE),
        ).fetchall()
        if not rows:
            return
        after = rows[-1]
        records = store.by_ids(connection, [row[1] for row in rows], ALL_SCOPES)
        yield from (records[number] for _, number in rows if number in records)


def not_yet_asked(connection: Connection, mark: PassWatermark, limit: int) -> list[Record]:
    """Live facts that a model was not asked about, oldest first.

    Without an earlier question they are the newest: the first night does not go through years.
    """
    order = "ASC" if mark.last_asked is not None else "DESC"
    condition = f"id > ? AND {LIVE} AND {FACTS} AND source NOT IN ('sleep', 'import')"
    records = store.select(
        connection, condition, (mark.last_asked or 0,), ALL_SCOPES, order=f"id {order}", limit=limit, scan_scope=False
    )
    return sorted(records, key=lambda record: record.id)
