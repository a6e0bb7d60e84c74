"""Keep what a change was about until the page after it tells it: no address of a page holds words of memory."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class UndoButton:
    """A button that takes a change back. path: of its form, below /dashboard. fields: that it sends."""

    path: str
    fields: Mapping[str, object] = field(default_factory=dict)  # bounded: the fields of one form; start


@dataclass(frozen=True, slots=True)
class Note:
    """The subject of a change, and the button that takes it back."""

    about: str
    undo: UndoButton | None = None


class Notes:
    """The notes of the last changes, each for the session that made it."""

    def __init__(self) -> None:
        self._notes: OrderedDict[tuple[str, str], Note] = OrderedDict()  # bounded: _MOST; turn

    def keep(self, secret: str, note: Note) -> str:
        """Keep a note of a session; the name by which it is found."""
        name = secrets.token_hex(8)
        self._notes[_key(secret, name)] = note
        while len(self._notes) > _MOST:
            self._notes.popitem(last=False)
        return name

    def find(self, secret: str, name: str) -> Note | None:
        """Find a note of a session; None for one that is not kept any more."""
        return self._notes.get(_key(secret, name))


def _key(secret: str, name: str) -> tuple[str, str]:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest(), name
