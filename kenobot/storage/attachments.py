"""Store what became of the attachments of messages: one row an attachment, from the arrival of its message on.

waiting → stored (its bytes lie in the media folder) → done | failed. A row lives as long as its message in the inbox.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Attachment
from kenobot.storage.connection import Connection, make_storable
from kenobot.storage.database import Database

AttachmentState = Literal["waiting", "stored", "done", "failed"]

_RECORDINGS = ("voice", "audio", "video")
_LATELY = 4  # messages, the one that asks among them
_MOST_RECORDINGS = 20  # of a message
_OF_ALBUMS = ("item", "caption_chars")
_COLUMNS = "number, state, mime, digest, text, problem"


@dataclass(frozen=True, slots=True)
class AttachmentRow:
    """Outcome for an attachment.

    number: its place in the message. mime: as its bytes say. problem: why it failed.
    """

    number: int
    state: AttachmentState = "waiting"
    mime: str = ""
    digest: str = ""
    text: str = ""
    problem: str = ""

    @property
    def is_over(self) -> bool:
        """Return whether nothing more is to be done about it."""
        return self.state in ("done", "failed")


def to_fields(attachments: Sequence[Attachment]) -> list[dict[str, object]]:
    """Return attachments as they are stored: without what an older KenoBot would stumble on."""
    return [{name: value for name, value in asdict(each).items() if name not in _OF_ALBUMS} for each in attachments]


def item_names(attachments: Sequence[Attachment]) -> str:
    """Return what the column `value` of a message holds: by spaces each `item`, then the lengths of their captions.

    "" where none has one.
    """
    if not any(each.item for each in attachments):
        return ""
    names = [each.item or "-" for each in attachments]
    return " ".join([*names, *(f"={each.caption_chars}" for each in attachments)])


def read_attachments(stored: str, items: str) -> tuple[Attachment, ...]:
    """Return attachments from what `to_fields` and `item_names` gave."""
    attachments = tuple(Attachment(**each) for each in json.loads(stored))
    if not items:
        return attachments
    names = [name for name in items.split() if not name.startswith("=")]
    lengths = [int(length[1:]) for length in items.split() if length.startswith("=")]
    blanks = len(attachments)  # an older KenoBot may have stored more of them since, and no lengths
    named = zip(attachments, [*names, *["-"] * blanks], [*lengths, *[0] * blanks], strict=False)
    return tuple(replace(each, item=name.removeprefix("-"), caption_chars=length) for each, name, length in named)


def add_rows(connection: Connection, message: int, attachments: Sequence[Attachment]) -> None:
    """Add the rows of a message that comes in, in the transaction that stores it. What has no bytes is done with.

    One with a digest was stored by its channel.
    """
    states: list[AttachmentState] = [
        "stored" if each.digest else "waiting" if each.handle else "done" for each in attachments
    ]
    rows = [
        (message, number, state, each.digest)
        for number, (state, each) in enumerate(zip(states, attachments, strict=True))
    ]
    connection.executemany("INSERT INTO attachment (inbox_id, number, state, digest) VALUES (?, ?, ?, ?)", rows)


def copy_rows(connection: Connection, message: int, to: int) -> None:
    """Copy what became of the attachments of a message and its fragments, so that another keeps their bytes in use."""
    connection.execute(
        "INSERT INTO attachment (inbox_id, number, state, mime, digest, text, problem) "
        "SELECT ?, row_number() OVER (ORDER BY inbox_id, number) - 1, state, mime, digest, text, problem "
        "FROM attachment WHERE inbox_id IN (SELECT id FROM inbox WHERE id = ? OR joined_to = ?)",
        (to, message, message),
    )


def load_rows(connection: Connection, message: int) -> dict[int, AttachmentRow]:
    """Load the attachments of a message by their number."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM attachment WHERE inbox_id = ? ORDER BY number", (message,))
    return {row[0]: AttachmentRow(*row) for row in rows}


def save_row(connection: Connection, message: int, row: AttachmentRow) -> None:
    """Save what became of an attachment; nothing once its message was erased."""
    connection.execute(
        "UPDATE attachment SET state = ?, mime = ?, digest = ?, text = ?, problem = ? "
        "WHERE inbox_id = ? AND number = ?",
        (row.state, row.mime, row.digest, make_storable(row.text), make_storable(row.problem), message, row.number),
    )


def was_recorded_lately(connection: Connection, session: str, sender: str) -> bool:
    """Return whether one of the last few messages that somebody wrote in a chat has a recording."""
    rows = connection.execute(
        "SELECT json_extract(value, '$.kind') FROM (SELECT attachments FROM inbox WHERE session = ? AND sender = ? "
        "AND kind = 'message' ORDER BY id DESC LIMIT ?) AS lately, json_each(lately.attachments)",
        (session, sender, _LATELY),
    )
    return any(kind in _RECORDINGS for (kind,) in rows)


def load_transcripts(connection: Connection, session: str, sender: str, platform_id: str) -> list[str] | None:
    """Return what was heard in each recording of a chat's last message with one; None where there is no such message.

    sender: who wrote it; "" for anybody. platform_id: which message; "" for the last.
    """
    rows = connection.execute(
        "SELECT inbox.id, attachment.text FROM inbox JOIN attachment ON attachment.inbox_id = inbox.id "
        "WHERE session = ? AND ? IN ('', sender) AND ? IN ('', platform_id) AND kind IN ('message', 'edit') "
        "AND json_extract(attachments, '$[' || number || '].kind') IN (SELECT value FROM json_each(?)) "
        "ORDER BY inbox.id DESC, number LIMIT ?",
        (session, sender, platform_id, json.dumps(_RECORDINGS), _MOST_RECORDINGS),
    ).fetchall()
    return [text for message, text in rows if message == rows[0][0]] if rows else None


def digests_in_use(connection: Connection, since: str) -> set[str]:
    """Query what still refers to bytes: open messages, and pictures of the conversation from `since` on."""
    waiting = connection.execute(
        "SELECT digest FROM attachment WHERE digest != '' AND inbox_id IN "
        "(SELECT id FROM inbox WHERE state IN ('pending', 'claimed'))"
    )
    shown = connection.execute("SELECT pictures FROM message WHERE pictures != '' AND at >= ?", (since,))
    return {row[0] for row in waiting} | {word for (pictures,) in shown for word in str(pictures).split()[::2]}


async def prune(database: Database) -> None:
    """Drop the attachments of messages that have left the inbox."""
    await database.prune("attachment", "NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.id = attachment.inbox_id)")
