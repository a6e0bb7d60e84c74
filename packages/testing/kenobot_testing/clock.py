"""A clock that moves only when told to."""

import asyncio
from datetime import UTC, datetime, timedelta

START = datetime(2026, 2, 14, 14, 30, tzinfo=UTC)


class ManualClock:
    """Starts at `start`; `advance` moves it and wakes whoever slept until then."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._elapsed + seconds, future))
        await future

    @property
    def pending_sleeps(self) -> list[float]:
        """Return how much longer each sleeper sleeps, in seconds."""
        return [until - self._elapsed for until, future in self._sleepers if not future.done()]

    def advance(self, seconds: float = 0, *, days: float = 0) -> None:
        """Move time forward and wake the sleepers whose time has come."""
        step = timedelta(days=days, seconds=seconds)
        self._now += step
        self._elapsed += step.total_seconds()
        for until, future in self._sleepers:
            if until <= self._elapsed and not future.done():
                future.set_result(None)
        self._sleepers = [(until, future) for until, future in self._sleepers if not future.done()]


class EagerClock(ManualClock):
    """Every sleep is over at once, and time has moved by it: for retries without waiting."""

    def __init__(self, start: datetime = START) -> None:
        super().__init__(start)
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)
