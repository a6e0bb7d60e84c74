"""A value of the database that is read again when a command changed it."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection

from kenobot.core.worker import TaskSet
from kenobot.ports.errors import StoreError

_log = logging.getLogger(__name__)


class RefreshedByCommands(ABC):
    """Knows something by heart. kind: of the changes, as commands name them, after which it is read again."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._refreshing = TaskSet(kind)

    @abstractmethod
    async def refresh(self) -> None:
        """Read it. Raises StoreError."""

    def note_command(self, changes: Collection[str]) -> None:
        """Begin to read it again when a command changed it; the next message waits for it."""
        if self._kind in changes:
            self._refreshing.begin(self._refresh_or_log())

    async def wait_refreshed(self) -> None:
        """Return once every change that a command made is known, or could not be read."""
        await self._refreshing.wait_idle()

    async def _refresh_or_log(self) -> None:
        try:
            await self.refresh()
        except StoreError as error:
            _log.error("what a command changed could not be read (%s): %s", self._kind, error)
