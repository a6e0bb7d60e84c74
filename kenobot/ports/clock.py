"""The clock: the only source of time, so that tests can move it."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back; only differences mean anything."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock's time."""
        ...


class SystemClock:
    """The machine's own clock, optionally shifted so that it started at `start`."""

    def __init__(self, start: datetime | None = None) -> None:
        self._shift = start - datetime.now(UTC) if start else timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._shift

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
