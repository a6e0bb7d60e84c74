"""Tell time by PostgreSQL's clock: the clocks of a host's machines need not agree, and a home moves between them."""

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Final

from kenobot.ports.clock import Clock
from kenobot_host.activation import UNREACHABLE
from kenobot_host.hosted_telegram import Pool

_log = logging.getLogger(__name__)

_SET_SECONDS: Final = 60.0  # in which a machine's quartz goes wrong by some milliseconds
_ANSWER_SECONDS: Final = 5.0
_WRONG: Final = timedelta(seconds=5)


class CellClock:
    """PostgreSQL's clock as it was asked last, and what has passed since then by the machine's monotonic clock."""

    def __init__(self, machine: Clock) -> None:
        self._machine = machine
        self._asked_at = machine.monotonic()
        self._then = machine.now()

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        return self._then + timedelta(seconds=self._machine.monotonic() - self._asked_at)

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        return self._machine.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after some seconds."""
        await self._machine.sleep(seconds)

    async def set(self, pool: Pool) -> None:
        """Set it by PostgreSQL's. Raises TimeoutError and what is in UNREACHABLE."""
        async with asyncio.timeout(_ANSWER_SECONDS), pool.connection() as connection:
            asked = self._machine.monotonic()
            found = await connection.execute("SELECT clock_timestamp()")
            row = await found.fetchone()
        assert row is not None
        self._asked_at = (asked + self._machine.monotonic()) / 2
        self._then = row[0]

    async def begin(self, pool: Pool) -> None:
        """Set it for the first time, and warn where the machine's clock is wrong. Raises as `set` does."""
        await self.set(pool)
        if abs(wrong := self._machine.now() - self.now()) > _WRONG:
            _log.warning("the clock of this machine is off by %s; homes go by that of PostgreSQL", wrong)

    async def set_on(self, pool: Pool) -> None:
        """Set it again and again until cancelled."""
        while True:
            await self._machine.sleep(_SET_SECONDS)
            try:
                await self.set(pool)
            except (TimeoutError, *UNREACHABLE) as error:
                _log.debug("the clock is not set while the database is away: %s", error)
