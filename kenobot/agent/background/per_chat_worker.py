"""A worker in the background that goes round the chats: where something was said, when a reply has left; everywhere,
when it is started and by a timer. One round at a time; what is asked for meanwhile is the next one.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence

from kenobot.core.bus import Bus
from kenobot.core.scheduler import Scheduler
from kenobot.core.worker import BackgroundTask
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import session_id
from kenobot.ports.signals import MESSAGE_OUT, Envelope, Signal
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)


class PerChatWorker(BackgroundTask, ABC):
    """`start` it once. Not `enabled`, it does nothing. wakes: signals at which it goes where something was said.

    every: seconds between rounds that look everywhere. Whatever a round fails with waits for the next.
    """

    def __init__(
        self, bus: Bus, database: Database, name: str, every: float, wakes: Sequence[Signal], *, enabled: bool
    ) -> None:
        super().__init__(name)
        self._bus = bus
        self._database = database
        self._every = every
        self._wakes = wakes
        self._enabled = enabled
        self._again = False
        self._everywhere = True
        self._heard: set[str] = set()

    async def start(self, schedule: Scheduler) -> None:
        """Take up what waits; from now on hear where there are new turns."""
        if not self._enabled:
            return
        self._bus.wake_on(MESSAGE_OUT, self._hear)
        for signal in self._wakes:
            self._bus.wake_on(signal, self._wake)
        schedule.every(self._every, self._name, self.tick)
        await self.tick()

    async def tick(self) -> None:
        """Look everywhere. Does not wait for it."""
        if self._enabled:
            self._everywhere = True
            self._wake()

    @property
    def changed_chats(self) -> int:
        """How many chats have something new."""
        return len(self._heard)

    @abstractmethod
    def _sessions(self, connection: Connection) -> Sequence[str]:
        """Every chat where something may be due."""

    @abstractmethod
    async def _advance(self, session: str) -> bool:
        """Do the next part in one chat, if it is due; whether to look there again at once."""

    def _is_resting(self) -> bool:
        """Whether nothing can be done anywhere now; then the next tick looks everywhere."""
        return False

    def _hear(self, envelope: Envelope) -> None:
        self._heard.add(session_id(str(envelope.payload["channel"]), str(envelope.payload["chat"])))

    def _wake(self, _: Envelope | None = None) -> None:
        self._again = True
        self._begin(self._run)

    async def _run(self) -> None:
        try:
            while self._again and not self._stopping:
                self._again = False
                await self._round()
        except StoreError as error:
            _log.warning("%s cannot go on now: %s", self._name, error)
        except Exception:
            _log.exception("%s failed; the next tick tries again", self._name)

    async def _round(self) -> None:
        sessions: Sequence[str] = sorted(self._heard)
        everywhere, self._everywhere = self._everywhere, False
        self._heard = set()
        if self._is_resting():
            return
        if everywhere:
            sessions = await self._database.read(self._sessions)
        for session in sessions:
            while not self._stopping and await self._advance(session):
                pass
