"""Read what became of messages: their state, and the answer that the outbox keeps for whoever fetches it."""

from collections.abc import Mapping
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


def list_asides(connection: Connection, channel: str, chat: str, session: str, most: int) -> list[Aside]:
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
    notices = connection.execute(
        "SELECT text, created_at FROM outbox WHERE channel = ? AND chat = ? AND inbox_id IS NULL AND text != '' "
        "ORDER BY id DESC LIMIT ?",
        (channel, chat, most),
    )
    found += [Aside("assistant", text, at) for text, at in notices]
    return sorted(found, key=lambda aside: aside.at)


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
