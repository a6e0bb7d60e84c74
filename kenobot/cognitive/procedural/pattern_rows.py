"""Query the live patterns of scopes, and the replies that they were shown for."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from kenobot.cognitive.store import records as store
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_filter

_LIVE_PATTERN = "form = 'procedure' AND status = 'active'"


@dataclass(frozen=True, slots=True)
class ShownReply:
    """A reply whose prompt showed patterns. records: of the patterns."""

    inbox: int
    at: str
    records: tuple[int, ...]
    reply: str


def live_patterns(connection: Connection, reach: Scopes, limit: int) -> list[Record]:
    """Query the newest `limit` live patterns within `reach`, in the order they came."""
    found = store.select(connection, _LIVE_PATTERN, (), reach, order="id DESC", limit=limit, scan_scope=False)
    return found[::-1]


def iter_patterns(connection: Connection, reach: Scopes) -> Iterator[Record]:
    """Iterate over all live patterns within `reach`, in the order they came."""
    return store.pages(connection, _LIVE_PATTERN, (), reach, scan_scope=False)


def is_touched_since(connection: Connection, event: int) -> bool:
    """Tell whether a pattern was changed or shown after an event."""
    row = connection.execute(
        "SELECT 1 FROM event LEFT JOIN record ON record.id = event.record_id WHERE event.id > ? AND ("
        "(event.record_id IS NOT NULL AND coalesce(record.form, 'procedure') = 'procedure') OR EXISTS "
        "(SELECT 1 FROM json_each(event.data, '$.records') AS shown JOIN record AS pattern ON pattern.id = shown.value "
        "WHERE event.type = 'recalled' AND pattern.form = 'procedure')) LIMIT 1",
        (event,),
    ).fetchone()
    return row is not None


def figures_by_pattern(connection: Connection, reach: Scopes, limit: int) -> dict[int, tuple[object, ...]]:
    """Query figures of the newest `limit` live patterns, which differ once one has changed, in the order they came."""
    rows = _select_newest(connection, "id, use_count, confidence, updated, changed_event", reach, limit)
    return {row[0]: row[1:] for row in reversed(rows)}


def live_texts(connection: Connection, reach: Scopes, limit: int) -> list[tuple[int, str, float]]:
    """Query number, text and confidence of the newest `limit` live patterns within `reach`."""
    return _select_newest(connection, "id, text, confidence", reach, limit)


def _select_newest(connection: Connection, columns: str, reach: Scopes, limit: int) -> list[Any]:
    where, scopes = scope_filter(reach)
    sql = f"SELECT {columns} FROM record WHERE {_LIVE_PATTERN} AND +{where} ORDER BY id DESC LIMIT ?"
    return connection.execute(sql, (*scopes, limit)).fetchall()


def select_learned_from(connection: Connection, records: Sequence[int], reach: Scopes) -> dict[int, str]:
    """Select those of `records` of which a pattern was made, each with when that was first done."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        "SELECT dst, min(first_at) FROM link JOIN record ON record.id = link.src WHERE type = 'derived' "
        f"AND form = 'procedure' AND dst IN (SELECT value FROM json_each(?)) AND +{where} GROUP BY dst",
        (json.dumps(list(records)), *scopes),
    )
    return {row[0]: row[1] for row in rows}


def recent_replies(connection: Connection, session: str, limit: int) -> list[ShownReply]:
    """Query the last replies of a conversation whose prompts showed patterns, the newest first, among `limit`."""
    events = connection.execute(
        "SELECT at, data FROM event WHERE type = 'recalled' AND session = ? ORDER BY id DESC", (session,)
    )
    return [reply for reply in islice(_replies(connection, session, events), limit) if reply.records]


def _replies(connection: Connection, session: str, events: Iterable[tuple[str, str]]) -> Iterator[ShownReply]:
    for at, text in events:
        data = json.loads(text)
        shown = tuple(int(each["record"]) for each in data.get("practice", ()))
        for message in message_rows.messages_of_turns(connection, [data.get("inbox")]):
            if message.role == "assistant" and message.session == session:
                yield ShownReply(int(data["inbox"]), at, shown, message.text)


def outcome_counts(connection: Connection, least_worked: int) -> dict[int, tuple[int, int]]:
    """Query how often each pattern is recorded to have worked and failed; of those that worked so often at least."""
    rows = connection.execute(
        "SELECT record_id, sum(type = 'worked') AS worked, sum(type = 'failed') FROM event "
        "WHERE type IN ('worked', 'failed') AND record_id IS NOT NULL GROUP BY record_id HAVING worked >= ?",
        (least_worked,),
    )
    return {number: (int(worked), int(failed)) for number, worked, failed in rows}


def has_outcome(connection: Connection, record: int, inbox: int) -> bool:
    """Tell whether a pattern's outcome in the reply to a message is recorded."""
    row = connection.execute(
        "SELECT 1 FROM event WHERE record_id = ? AND type IN ('worked', 'failed') "
        "AND json_extract(data, '$.inbox') = ? LIMIT 1",
        (record, inbox),
    ).fetchone()
    return row is not None
