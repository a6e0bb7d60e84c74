"""Read documents that a tool brought, by the readers of those that people send."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from kenobot.agent.media.documents import document_format, read_document
from kenobot.agent.media.problems import MediaProblem, Unreadable
from kenobot.core.limited_program import temporary_file
from kenobot.ports.errors import ToolFailed

_SECONDS: Final = 14.0
_PROBLEMS: Final[Mapping[MediaProblem, str]] = {
    "reader_missing": "What reads such documents is not installed: the owner can run pip install 'kenobot[documents]'.",
    "locked": "The document is locked by a password.",
    "bomb": "The document unpacks to far too much, and is not opened.",
    "unknown_kind": "That is no text, page or document, and cannot be read.",
    "no_text": "The document holds no text; it may hold nothing but pictures.",
}
_DAMAGED: Final = "The document is damaged, or too much to read."


async def read_fetched(content: bytes, name: str, mime: str, characters: int, *, now: datetime | None = None) -> str:
    """Return the text of a document, as far as `characters`, and what is left out. Raises ToolFailed.

    now: of a calendar, from when on it is read; None for all of it.
    """
    kind = document_format(name, mime)
    try:
        if not kind:
            raise Unreadable("unknown_kind")
        async with temporary_file(content) as file:
            text = await read_document(file, kind, characters, _SECONDS, now)
        if not text:
            raise Unreadable("no_text")
    except Unreadable as error:
        raise ToolFailed(_PROBLEMS.get(error.problem, _DAMAGED)) from None
    return text
