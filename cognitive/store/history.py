"""Rows for the hands on memory: finding a record by what a person calls it, its past, its veil, and its erasure.

As in `kenobot.cognitive.store.records`, whatever reads people's words says within which scopes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.store.scopes import Scopes, scope_filter, scope_names
from kenobot.storage.connection import Connection

_MANY = 500  # placeholders of one statement
_LATELY = 100_000  # events of the home that a search for the last change goes through
_SAYS = "form != 'box'"  # a box only holds others together: it says nothing
_AFTER_ALL = "\U0010ffff"  # sorts behind whatever a key may go on with


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as it was written. data: what it tells, `previous_values` included."""

    id: int
    at: str
    session: str
    actor: str
    kind: str
    record: int | None
    data: Mapping[str, Json]

    @property
    def previous_values(self) -> dict[str, str | int | float | None]:
        """What the event overwrote, by column."""
        found = self.data.get("was")
        return (
            {str(k): v for k, v in found.items() if not isinstance(v, list | dict)} if isinstance(found, dict) else {}
        )

    @property
    def decision_id(self) -> int:
        """The event of the decision that this one belongs to: its own when it stands alone."""
        part = self.data.get("part_of")
        return part if isinstance(part, int) and not isinstance(part, bool) else self.id


_EVENT = "event.id, event.at, event.session, event.actor, event.type, event.record_id, event.data"


# ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────────


def ids_with_key_prefix(connection: Connection, prefix: str, reach: Scopes, limit: int) -> list[int]:
    """Records whose key begins with `prefix`, live ones first. `%` and `_` are letters like any other."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        # By their keys, not by an index of scopes, which would read all that the scopes hold: hence the plus.
        f"SELECT id FROM record WHERE key >= ? AND key < ? AND +{where} ORDER BY status != 'active', id DESC LIMIT ?",
        (prefix, prefix + _AFTER_ALL, *scopes, limit),
    )
    return [row[0] for row in rows]


def newest_live(connection: Connection, reach: Scopes, limit: int) -> Iterator[tuple[int, str]]:
    """Id and text of live records, what became known or changed last first. Reads no more than it gives, or little."""
    newest = "ORDER BY changed DESC, id DESC LIMIT ?"
    found: list[tuple[int, int, str]] = []
    each: list[Scopes] = [(scope,) for scope in scope_names(reach) or ()]  # one by one: then an index has their order
    for part in each or [reach]:
        where, scopes = scope_filter(part)
        found += connection.execute(
            f"SELECT changed, id, text FROM record WHERE status = 'active' AND {_SAYS} AND {where} {newest}",
            (*scopes, limit),
        )
    yield from ((number, text) for _, number, text in sorted(found, reverse=True)[:limit])


def ids_containing_text(connection: Connection, piece: str, reach: Scopes) -> list[int]:
    """Records, of any status, whose text holds `piece`, whatever the case of its ASCII letters."""
    where, scopes = scope_filter(reach)
    literal = piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = connection.execute(  # in the order they stand, hence the plus
        f"SELECT id FROM record WHERE text LIKE ? ESCAPE '\\' AND {_SAYS} AND +{where} ORDER BY id",
        (f"%{literal}%", *scopes),
    )
    return [row[0] for row in rows]


def list_records(
    connection: Connection, reach: Scopes, statuses: Sequence[str], forms: Sequence[str], limit: int
) -> list[Record]:
    """Records of these statuses and forms (none: of any), the newest first."""
    where, values = scope_filter(reach)
    conditions, asked = [where], list[str | int](values)
    for column, wanted in (("status", statuses), ("form", forms)):
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            asked += wanted
    where = " AND ".join(conditions)
    rows = connection.execute(f"SELECT id FROM record WHERE {where} ORDER BY id DESC LIMIT ?", (*asked, limit))
    numbers = [row[0] for row in rows]
    records = store.by_ids(connection, numbers, reach)
    return [records[number] for number in numbers]


def newest_events(connection: Connection, scopes: tuple[str, ...], besides: Sequence[str]) -> Iterator[EventRow]:
    """What happened to the records of these scopes, the newest first, but for what the actors `besides` did.

    Of what happened to anybody, only the last hundred thousand events are looked at.
    """
    where, values = scope_filter(scopes)
    others = ", ".join("?" * len(besides))
    rows = connection.execute(
        f"SELECT {_EVENT} FROM event JOIN record ON record.id = event.record_id WHERE record.{where} "
        f"AND event.id > (SELECT coalesce(max(id), 0) FROM event) - {_LATELY} "
        f"AND event.actor NOT IN ({others}) AND record.{_SAYS} ORDER BY event.id DESC",
        (*values, *besides),
    )
    yield from map(_happening, rows)


def superseded_ids(connection: Connection, record: Record) -> list[int]:
    """What `record` took the place of, and what that did, in its scope: the nearest first."""
    rows = connection.execute(
        "WITH RECURSIVE older (id) AS (SELECT dst FROM link WHERE src = ? AND type = 'supersedes' "
        "UNION SELECT dst FROM link JOIN older ON src = older.id WHERE type = 'supersedes') "
        "SELECT older.id FROM older JOIN record USING (id) WHERE scope = ? AND older.id != ? ORDER BY older.id DESC",
        (record.id, record.scope, record.id),
    )
    return [row[0] for row in rows]


def ids_derived_from(connection: Connection, record: int) -> list[int]:
    """Records that were made of this one, such as summaries: derived from it, or it is a member of them."""
    rows = connection.execute(
        "SELECT src FROM link WHERE dst = ? AND type = 'derived' UNION "
        "SELECT dst FROM link WHERE src = ? AND type = 'member' ORDER BY 1",
        (record, record),
    )
    return [row[0] for row in rows]


# ── what happened ────────────────────────────────────────────────────────────────────────────────────────────────


def get_event(connection: Connection, number: int) -> EventRow | None:
    """An event by its id."""
    row = connection.execute(f"SELECT {_EVENT} FROM event WHERE id = ?", (number,)).fetchone()
    return _happening(row) if row else None


def record_events(connection: Connection, record: int) -> list[EventRow]:
    """Everything that happened to a record, in order."""
    rows = connection.execute(f"SELECT {_EVENT} FROM event WHERE record_id = ? ORDER BY id", (record,))
    return [_happening(row) for row in rows]


def decision_events(connection: Connection, root: int) -> list[EventRow]:
    """The events of a decision, in order: the one that it is named after, and those that are part of it."""
    first = get_event(connection, root)
    if first is None:
        return []
    rows = connection.execute(
        f"SELECT {_EVENT} FROM event WHERE json_extract(data, '$.part_of') = ? ORDER BY id", (root,)
    )
    return [first, *(_happening(row) for row in rows)]


def undone_by(connection: Connection, root: int) -> int | None:
    """The event that last undid a decision; None when none did, or what undid it was itself undone."""
    row = connection.execute(
        "SELECT id FROM event WHERE type = 'undone' AND id > ? AND json_extract(data, '$.undoes') = ? "
        "ORDER BY id DESC LIMIT 1",
        (root, root),
    ).fetchone()
    if row is None or undone_by(connection, int(row[0])) is not None:
        return None
    return int(row[0])


def last_of(connection: Connection, kind: str, session: str) -> EventRow | None:
    """The newest event of a kind in a conversation."""
    row = connection.execute(
        f"SELECT {_EVENT} FROM event WHERE type = ? AND session = ? ORDER BY id DESC LIMIT 1", (kind, session)
    ).fetchone()
    return _happening(row) if row else None


def extend_event(connection: Connection, number: int, more: Mapping[str, Json]) -> None:
    """Add to what an event of this very transaction tells."""
    connection.execute(
        "UPDATE event SET data = json_patch(data, ?) WHERE id = ?", (json.dumps(more, ensure_ascii=False), number)
    )


def _happening(row: tuple[int, str, str, str, str, int | None, str]) -> EventRow:
    return EventRow(row[0], row[1], row[2], row[3], row[4], row[5], json.loads(row[6] or "{}"))


# ── turns, and their veil ────────────────────────────────────────────────────────────────────────────────────────


def messages_containing(
    connection: Connection, scope: str, session: str, pieces: Sequence[str], limit: int
) -> list[tuple[int, str]]:
    """Inbox row and text of the newest messages of a scope that may hold any of `pieces`, which are folded.

    session: where messages count that are older than scopes. A text with letters beyond ASCII always may.
    """
    held = " OR ".join(["instr(lower(text), ?)"] * len(pieces))
    rows = connection.execute(
        "SELECT inbox_id, text FROM message WHERE id > (SELECT coalesce(max(id), 0) FROM message) - ? "
        f"AND (scope = ? OR (scope = '' AND session = ?)) AND inbox_id IS NOT NULL "
        f"AND ({held} OR text GLOB '*[^ -~]*') ORDER BY id DESC",
        (limit, scope, session, *pieces),
    )
    return [(row[0], row[1]) for row in rows]


def sender_names(connection: Connection, turns: Sequence[int]) -> list[str]:
    """What the people are called who wrote these inbox rows, as far as they are kept."""
    found = (connection.execute("SELECT sender_name FROM inbox WHERE id = ?", (turn,)).fetchone() for turn in turns)
    return list(dict.fromkeys(row[0] for row in found if row is not None and row[0]))


def quotable_message(connection: Connection, turn: int, reach: Scopes) -> tuple[str, str, str, str] | None:
    """Whose words (trust), when, in which session and what was said in the turn of an inbox row, if it may be shown.

    None when it is not kept any more, is veiled, or belongs to a scope out of `reach`.
    """
    where, scopes = scope_filter(reach)
    row = connection.execute(
        "SELECT trust, at, session, text FROM (SELECT trust, at, session, text, "
        "CASE scope WHEN '' THEN 'chat:' || session ELSE scope END AS scope FROM message WHERE inbox_id = ? "
        "AND role = 'user' AND text != '' AND NOT EXISTS (SELECT 1 FROM veil WHERE veil.inbox_id = message.inbox_id)) "
        f"WHERE {where}",
        (turn, *scopes),
    ).fetchone()
    return (row[0], row[1], row[2], row[3]) if row else None


def count_turns(connection: Connection, session: str, turns: Sequence[int]) -> int:
    """How many of these inbox rows are turns of a conversation; commands are none."""
    sql = "SELECT 1 FROM message WHERE session = ? AND inbox_id = ? LIMIT 1"
    return sum(connection.execute(sql, (session, turn)).fetchone() is not None for turn in turns)


def last_turn(connection: Connection, session: str) -> tuple[int, str, str, str] | None:
    """Inbox row, question, answer and time of the newest turn of a conversation."""
    row = connection.execute(
        "SELECT inbox_id, at, text FROM message WHERE session = ? AND role = 'assistant' AND inbox_id IS NOT NULL "
        "ORDER BY id DESC LIMIT 1",
        (session,),
    ).fetchone()
    if row is None:
        return None
    asked = connection.execute(
        "SELECT text FROM message WHERE session = ? AND inbox_id = ? AND role = 'user'", (session, row[0])
    ).fetchone()
    return int(row[0]), asked[0] if asked else "", row[2], row[1]


def last_message_id(connection: Connection, session: str) -> int:
    """The id of the newest message of a conversation, 0 when there is none."""
    row = connection.execute("SELECT max(id) FROM message WHERE session = ?", (session,)).fetchone()
    return int(row[0] or 0)


def hide_turns(connection: Connection, turns: Iterable[int], record: int) -> list[int]:
    """Hide turns because of a record; returns those that this record did not hide yet."""
    return [
        turn
        for turn in dict.fromkeys(turns)
        if connection.execute(
            "INSERT INTO veil (inbox_id, record_id) VALUES (?, ?) ON CONFLICT DO NOTHING", (turn, record)
        ).rowcount
    ]


def unhide_turns(connection: Connection, record: int) -> None:
    """Show again what was hidden because of this record alone."""
    connection.execute("DELETE FROM veil WHERE record_id = ?", (record,))


def turns_hidden_for(connection: Connection, record: int) -> list[int]:
    """The turns that are hidden because of a record."""
    rows = connection.execute("SELECT inbox_id FROM veil WHERE record_id = ? ORDER BY inbox_id", (record,))
    return [row[0] for row in rows]


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def add_tombstones(connection: Connection, scope: str, keys: Iterable[str], at: str) -> None:
    """Leave a tombstone for each key."""
    connection.executemany(
        "INSERT INTO tombstone (scope, key, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(scope, key, at) for key in keys],
    )


def delete_records(connection: Connection, records: Sequence[int]) -> None:
    """Delete records, their vectors and their links, and empty what their events tell. Only `purge` calls this."""
    for start in range(0, len(records), _MANY):
        chunk = tuple(records[start : start + _MANY])
        marks = ", ".join("?" * len(chunk))
        # What is noted of the talk it came up in names its topics; a box that is open tells the rest again.
        connection.execute(
            f"DELETE FROM stretch WHERE first_id IN ({marks}) "
            f"OR box_id IN (SELECT dst FROM link WHERE src IN ({marks}) AND type = 'member')",
            (*chunk, *chunk),
        )
        connection.execute(f"DELETE FROM link WHERE src IN ({marks})", chunk)
        connection.execute(f"DELETE FROM link WHERE dst IN ({marks})", chunk)
        connection.execute(f"DELETE FROM vector WHERE record_id IN ({marks})", chunk)
        connection.execute(f"""UPDATE event SET data = '{{"erased": true}}' WHERE record_id IN ({marks})""", chunk)
        connection.execute(f"DELETE FROM record WHERE id IN ({marks})", chunk)


def events_containing(connection: Connection, piece: str) -> list[EventRow]:
    """Events whose data hold `piece`, spelled as JSON spells it."""
    rows = connection.execute(f"SELECT {_EVENT} FROM event WHERE instr(data, ?)", (piece,))
    return [_happening(row) for row in rows]


def rewrite_event(connection: Connection, number: int, data: Mapping[str, Json]) -> None:
    """Put other data into an event. Only `purge` calls this: what happened is not rewritten, it is blotted out."""
    connection.execute("UPDATE event SET data = ? WHERE id = ?", (json.dumps(data, ensure_ascii=False), number))


def all_wordings(connection: Connection, records: Sequence[int], reach: Scopes) -> dict[int, set[str]]:
    """By record, every text that it ever had."""
    found: dict[int, set[str]] = {}
    for number, record in store.by_ids(connection, records, reach).items():
        earlier = (happening.previous_values.get("text") for happening in record_events(connection, number))
        found[number] = {record.text, *(text for text in earlier if isinstance(text, str))}
    return found


# ── supersession, taken back ─────────────────────────────────────────────────────────────────────────────────────


def remove_supersedes_links(connection: Connection, records: Sequence[int]) -> list[tuple[int, int]]:
    """Take away the supersessions among `records`; returns them as (new, old)."""
    marks = ", ".join("?" * len(records))
    rows = connection.execute(
        f"DELETE FROM link WHERE type = 'supersedes' AND src IN ({marks}) AND dst IN ({marks}) RETURNING src, dst",
        (*records, *records),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]


def restore_supersedes_link(connection: Connection, new: int, old: int, at: str) -> None:
    """Say that `new` took the place of `old`."""
    connection.execute(
        "INSERT INTO link (src, dst, type, first_at, last_at, why) VALUES (?, ?, 'supersedes', ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (new, old, at, at, "undo of an undo"),
    )


# ── counting ─────────────────────────────────────────────────────────────────────────────────────────────────────


def live_counts_by_form(connection: Connection, reach: Scopes) -> dict[str, int]:
    """How many live records there are, by form."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        f"SELECT form, count(*) FROM record WHERE status = 'active' AND {_SAYS} AND {where} GROUP BY 1 ORDER BY 1",
        scopes,
    )
    return {row[0]: row[1] for row in rows}


def last_answered_session(connection: Connection) -> str | None:
    """The conversation in which something was answered last; for whoever may see all of them."""
    row = connection.execute("SELECT session FROM turn WHERE state = 'committed' ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else None
