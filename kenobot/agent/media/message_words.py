"""Say in words what a message with attachments holds: its sender's own words, and others' as quotations. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from kenobot.agent.media.problems import file_name
from kenobot.core.left_out import cut_text
from kenobot.language.quoting import quote_lines
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Attachment, Inbound
from kenobot.ports.provider import Image
from kenobot.storage.attachments import AttachmentRow

_LONGEST: Final = 100_000  # characters of what a person said
_SPOKEN: Final = ("voice",)  # kinds that the sender recorded in the chat, as they might have typed
_LABELS: Final[Mapping[str, str]] = {
    "audio": "a recording",
    "video": "a video",
    "document": "a file",
    "image": "a picture",
    "voice": "a voice message",
    "contact": "a contact",
    "location": "a location",
    "sticker": "a sticker",
}
_MADE: Final[Mapping[str, str]] = {"dice": "a dice", "poll": "a poll", "checklist": "a checklist"}


@dataclass(frozen=True, slots=True)
class AttachedMedia:
    """A message whose attachments have been read.

    inbound: with all of it in words, and the attachments that could be read. problems: what could not be read, and why.
    has_content: anything of it can be answered. own_words: what its sender wrote and said.
    """

    inbound: Inbound
    problems: tuple[tuple[Attachment, str], ...] = ()
    has_content: bool = True
    own_words: str = ""


def message_pictures(inbound: Inbound) -> str:
    """Return the pictures of a message that was read, as the conversation keeps them."""
    pictures = (each for each in inbound.attachments if each.kind == "image" and each.digest)
    return " ".join(f"{each.digest} {each.mime}" for each in pictures)


def select_pictures(stored: str) -> tuple[Image, ...]:
    """Return the pictures of a message as a prompt shows them. stored: as the conversation keeps them."""
    words = stored.split()
    return tuple(Image(digest, mime) for digest, mime in zip(words[::2], words[1::2], strict=False))


def join_media(parts: Sequence[AttachedMedia]) -> AttachedMedia:
    """Join the messages that one is made of."""
    if len(parts) == 1:
        return parts[0]
    inbounds = [each.inbound for each in parts]
    whole = replace(
        inbounds[0],
        text="\n".join(each.text for each in inbounds if each.text),
        attachments=tuple(attachment for each in inbounds for attachment in each.attachments),
    )
    problems = tuple(problem for each in parts for problem in each.problems)
    return AttachedMedia(
        whole, problems, any(each.has_content for each in parts), "\n".join(each.own_words for each in parts)
    )


def describe(inbound: Inbound, rows: Mapping[int, AttachmentRow], document_chars: int) -> AttachedMedia:
    """Put a message's attachments into words. document_chars: that all of its documents together may take."""
    read, problems = list[Attachment](), list[tuple[Attachment, str]]()
    for number, attachment in enumerate(inbound.attachments):
        row = rows.get(number, AttachmentRow(number))
        if problem := row.problem or ("" if attachment.handle or attachment.text else "unknown_kind"):
            problems.append((attachment, problem))
        else:
            kind = "image" if row.mime.startswith("image/") else attachment.kind
            mime, text = row.mime or attachment.mime, row.text or attachment.text
            read.append(replace(attachment, kind=kind, mime=mime, digest=row.digest, text=text))
    long = sum(bool(each.handle) and each.kind not in ("image", *_SPOKEN) for each in read)
    room = document_chars // max(1, long)
    words = [
        inbound.text.strip(),
        *(_words(each, room) for each in read),
        *(_word_unread(each) for each, _ in problems),
    ]
    text = "\n\n".join(part for part in words if part)
    whole = replace(inbound, text=text, attachments=tuple(read))
    own = "\n".join([inbound.text, *(each.text for each in read if each.kind in _SPOKEN)])
    return AttachedMedia(whole, tuple(problems), bool(inbound.text.strip() or read), own)


def _words(attachment: Attachment, room: int) -> str:
    text = attachment.text
    if attachment.kind in _SPOKEN:
        return text[:_LONGEST]
    if attachment.kind == "image":
        return "[sent a picture]"
    if not attachment.handle:  # chosen, thrown or filled in by its sender in the chat: nobody else's words
        label = _LABELS.get(attachment.kind) or _MADE.get(attachment.name, "something else")
        return f"[sent {label}: {_bracket(text)}]"
    label = _LABELS.get(attachment.kind, "something else")
    name = f": {_bracket(file_name(attachment))}" if attachment.name else ""
    quoted = "\n".join(cut_text(text, room).splitlines())
    return "\n".join([f"[sent {label}{name}, whose content is quoted]", *quote_lines(quoted)])


def _bracket(text: str) -> str:
    """Write a text of several lines within brackets, which end where the text does."""
    lines = (" ".join(line.split()) for line in text.replace("[", "(").replace("]", ")").splitlines())
    return " · ".join(line.removeprefix("- ") for line in lines if line)


def _word_unread(attachment: Attachment) -> str:
    return f"[sent {_LABELS.get(attachment.kind, 'something')} that could not be read; the person is told so]"
