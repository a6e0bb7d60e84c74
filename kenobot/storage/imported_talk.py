"""Talk that was held elsewhere and imported: messages in sessions of their own, which no chat goes on with.

Their turns have numbers of the inbox that no mail has, so that each can be hidden and erased as any other.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from kenobot.ports.identity import IMPORT_PREFIX, Trust
from kenobot.ports.provider import Role
from kenobot.storage.connection import Connection

_AFTER = IMPORT_PREFIX[:-1] + chr(ord(IMPORT_PREFIX[-1]) + 1)
_SESSIONS = f"session >= '{IMPORT_PREFIX}' AND session < '{_AFTER}'"  # by the index


class ImportedMessage(NamedTuple):
    """A message. turn: see `reserve_turns`. mark: tells it from every other of its kind of export."""

    session: str
    role: Role
    text: str
    at: str
    turn: int
    trust: Trust
    scope: str
    mark: str


def reserve_turns(connection: Connection, count: int) -> int:
    """Reserve numbers of the inbox, inside a transaction; returns the first."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'").fetchone()
    last = int(row[0]) if row else 0
    if row:
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'inbox'", (last + count,))
    else:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('inbox', ?)", (count,))
    return last + 1


def add_messages(connection: Connection, messages: Sequence[ImportedMessage]) -> int:
    """Add messages in order, inside a transaction; returns the id of the last."""
    connection.executemany(
        "INSERT INTO message (session, role, text, at, inbox_id, trust, scope, platform_id) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        messages,
    )
    return int(connection.execute("SELECT max(id) FROM message").fetchone()[0] or 0)


def load_known_marks(connection: Connection, withdrawn: Collection[int]) -> set[str]:
    """Read the marks of all messages that are there, without those hidden because of one of these records."""
    rows = connection.execute(
        f"SELECT platform_id FROM message WHERE {_SESSIONS} AND NOT EXISTS (SELECT 1 FROM hidden_turn WHERE "
        "hidden_turn.inbox_id = message.inbox_id AND record_id IN (SELECT value FROM json_each(?)))",
        (json.dumps([*withdrawn]),),
    )
    return {row[0] for row in rows}


def turns_hidden_by(connection: Connection, kind: str, turns: Iterable[int]) -> set[int]:
    """Select the turns that are hidden because of a record that has an event of a kind."""
    rows = connection.execute(
        "SELECT DISTINCT inbox_id FROM hidden_turn JOIN event ON event.record_id = hidden_turn.record_id "
        "AND event.type = ? WHERE inbox_id IN (SELECT value FROM json_each(?))",
        (kind, json.dumps([*turns])),
    )
    return {row[0] for row in rows}


def turns_between(connection: Connection, low: int, high: int) -> list[int]:
    """List the turns of imported talk from one number to another: an event of another home may name a chat's."""
    rows = connection.execute(
        f"SELECT DISTINCT inbox_id FROM message WHERE inbox_id BETWEEN ? AND ? AND {_SESSIONS}", (low, high)
    )
    return [row[0] for row in rows]


def message_range(connection: Connection, low: int, high: int) -> tuple[int, int] | None:
    """Return the lowest and the highest id of the messages of turns; None when there are none."""
    row = connection.execute(
        "SELECT min(id), max(id) FROM message WHERE inbox_id BETWEEN ? AND ?", (low, high)
    ).fetchone()
    return (row[0], row[1]) if row[0] is not None else None
