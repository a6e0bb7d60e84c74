"""The conversation of each chat, as people saw it. Reading its end costs the same at any length."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import datetime

from kenobot.ports.identity import Trust
from kenobot.ports.provider import Role
from kenobot.storage.connection import Connection

_UNVEILED = "NOT EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = message.inbox_id)"
_PREFIX_COLUMNS = "session, scopes, text, day, last_event, last_record, first_message, last_message, omitted"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a conversation. `context` is what the prompt carried beside a person's words.

    trust: whose words they are.
    """

    id: int
    role: Role
    text: str
    context: str
    at: str
    trust: Trust


@dataclass(frozen=True, slots=True)
class PromptPrefix:
    """The frozen beginning of a session's prompt; see the table of this name."""

    session: str
    scopes: str
    text: str
    day: str
    last_event: int
    last_record: int
    first_message: int
    last_message: int
    omitted: int = 0


def append(
    connection: Connection,
    session: str,
    role: Role,
    text: str,
    at: datetime,
    message: int,
    trust: Trust,
    context: str = "",
) -> None:
    """Add a message to a conversation, inside a transaction; the same side of the same inbox row only once."""
    connection.execute(
        "INSERT INTO message (session, role, text, context, at, inbox_id, trust) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (session, role, text, context, at.isoformat(), message, trust),
    )


def set_scope(connection: Connection, message: int, scope: str) -> None:
    """Note the scope to which memory may write what was said in the turn of an inbox row, inside a transaction."""
    connection.execute("UPDATE message SET scope = ? WHERE inbox_id = ?", (scope, message))


def import_history(
    connection: Connection, session: str, said: Iterable[tuple[Role, str, datetime]], trust: Trust, scope: str
) -> int:
    """Begin a conversation with what was said elsewhere before, oldest first; the id of its newest message.

    None of it belongs to mail of this home. trust: of the person. scope: where memory may write what was said. 0, and
    nothing happens, when the conversation has begun already.
    """
    if connection.execute("SELECT 1 FROM message WHERE session = ? LIMIT 1", (session,)).fetchone():
        return 0
    newest = 0
    for role, text, at in said:
        cursor = connection.execute(
            "INSERT INTO message (session, role, text, at, trust, scope) VALUES (?, ?, ?, ?, ?, ?)",
            (session, role, text, at.isoformat(), trust if role == "user" else "model", scope),
        )
        newest = cursor.lastrowid or newest
    return newest


def latest(connection: Connection, session: str, limit: int) -> list[StoredMessage]:
    """The last `limit` messages, oldest first, without turns that told what somebody wants forgotten."""
    rows = connection.execute(
        f"SELECT id, role, text, context, at, trust FROM message WHERE session = ? AND {_UNVEILED} "
        "ORDER BY id DESC LIMIT ?",
        (session, limit),
    ).fetchall()
    return [StoredMessage(*row) for row in reversed(rows)]


def since(connection: Connection, session: str, first: int, limit: int) -> list[StoredMessage]:
    """Messages from id `first` on, oldest first, at most `limit`, without turns that told what is to be forgotten."""
    rows = connection.execute(
        f"SELECT id, role, text, context, at, trust FROM message WHERE session = ? AND id >= ? AND {_UNVEILED} "
        "ORDER BY id LIMIT ?",
        (session, first, limit),
    )
    return [StoredMessage(*row) for row in rows]


def load_prefix(connection: Connection, session: str) -> PromptPrefix | None:
    """The session's frame, if it has one."""
    row = connection.execute(f"SELECT {_PREFIX_COLUMNS} FROM prompt_prefix WHERE session = ?", (session,)).fetchone()
    return PromptPrefix(*row) if row else None


def save_prefix(connection: Connection, frame: PromptPrefix, before: PromptPrefix | None) -> None:
    """Store a session's frame where it differs from what was stored `before`, inside a transaction."""
    if frame is before:
        return
    if before is not None and frame.text is before.text and frame.last_message == before.last_message:
        connection.execute(
            "UPDATE prompt_prefix SET last_event = ?, last_record = ? WHERE session = ?",
            (frame.last_event, frame.last_record, frame.session),
        )
        return
    connection.execute(
        f"INSERT OR REPLACE INTO prompt_prefix ({_PREFIX_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        astuple(frame),
    )
