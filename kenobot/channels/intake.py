"""Hand over what came in on a connection that repeats nothing: in order, each message until it is stored."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from kenobot.core.retry import Backoff
from kenobot.ports.channel import Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.messages import Inbound

logger = logging.getLogger(__name__)

_RETRY: Final = Backoff(1.0, 30.0)
_ROOM: Final = 200  # messages
_OLDEST: Final = timedelta(days=366)

Acknowledge = Callable[[], Awaitable[None]]


class Intake:
    """Keep messages until the sink has stored them, also from one connection to the next."""

    def __init__(self, clock: Clock, room: int = _ROOM) -> None:
        self._clock = clock
        self._room = room
        self._waiting: deque[tuple[Inbound, Acknowledge | None]] = deque()  # bounded: `room` messages; turn
        self._changed = asyncio.Event()

    async def put(self, inbound: Inbound, stored: Acknowledge | None = None) -> None:
        """Take a message in; wait while there is no room. stored: called once the message is on disk."""
        await self._wait_until(lambda: len(self._waiting) < self._room)
        self._waiting.append((inbound, stored))
        self._changed.set()

    def put_now(self, inbound: Inbound, stored: Acknowledge | None = None) -> bool:
        """Take a message in; False when there is no room."""
        if len(self._waiting) >= self._room:
            return False
        self._waiting.append((inbound, stored))
        self._changed.set()
        return True

    def forget(self) -> None:
        """Drop what is not stored, because the platform brings that again."""
        self._waiting.clear()

    @property
    def is_empty(self) -> bool:
        """True when all that came in is stored."""
        return not self._waiting

    async def run(self, sink: Sink) -> None:
        """Store until cancelled. What the disk does not take is tried again, with growing pauses."""
        failures = 0
        while True:
            await self._wait_until(lambda: bool(self._waiting))
            inbound, stored = self._waiting[0]
            try:
                await sink(inbound)
            except StoreError as error:
                logger.warning("a message of %s cannot be stored and is kept meanwhile: %s", inbound.channel, error)
                await self._clock.sleep(_RETRY.pause(failures))
                failures += 1
                continue
            failures = 0
            self._waiting.popleft()
            self._changed.set()
            if stored is not None:
                await stored()

    async def _wait_until(self, ready: Callable[[], bool]) -> None:
        while not ready():
            self._changed.clear()
            await self._changed.wait()


def read_time(told: object, clock: Clock) -> datetime:
    """Return when a message was sent, as its server or sender says; now for what cannot be.

    told: a time with its zone, the text of one, or milliseconds.
    """
    now = clock.now()
    try:
        if isinstance(told, int | float):
            told = datetime.fromtimestamp(told / 1000, UTC)
        found = told if isinstance(told, datetime) else datetime.fromisoformat(str(told))
        return found.astimezone(UTC) if found.tzinfo is not None and now - _OLDEST <= found <= now else now
    except (ValueError, OverflowError, OSError):
        return now
