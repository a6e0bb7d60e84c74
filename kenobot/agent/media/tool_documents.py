"""Read documents for tools, whose failures are told to a model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kenobot.agent.media.documents import document_format, read_document
from kenobot.agent.media.problems import Unreadable
from kenobot.ports.errors import ToolFailed

_PROBLEMS: Final = {
    "reader_missing": "The reader of such files is not installed: the owner can add it with kenobot[documents].",
    "locked": "It is locked by a password.",
    "bomb": "It unpacks to far too much, and was not read.",
    "unknown_kind": "It is neither a text nor a document that can be read.",
}
_DAMAGED: Final = "It is damaged, or takes too long to read."


@dataclass(frozen=True, slots=True)
class ToolDocuments:
    """Reads documents within these limits."""

    characters: int
    seconds: float

    async def __call__(self, file: Path, name: str) -> str:
        """Return the text of a document that had this name. Raises ToolFailed."""
        kind = document_format(name, "")
        if not kind:
            raise ToolFailed(_PROBLEMS["unknown_kind"])
        try:
            return await read_document(file, kind, self.characters, self.seconds)
        except Unreadable as error:
            raise ToolFailed(_PROBLEMS.get(error.problem, _DAMAGED)) from None
