"""Rows that say how far a pass has judged what was remembered: nothing is passed over, and nothing judged for ever."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.store.scopes import Scopes, scope_filter
from kenobot.storage.connection import Connection

_PAGE = 500


@dataclass(frozen=True, slots=True)
class PassWatermark:
    """How far a pass has come. event, record: the newest change it has judged, and of which record.

    last_asked: the newest record that a model has been asked about; None when none has been yet.
    """

    event: int = -1
    record: int = 0
    last_asked: int | None = None

    def event_data(self, name: str) -> dict[str, Json]:
        """What the event that keeps it says."""
        return {"by": name, "upto": self.event, "of": self.record, "asked": self.last_asked}


def load_watermark(connection: Connection, name: str) -> PassWatermark:
    """How far the pass of this name has come."""
    row = connection.execute(
        "SELECT data FROM event WHERE type = 'judged' AND json_extract(data, '$.by') = ? ORDER BY id DESC LIMIT 1",
        (name,),
    ).fetchone()
    if row is None:
        return PassWatermark()
    told = json.loads(row[0])
    return PassWatermark(int(told["upto"]), int(told["of"]), told["asked"])


def changed_since(connection: Connection, mark: PassWatermark, reach: Scopes) -> Iterator[Record]:
    """Live notes and episodes that came or were reworded after `mark`, by pages, in the order of that."""
    where, scopes = scope_filter(reach)
    after = (mark.event, mark.record)
    while True:
        rows = connection.execute(
            f"SELECT changed, id FROM record WHERE (changed, id) > (?, ?) AND status = 'active' AND +{where} "
            "AND form IN ('note', 'episode') ORDER BY changed, id LIMIT ?",
            (*after, *scopes, _PAGE),
        ).fetchall()
        if not rows:
            return
        after = rows[-1]
        found = store.by_ids(connection, [row[1] for row in rows], reach)
        yield from (found[number] for _, number in rows if number in found)


def not_yet_asked(connection: Connection, mark: PassWatermark, reach: Scopes, limit: int) -> list[Record]:
    """Live notes and episodes that a model was not asked about, oldest first, at most `limit`.

    Where it was never asked about any, the newest: the first night does not go through years.
    """
    where, scopes = scope_filter(reach)
    order = "ASC" if mark.last_asked is not None else "DESC"
    rows = connection.execute(
        f"SELECT id FROM record WHERE id > ? AND status = 'active' AND form IN ('note', 'episode') AND +{where} "
        f"AND source NOT IN ('sleep', 'import') ORDER BY id {order} LIMIT ?",
        (mark.last_asked or 0, *scopes, limit),
    ).fetchall()
    found = store.by_ids(connection, [row[0] for row in rows], reach)
    return [found[number] for number in sorted(found)]


def moved_by_sleep(connection: Connection, records: Sequence[int], kind: str) -> set[int]:
    """Those of `records` that sleep once moved by an event of this kind, whatever became of them."""
    rows = connection.execute(
        "SELECT DISTINCT record_id FROM event WHERE record_id IN (SELECT value FROM json_each(?)) "
        "AND type = ? AND actor = 'sleep'",
        (json.dumps(list(records)), kind),
    )
    return {row[0] for row in rows}
