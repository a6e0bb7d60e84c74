"""Rows of a conversation's turns as memory quotes them, and of hidden turns."""

import json
from collections.abc import Iterable, Sequence

from kenobot.cognitive.store.scopes import Scopes, scope_filter
from kenobot.storage.connection import Connection


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
        "AND role = 'user' AND text != '' "
        "AND NOT EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id)) "
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
            "INSERT INTO hidden_turn (inbox_id, record_id) VALUES (?, ?) ON CONFLICT DO NOTHING", (turn, record)
        ).rowcount
    ]


def unhide_turns(connection: Connection, record: int) -> None:
    """Show again what was hidden because of this record alone."""
    connection.execute("DELETE FROM hidden_turn WHERE record_id = ?", (record,))


def turns_hidden_for(connection: Connection, record: int) -> list[int]:
    """The turns that are hidden because of a record."""
    rows = connection.execute("SELECT inbox_id FROM hidden_turn WHERE record_id = ? ORDER BY inbox_id", (record,))
    return [row[0] for row in rows]


def last_answered_session(connection: Connection) -> str | None:
    """The conversation in which something was answered last; for whoever may see all of them."""
    row = connection.execute("SELECT session FROM turn WHERE state = 'committed' ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else None


def received_times(connection: Connection, turns: Sequence[int]) -> dict[int, str]:
    """When the messages of these inbox rows came in; rows that are gone are left out."""
    rows = connection.execute(
        "SELECT id, received_at FROM inbox WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(turns)),)
    )
    return {row[0]: row[1] for row in rows}
