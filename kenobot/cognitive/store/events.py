"""Rows of events: what happened to memory, in order. Ids only grow."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from kenobot.cognitive.store.records import AMONG, SAYS
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.records import EventRow, Record
from kenobot.ports.sentences import Sentence, pack
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import scope_filter
from kenobot.storage.times import stamp

_LATELY = 100_000  # events of the home that a search for the last change goes through


_EVENT = "event.id, event.at, event.session, event.actor, event.type, event.record_id, event.data"


def newest_events(connection: Connection, scopes: tuple[str, ...], besides: Sequence[str]) -> Iterator[EventRow]:
    """Return what happened to the records of these scopes, the newest first, but for what the actors `besides` did.

    Of what happened to anybody, only the last hundred thousand events are looked at.
    """
    where, values = scope_filter(scopes)
    others = ", ".join("?" * len(besides))
    rows = connection.execute(
        f"SELECT {_EVENT} FROM event JOIN record ON record.id = event.record_id WHERE record.{where} "
        f"AND event.id > (SELECT coalesce(max(id), 0) FROM event) - {_LATELY} "
        f"AND event.actor NOT IN ({others}) AND record.{SAYS} ORDER BY event.id DESC",
        (*values, *besides),
    )
    yield from map(_happening, rows)


def get_event(connection: Connection, number: int) -> EventRow | None:
    """Return an event by its id."""
    row = connection.execute(f"SELECT {_EVENT} FROM event WHERE id = ?", (number,)).fetchone()
    return _happening(row) if row else None


def record_events(connection: Connection, record: int) -> list[EventRow]:
    """Return everything that happened to a record, in order."""
    rows = connection.execute(f"SELECT {_EVENT} FROM event WHERE record_id = ? ORDER BY id", (record,))
    return [_happening(row) for row in rows]


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """Events of records after a moment, by record, the newest first. born_before: records with an earlier one."""

    changes: Mapping[int, Sequence[EventRow]]
    born_before: frozenset[int]


def changes_since(connection: Connection, numbers: Sequence[int], moment: str) -> ChangesSince:
    """Read what happened to each of these records after a moment, ISO-8601 text."""
    ids, changes = json.dumps([*numbers]), dict[int, list[EventRow]]()
    rows = connection.execute(
        f"SELECT {_EVENT} FROM event WHERE record_id {AMONG} AND at > ? ORDER BY id DESC", (ids, moment)
    )
    for row in rows:
        happened = _happening(row)
        changes.setdefault(happened.record or 0, []).append(happened)
    earlier = connection.execute(
        f"SELECT DISTINCT record_id FROM event WHERE record_id {AMONG} AND at <= ?", (ids, moment)
    )
    return ChangesSince(changes, frozenset(row[0] for row in earlier))


def decision_events(connection: Connection, root: int) -> list[EventRow]:
    """Return the events of a decision, in order: the one that it is named after, and those that are part of it."""
    first = get_event(connection, root)
    if first is None:
        return []
    rows = connection.execute(
        f"SELECT {_EVENT} FROM event WHERE json_extract(data, '$.part_of') = ? ORDER BY id", (root,)
    )
    return [first, *(_happening(row) for row in rows)]


def find_undo(connection: Connection, root: int) -> int | None:
    """Return the event that last undid a decision; None when none did, or what undid it was itself undone."""
    row = connection.execute(
        "SELECT coalesce(json_extract(data, '$.part_of'), id) FROM event "
        "WHERE type = 'undone' AND id > ? AND json_extract(data, '$.undoes') = ? "
        "ORDER BY id DESC LIMIT 1",
        (root, root),
    ).fetchone()
    if row is None or find_undo(connection, int(row[0])) is not None:
        return None
    return int(row[0])


def extend_event(connection: Connection, number: int, more: Mapping[str, Json]) -> None:
    """Add to what an event of this very transaction tells."""
    connection.execute(
        "UPDATE event SET data = json_patch(data, ?) WHERE id = ?", (json.dumps(more, ensure_ascii=False), number)
    )


def _happening(row: tuple[int, str, str, str, str, int | None, str]) -> EventRow:
    return EventRow(row[0], row[1], row[2], row[3], row[4], row[5], json.loads(row[6] or "{}"))


def events_containing(connection: Connection, piece: str) -> list[EventRow]:
    """Return events whose data hold `piece`, spelled as JSON spells it."""
    rows = connection.execute(f"SELECT {_EVENT} FROM event WHERE instr(data, ?)", (piece,))
    return [_happening(row) for row in rows]


def add_event(
    connection: Connection,
    at: datetime,
    actor: str,
    kind: str,
    *,
    session: str = "",
    record: int | None = None,
    data: Mapping[str, Json] | None = None,
) -> int:
    """Append to what happened; returns the event's id. Ids only grow.

    A reason that has a key is written as a sentence and, for other languages, by its key and values.
    """
    told = dict(data or {})
    if isinstance(reason := told.get("reason"), Sentence):
        told["said"] = pack(reason)
    cursor = connection.execute(
        "INSERT INTO event (at, session, actor, type, record_id, data) VALUES (?, ?, ?, ?, ?, ?)",
        (stamp(at), session, actor, kind, record, json.dumps(told, ensure_ascii=False)),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def last_event(connection: Connection) -> int:
    """Return the id of the newest event, 0 when nothing has happened yet."""
    row = connection.execute("SELECT max(id) FROM event").fetchone()
    return int(row[0] or 0)


def last_record_event(connection: Connection) -> int:
    """Return the id of the newest event that speaks of a record, 0 before there is one.

    Records change with such alone.
    """
    row = connection.execute("SELECT id FROM event WHERE +record_id IS NOT NULL ORDER BY id DESC LIMIT 1").fetchone()
    return int(row[0]) if row else 0


def record_ids_touched_since(connection: Connection, event: int) -> list[int]:
    """Return ids of the records, of any scope, that events after `event` speak of, also of such as are gone."""
    # By the numbers of events, not by the index of records, which would read all that ever happened: hence the plus.
    rows = connection.execute(
        "SELECT DISTINCT +record_id FROM event WHERE id > ? AND +record_id IS NOT NULL ORDER BY +record_id", (event,)
    )
    return [row[0] for row in rows]


def list_purged_messages(connection: Connection, low: int, high: int) -> list[int]:
    """Return the messages that purges among the events above `low` up to `high` blanked."""
    rows = connection.execute(
        "SELECT value FROM event, json_each(event.data, '$.messages') WHERE event.id > ? AND event.id <= ? "
        "AND event.type = 'purged'",
        (low, high),
    )
    return [int(row[0]) for row in rows]


def has_purge(connection: Connection, low: int, high: int | None = None) -> bool:
    """Return whether the events above `low` up to `high`, by default the newest, purged anything."""
    row = connection.execute(
        "SELECT 1 FROM event WHERE type = 'purged' AND id > ? AND id <= coalesce(?, id) LIMIT 1", (low, high)
    ).fetchone()
    return row is not None


def dead_twin(connection: Connection, scope: str, key: str, event: int) -> int | None:
    """Return a record with this key that came after `event` and is no longer live."""
    # From the words to the events, not the other way round, which would read all that came since: hence the order.
    row = connection.execute(
        "SELECT record.id FROM record CROSS JOIN event ON event.record_id = record.id WHERE key = ? AND scope = ? "
        "AND status != 'active' AND event.id > ? AND event.type = 'created' ORDER BY event.id DESC LIMIT 1",
        (key, scope, event),
    ).fetchone()
    return row[0] if row else None


def was_previous_text(connection: Connection, record: Record, text: str, event: int) -> bool:
    """Return whether `text` is what a record said until something that happened after `event`."""
    row = connection.execute(
        "SELECT 1 FROM event JOIN record ON record.id = event.record_id WHERE record_id = ? AND scope = ? "
        "AND event.id > ? AND json_extract(data, '$.was.text') = ? LIMIT 1",
        (record.id, record.scope, event, text),
    ).fetchone()
    return row is not None


def list_reworded_since(connection: Connection, event: int) -> list[int]:
    """Query the records that came to say something else, or ended, after `event`."""
    rows = connection.execute(
        "SELECT DISTINCT +record_id FROM event WHERE id > ? AND +record_id IS NOT NULL AND "
        "coalesce(json_extract(data, '$.was.text'), json_extract(data, '$.was.status')) IS NOT NULL",
        (event,),
    )
    return [row[0] for row in rows]


def last_decision_on(connection: Connection, record: int) -> int | None:
    """Return the decision that last concerned a record: what its parts are filed under."""
    row = connection.execute(
        "SELECT id, json_extract(data, '$.part_of') FROM event WHERE record_id = ? ORDER BY id DESC LIMIT 1", (record,)
    ).fetchone()
    return (row[1] or row[0]) if row else None


def last_of_kind(connection: Connection, record: int, kind: str) -> EventRow | None:
    """Return the newest event of a kind about a record."""
    row = connection.execute(
        f"SELECT {_EVENT} FROM event WHERE record_id = ? AND type = ? ORDER BY id DESC LIMIT 1", (record, kind)
    ).fetchone()
    return _happening(row) if row else None


def last_change_was_undo(connection: Connection, record: int) -> bool:
    """Return whether what happened to a record last is that a decision about it was undone."""
    row = connection.execute(
        "SELECT type FROM event WHERE record_id = ? ORDER BY id DESC LIMIT 1", (record,)
    ).fetchone()
    return row is not None and row[0] == "undone"


def past_texts(connection: Connection, record: int, limit: int) -> list[str]:
    """Read the texts that a record had before its last `limit` events, newest first, each once."""
    rows = connection.execute(
        "SELECT json_extract(data, '$.was.text') FROM (SELECT data FROM event WHERE record_id = ? "
        "ORDER BY id DESC LIMIT ?)",
        (record, limit),
    )
    return list(dict.fromkeys(str(row[0]) for row in rows if row[0] is not None))
