"""A folder of the owner's in which tools may work."""

from pathlib import Path
from typing import Final

from kenobot.ports.frozen import dataclass

SANDBOX_ROOT: Final = "/work"
"""The root of a workspace as commands in the sandbox see it, and as models may write it."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder by the name that models know it by. path: absolute, without links."""

    name: str
    path: Path
    read_only: bool = False
