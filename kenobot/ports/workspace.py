"""A folder of the owner's in which tools may work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from kenobot.ports.errors import ToolFailed


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder by the name that models know it by. path: absolute, without links."""

    name: str
    path: Path
    read_only: bool = False


ReadDocument = Callable[[Path, str], Awaitable[str]]
"""Return the text of a PDF or office file. The second argument is the name that it was given. Raises ToolFailed."""


async def read_no_document(_file: Path, name: str) -> str:
    """Refuse each document, where there are no readers."""
    raise ToolFailed(f"`{name}` is no text, and there is nothing here that reads it.")
