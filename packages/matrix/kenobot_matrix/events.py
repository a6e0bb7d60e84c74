"""Read the events of Matrix, which may have fields of any form."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kenobot.ports.messages import Attachment, MediaKind

FILES: Final[Mapping[str, MediaKind]] = {
    "m.image": "image",
    "m.audio": "audio",
    "m.video": "video",
    "m.file": "document",
}


def table(value: object, key: str) -> Mapping[str, Any]:
    """Return a field that is a table itself; an empty one for any other."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def events_of(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the events of a list of a sync."""
    events = value.get("events")
    return [event for event in events if isinstance(event, Mapping)] if isinstance(events, list) else []


def is_membership_of(event: Mapping[str, Any], user: str, membership: str) -> bool:
    """Return whether an event makes a user a member of that kind."""
    own = event.get("type") == "m.room.member" and event.get("state_key") == user
    return own and table(event, "content").get("membership") == membership


def since_invited(events: Sequence[Mapping[str, Any]], user: str) -> tuple[Sequence[Mapping[str, Any]], bool]:
    """Return the events behind the last invitation of a user, and whether there is one.

    A server shows whoever comes what was said before, too: that was said to others.
    """
    at = next((at for at in range(len(events) - 1, -1, -1) if is_membership_of(events[at], user, "invite")), -1)
    return events[at + 1 :], at >= 0


def strip_fallback(body: str) -> str:
    """Strip the quotation that some clients write above an answer: others' words."""
    lines = body.split("\n")
    quoted = next((at for at, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[quoted:]).lstrip("\n") if quoted and lines[0].startswith("> <@") else body


def read_body(event: Mapping[str, Any]) -> str:
    """Return the words of a message as they read now: those of its latest edit, which the server puts beside it."""
    edit = table(table(table(event, "unsigned"), "m.relations"), "m.replace")
    content = table(event, "content")
    if edit.get("sender") == event.get("sender"):
        content = table(table(edit, "content"), "m.new_content") or content
    return str(content.get("body", ""))


def read_attachment(content: Mapping[str, Any]) -> Attachment:
    """Describe the file of a message."""
    kind: MediaKind = FILES[content["msgtype"]]
    if "org.matrix.msc3245.voice" in content or "m.voice" in content:
        kind = "voice"
    info, size = table(content, "info"), table(content, "info").get("size")
    name = str(content.get("filename") or content.get("body") or "")[:200]
    length = size if isinstance(size, int) and size >= 0 else None
    return Attachment(kind, str(info.get("mimetype", ""))[:100], name, length, str(content.get("url", "")))
