"""Read the events of Matrix, which may have fields of any form."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from kenobot.ports.clock import Clock
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


def read_attachment(content: Mapping[str, Any]) -> Attachment:
    """Describe the file of a message."""
    kind: MediaKind = FILES[content["msgtype"]]
    if "org.matrix.msc3245.voice" in content or "m.voice" in content:
        kind = "voice"
    info, size = table(content, "info"), table(content, "info").get("size")
    name = str(content.get("filename") or content.get("body") or "")[:200]
    length = size if isinstance(size, int) and size >= 0 else None
    return Attachment(kind, str(info.get("mimetype", ""))[:100], name, length, str(content.get("url", "")))


def read_time(milliseconds: object, clock: Clock) -> datetime:
    """Return when a server says that an event was sent."""
    try:
        return datetime.fromtimestamp(float(str(milliseconds)) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return clock.now()
