"""Query and end messages that came in, by their rows: inside the transactions of those that act on them.

The states of a row are in `kenobot.storage.inbox`.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound
from kenobot.ports.sentences import pack_text
from kenobot.storage import attachments as attachment_rows
from kenobot.storage.claims import make_fence
from kenobot.storage.connection import Connection

FinalState = Literal["answered", "failed", "expired", "dead", "dropped"]

STOPPED = "stopped by its sender"
"""The reason of a row that its sender took back."""

COLUMNS = (
    "id, channel, external_id, chat, sender, sender_name, private, forwarded, text, sent_at, trace, attempts, "
    "retried_at, kind, reply_to, target, value, thread, attachments, platform_id, quoted, quoted_author"
)
"""The columns of a row, as `read_row` takes them."""


@dataclass(frozen=True, slots=True)
class PendingMessage:
    """A stored message that waits for its turn, or has begun one `attempts` times.

    claimed: the latest attempt is the reader's own and has not begun yet. fresh: it came in just now, so there can be
    no reply to it from an earlier run. deferrals: how often it was put back because no model could be reached.
    retried_at: when the owner had it tried once more. fragments: the messages that it is made of, itself the first; ()
    for one that stands alone. Its `inbound` joins them.
    """

    id: int
    inbound: Inbound
    trace: str
    attempts: int = 0
    claimed: bool = False
    fresh: bool = False
    deferrals: int = 0
    retried_at: datetime | None = None
    fragments: tuple["PendingMessage", ...] = ()

    @property
    def session(self) -> str:
        return self.inbound.session

    @property
    def waiting_since(self) -> datetime:
        """From when it counts how long the message has waited: its sending, or the owner's wish to try it once more."""
        return self.retried_at or self.inbound.sent_at


def load_pending(connection: Connection, where: str, *values: str | int) -> list[PendingMessage]:
    """Read messages, in whatever state. where: a condition on their rows, and their order."""
    return [read_row(row) for row in connection.execute(f"SELECT {COLUMNS} FROM inbox WHERE {where}", values)]


def read_text(connection: Connection, message: int) -> str:
    """Read the words of a message, with those of its other fragments; "" for one that is gone."""
    fragments = load_pending(connection, "id = ? OR joined_to = ? ORDER BY id", message, message)
    return join_message(tuple(fragments)).inbound.text if fragments else ""


def join_message(fragments: tuple[PendingMessage, ...]) -> PendingMessage:
    """Return messages of a person as one: the first, with the words and attachments of all."""
    inbounds = [each.inbound for each in fragments]
    words = "\n".join(each.text for each in inbounds if each.text.strip())
    attachments = tuple(attachment for each in inbounds for attachment in each.attachments)
    whole = replace(inbounds[0], text=words, attachments=attachments)
    return replace(fragments[0], inbound=whole, fragments=fragments)


def newest_private(connection: Connection, limit: int) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield channel, chat, sender, beginning of the text, and time of the last private messages, newest first."""
    yield from connection.execute(
        "SELECT channel, chat, sender, substr(text, 1, 400), received_at FROM inbox "
        "WHERE private = 1 AND forwarded = 0 AND session != '' AND state != 'dropped' "
        "AND kind IN ('message', 'edit') ORDER BY id DESC LIMIT ?",
        (limit,),
    )


def was_stopped(connection: Connection, session: str, message: int, sender: str = "") -> bool:
    """Return whether the message before this one in its session was stopped. sender: whose count; "" for all."""
    row = connection.execute(
        "SELECT reason FROM inbox WHERE session = ? AND id < ? AND ? IN ('', sender) AND kind != 'task' "
        "ORDER BY id DESC LIMIT 1",
        (session, message, sender),
    ).fetchone()
    return row is not None and row[0] == STOPPED


def newest_id(connection: Connection) -> int:
    """Return the id of the message that came last; 0 where none did."""
    found: int = connection.execute("SELECT coalesce(max(id), 0) FROM inbox").fetchone()[0]
    return found


def finish(
    connection: Connection,
    message: int,
    attempt: int,
    end: FinalState,
    at: datetime,
    reason: str = "",
    *,
    is_whole: bool = False,
) -> datetime:
    """Mark a message and its fragments done, inside a transaction; return when it came in.

    is_whole: it is known to have no other fragments. Raises Fenced when `attempt` is not its latest claim.
    """
    received = connection.execute(
        "UPDATE inbox SET state = ?, reason = ?, done_at = ? WHERE id = ? AND attempts = ? AND state = 'claimed' "
        "RETURNING received_at",
        (end, pack_text(reason), at.isoformat(), message, attempt),
    ).fetchall()
    if not received:
        raise make_fence(connection, message, attempt)
    if not is_whole:
        connection.execute(
            "UPDATE inbox SET state = ?, reason = ?, done_at = ? "
            "WHERE joined_to = ? AND state IN ('pending', 'claimed')",
            (end, pack_text(reason), at.isoformat(), message),
        )
    return datetime.fromisoformat(received[0][0])


def defer(connection: Connection, message: int, attempt: int) -> bool:
    """Give a claim back, inside a transaction, because no model can be reached; the attempt does not count.

    Returns whether the person has still to be asked for patience. Raises Fenced when `attempt` was overtaken.
    """
    mine = (message, attempt)
    row = connection.execute(
        "SELECT patience_sent FROM inbox WHERE id = ? AND attempts = ? AND state = 'claimed'", mine
    ).fetchone()
    if row is None:
        raise make_fence(connection, message, attempt)
    connection.execute(
        "UPDATE inbox SET state = 'pending', attempts = attempts - 1, patience_sent = 1 WHERE id = ? AND attempts = ?",
        mine,
    )
    return not row[0]


def read_row(row: tuple[Any, ...]) -> PendingMessage:
    """Read a message from the row of its `COLUMNS`."""
    number, channel, external, chat, sender, name, private, forwarded, text, sent_at, trace, attempts = row[:12]
    retried, kind, reply_to, target, value, thread, attachments, platform_id, quoted, author = row[12:]
    brings_words = kind in ("message", "edit", "task")
    inbound = Inbound(
        channel=channel,
        external_id=external,
        chat=chat,
        user=sender,
        user_name=name,
        private=bool(private),
        forwarded=bool(forwarded),
        text=text,
        sent_at=datetime.fromisoformat(sent_at),
        kind=kind,
        reply_to=reply_to,
        target=target,
        value="" if brings_words else value,
        thread=thread,
        attachments=attachment_rows.read_attachments(attachments, value if brings_words else ""),
        platform_id=platform_id,
        quoted=quoted,
        quoted_author=author,
    )
    return PendingMessage(
        number, inbound, trace, attempts, retried_at=datetime.fromisoformat(retried) if retried else None
    )
