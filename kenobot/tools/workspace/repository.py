"""Parse the name of a repository on a forge. Pure."""

from typing import Final

from kenobot.core import lazy
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.tools.workspace.paths import show_path

_NAME: Final = lazy.regex(r"([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})/([A-Za-z0-9_.][A-Za-z0-9_.-]{0,99})")


@dataclass(frozen=True, slots=True)
class Repository:
    owner: str
    name: str


def parse_repository(written: str) -> Repository:
    """Return the repository that "owner/name" names; neither may be a way through folders. Raises ToolFailed."""
    found = _NAME.fullmatch(written)
    if found is None or not found[2].strip("."):
        raise ToolFailed(f'{show_path(written)} is no repository: write "owner/name".')
    return Repository(found[1], found[2])
