"""Read what became of messages: their state, and the answer that the outbox keeps for whoever fetches it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection

MessageState = Literal["pending", "deferred", "answered", "failed", "expired", "dead", "dropped"]

_HIDDEN = "EXISTS (SELECT 1 FROM hidden_turn WHERE hidden_turn.inbox_id = inbox.id)"
_SELECT = (
    "SELECT id, external_id, chat, session, sender, text, received_at, trace, "
    "CASE WHEN state NOT IN ('pending', 'claimed') THEN state WHEN patience_sent THEN 'deferred' ELSE 'pending' END, "
    f"{_HIDDEN} FROM inbox"
)


@dataclass(frozen=True, slots=True)
class MessageStatus:
    """A message that came in. answer: the whole of it, or why there is none; "" before, and once it is forgotten."""

    id: int
    external_id: str
    chat: str
    session: str
    user: str
    text: str
    received_at: str
    trace: str
    state: MessageState
    answer: str

    @property
    def is_over(self) -> bool:
        return self.state not in ("pending", "deferred")


def find_by_external_id(connection: Connection, channel: str, external_id: str) -> MessageStatus | None:
    """Find a message by the id under which its channel brought it."""
    where = f"{_SELECT} WHERE channel = ? AND external_id = ?"
    return _status(connection, connection.execute(where, (channel, external_id)).fetchone())


def find_by_number(connection: Connection, channel: str, number: int) -> MessageStatus | None:
    """Find a message of a channel by its inbox row."""
    return _status(
        connection, connection.execute(f"{_SELECT} WHERE channel = ? AND id = ?", (channel, number)).fetchone()
    )


@dataclass(frozen=True, slots=True)
class Aside:
    """A line beside a conversation: a command, the answer to it, or a word of the bot's own accord."""

    role: Literal["user", "assistant"]
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A message of the bot's own accord that is kept for who fetches it. id: of its part of the outbox."""

    id: int
    chat: str
    text: str
    at: str


def list_asides(connection: Connection, channel: str, chat: str, session: str, at: datetime, most: int) -> list[Aside]:
    """List what a chat saw beside its conversation in the last week, at most `most` of a kind, in the order of time."""
    found = list[Aside]()
    asked = connection.execute(
        "SELECT id, text, received_at, done_at FROM inbox WHERE channel = ? AND session = ? AND kind = 'message' "
        "AND text != '' AND state IN ('answered', 'failed', 'expired') AND NOT EXISTS "
        f"(SELECT 1 FROM message WHERE message.inbox_id = inbox.id) AND NOT {_HIDDEN} ORDER BY id DESC LIMIT ?",
        (channel, session, most),
    )
    for number, text, received, done in asked.fetchall():
        found.append(Aside("user", text, received))
        if answer := _read_answer(connection, number):
            found.append(Aside("assistant", answer, done))
    notices = list_notices(connection, channel, at, chat=chat, limit=most)
    found += [Aside("assistant", notice.text, notice.at) for notice in notices]
    return sorted(found, key=lambda aside: aside.at)


def list_notices(
    connection: Connection, channel: str, at: datetime, *, chat: str, after: int = 0, limit: int
) -> list[Notice]:
    """List what the bot said of its own accord in a chat after a part of the outbox, the newest first."""
    return _notices(connection, "channel = ? AND chat = ? AND id > ?", (channel, chat, after), at, limit)


def list_notice_chats(connection: Connection, channel: str) -> list[str]:
    """List the chats of a channel in which the bot said something of its own accord, while that is kept."""
    rows = connection.execute("SELECT DISTINCT chat FROM outbox WHERE channel = ? AND inbox_id IS NULL", (channel,))
    return [row[0] for row in rows]


def page_of_notices(
    connection: Connection, channel: str, at: datetime, *, user: str, before: int, limit: int
) -> list[Notice]:
    """List what the bot said of its own accord to a user of the channel http, the newest first. user: "" for the owner.

    before: a part of the outbox.
    """
    where, value = ("substr(chat, 1, length(?)) = ?", f"{user}/") if user else ("instr(chat, ?) = 0 AND ? = '/'", "/")
    where = f"channel = ? AND {where} AND substr(chat, 1, 1) != '#' AND id < ?"
    return _notices(connection, where, (channel, value, value, before), at, limit)


def newest_notice(connection: Connection) -> int:
    """Return the newest part of the outbox, behind which notices are still to come."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM outbox").fetchone()[0])


def _notices(connection: Connection, where: str, values: Sequence[object], at: datetime, limit: int) -> list[Notice]:
    rows = connection.execute(
        f"SELECT id, chat, text, created_at FROM outbox WHERE {where} AND inbox_id IS NULL AND text != '' "
        "AND state != 'dead' AND not_before <= ? ORDER BY id DESC LIMIT ?",
        (*values, at.isoformat(), limit),
    )
    return [Notice(*row) for row in rows]


def state_counts(connection: Connection) -> Mapping[str, int]:
    """Count the messages of the last week by state, and the parts that wait to be sent."""
    counts = dict(connection.execute("SELECT state, count(*) FROM inbox GROUP BY state").fetchall())
    unsent = connection.execute("SELECT count(*) FROM outbox WHERE state = 'pending'").fetchone()[0]
    return counts | {"unsent": unsent}


def _status(connection: Connection, row: tuple[Any, ...] | None) -> MessageStatus | None:
    if row is None:
        return None
    is_hidden = row[-1]
    values: tuple[Any, ...] = (*row[:-1], "" if is_hidden else _read_answer(connection, row[0]))
    return MessageStatus(*values)


def _read_answer(connection: Connection, message: int) -> str:
    parts = connection.execute("SELECT text FROM outbox WHERE inbox_id = ? AND part >= 0 ORDER BY part", (message,))
    return "\n\n".join(text for (text,) in parts)
