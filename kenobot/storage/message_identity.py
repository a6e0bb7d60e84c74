"""Tell by what a message is known again: its platform's id, and a digest where platforms give ids twice."""

import hashlib
import json
from datetime import timedelta

from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection, make_storable

_LATELY = 1000  # messages among which one is looked for that is brought again
_SAME_TIME = timedelta(minutes=2)  # by two clocks
BY_ID = "FROM inbox WHERE channel = ? AND external_id = ?"
_IDENTITY = "chat, thread, sender, platform_id, kind, target, sent_at"  # as `_identify` has it


def message_digest(inbound: Inbound) -> str:
    """Digest what is the same whenever a platform brings a message again, and differs from every other message."""
    parts = (inbound.chat, inbound.thread, inbound.user, inbound.platform_id, inbound.kind, inbound.target)
    content = json.dumps([*parts, inbound.value, inbound.text])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def has_come(connection: Connection, inbound: Inbound, digest: str) -> bool:
    """Return whether a message came lately that differs by its id alone, at about the same time."""
    first, last = inbound.sent_at - _SAME_TIME, inbound.sent_at + _SAME_TIME
    row = connection.execute(
        "SELECT 1 FROM inbox WHERE id > (SELECT max(id) FROM inbox) - ? AND channel = ? AND session = ? AND digest = ? "
        "AND sent_at BETWEEN ? AND ?",
        (_LATELY, inbound.channel, inbound.session, digest, first.isoformat(), last.isoformat()),
    ).fetchone()
    return row is not None


def find_free_id(connection: Connection, inbound: Inbound, digest: str) -> str:
    """Return the id to store a message under: with its digest when the plain one is another message's."""
    row = (inbound.channel, inbound.external_id)
    known = connection.execute(f"SELECT digest, {_IDENTITY} {BY_ID}", row).fetchone()
    is_free = known is None or not known[0] or not digest or digest == known[0] or known[1:] == _identify(inbound)
    return inbound.external_id if is_free else f"{inbound.external_id}~{digest}"


def _identify(inbound: Inbound) -> tuple[str, ...] | None:
    """Return by what a message is known whose words another version of the bot reads otherwise; None for nothing."""
    if not inbound.platform_id:
        return None
    where = (inbound.chat, inbound.thread, inbound.user, inbound.platform_id)
    return (*where, inbound.kind, inbound.target, inbound.sent_at.isoformat())


def has_bad_ids(inbound: Inbound) -> bool:
    """Return whether an id holds a NUL or half a surrogate pair: no database holds it, and mended it would be another.

    So do what stands in a button or a reaction, and the names that say where it belongs.
    """
    ids = (inbound.channel, inbound.external_id, inbound.chat, inbound.user, inbound.thread, inbound.platform_id)
    text = "".join((*ids, inbound.reply_to, inbound.target, inbound.value))
    return text != make_storable(text)


def escape_surrogates(text: str) -> str:
    """Escape NULs and what has no UTF-8 in `text`, so that no two texts become one."""
    text = text.replace("\0", "\\x00") if "\0" in text else text
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
