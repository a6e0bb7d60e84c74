"""Read the attachments of a Telegram message: what each is, and in words what has no bytes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, Field, StrictInt, StrictStr, ValidationError

from kenobot.ports.messages import Attachment, MediaKind

_MOST_PHOTO_BYTES: Final = 3_000_000  # of which models take any; Telegram's own copies of photos are smaller
_CHARACTERS: Final = 4000  # of an attachment in words


class _File(BaseModel):
    """Fields that photos, voices, videos and documents share; missing ones keep their defaults."""

    file_id: StrictStr = Field(min_length=1)
    file_size: StrictInt | None = None
    file_name: StrictStr = ""
    mime_type: StrictStr = ""
    duration: float = 0.0
    title: StrictStr = ""
    performer: StrictStr = ""


_FILES: Final[Sequence[tuple[str, MediaKind, str]]] = (
    ("voice", "voice", "audio/ogg"),
    ("video_note", "voice", "video/mp4"),  # recorded in the chat, as a voice message is
    ("audio", "audio", "audio/mpeg"),
    ("video", "video", "video/mp4"),
    ("document", "document", ""),
)


def read_attachments(message: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """Return the attachments of a raw message; one of an unexpected form in words, as a kind that is not known."""
    if "photo" in message:
        return (_photo(message["photo"]),)
    for field, kind, mime in _FILES:
        if field in message and "animation" not in message:  # a document too, in which nothing can be read or heard
            return (_file(field, kind, mime, message[field]),)
    for field, read in _IN_WORDS.items():
        if field in message:
            found = message[field]
            return (read(found if isinstance(found, dict) else {}),)
    return ()


def _photo(sizes: object) -> Attachment:
    """Choose the largest copy of a photo that a model takes."""
    copies = []
    for each in sizes if isinstance(sizes, list) else ():
        try:
            copies.append(_File.model_validate(each))
        except ValidationError:
            continue
    if not copies:
        return Attachment("other", name="photo")
    fit = [copy for copy in copies if (copy.file_size or 0) <= _MOST_PHOTO_BYTES] or copies[:1]
    best = max(fit, key=lambda copy: copy.file_size or 0)
    return Attachment("image", "image/jpeg", size=best.file_size, handle=best.file_id)


def _file(field: str, kind: MediaKind, mime: str, raw: object) -> Attachment:
    try:
        file = _File.model_validate(raw)
    except ValidationError:
        return Attachment("other", name=field.replace("_", " "))
    named = file.file_name or " - ".join(part for part in (file.performer, file.title) if part)
    length = file.duration if 0 < file.duration < 1e6 else 0.0
    return Attachment(kind, file.mime_type or mime, named[:200], file.file_size, file.file_id, seconds=length)


# ── what has no bytes that are read ──────────────────────────────────────────────────────────────────────────────


def _text(raw: Mapping[str, Any], *names: str) -> str:
    found = (raw.get(name) for name in names)
    return " ".join(str(each) for each in found if isinstance(each, str | int | float) and not isinstance(each, bool))


def _sticker(raw: Mapping[str, Any]) -> Attachment:
    return Attachment("sticker", text=_text(raw, "emoji")[:16] or "…")


def _location(raw: Mapping[str, Any]) -> Attachment:
    latitude, longitude = raw.get("latitude"), raw.get("longitude")
    if not isinstance(latitude, int | float) or not isinstance(longitude, int | float):
        return Attachment("other", name="location")
    return Attachment("location", text=f"{latitude:.6f}, {longitude:.6f}")


def _venue(raw: Mapping[str, Any]) -> Attachment:
    place = raw.get("location")
    where = _location(place).text if isinstance(place, dict) else ""
    words = (_text(raw, "title"), _text(raw, "address"), where)
    return _in_words("location", "venue", "\n".join(word for word in words if word))


def _contact(raw: Mapping[str, Any]) -> Attachment:
    words = (_text(raw, "first_name", "last_name"), _text(raw, "phone_number"))
    return _in_words("contact", "", "\n".join(word for word in words if word))


def _poll(raw: Mapping[str, Any]) -> Attachment:
    options = raw.get("options")
    texts = [_text(each, "text") for each in options if isinstance(each, dict)] if isinstance(options, list) else []
    return _in_words("other", "poll", "\n".join([_text(raw, "question"), *(f"- {text}" for text in texts)]))


def _checklist(raw: Mapping[str, Any]) -> Attachment:
    tasks = raw.get("tasks")
    texts = [_text(each, "text") for each in tasks if isinstance(each, dict)] if isinstance(tasks, list) else []
    return _in_words("other", "checklist", "\n".join([_text(raw, "title"), *(f"- {text}" for text in texts)]))


def _dice(raw: Mapping[str, Any]) -> Attachment:
    return _in_words("other", "dice", _text(raw, "emoji", "value"))


def _in_words(kind: MediaKind, name: str, text: str) -> Attachment:
    return Attachment(kind, name=name, text=text[:_CHARACTERS])


def _make_unread(name: str) -> Callable[[Mapping[str, Any]], Attachment]:
    return lambda _raw: Attachment("other", name=name)


_IN_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Attachment]]] = {
    "sticker": _sticker,
    "contact": _contact,
    "venue": _venue,  # before the location that each venue has as well
    "location": _location,
    "poll": _poll,
    "checklist": _checklist,
    "dice": _dice,
    "animation": _make_unread("animation"),
    "story": _make_unread("story"),
    "paid_media": _make_unread("paid media"),
    "live_photo": _make_unread("live photo"),
}
ATTACHMENT_FIELDS: Final = frozenset(("photo", *(field for field, _, _ in _FILES), *_IN_WORDS))
"""The fields of a message that hold an attachment."""
RECEIVED_KINDS: Final[frozenset[MediaKind]] = frozenset(
    {"image", "voice", "audio", "video", "document", "sticker", "location", "contact", "other"}
)
