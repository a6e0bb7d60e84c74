"""Leave an expert alone that failed several times in a row, also after a restart.

It rests for five minutes, then for twice as long each time, up to a day; after each rest one call finds out.
"""

import logging
from datetime import datetime, timedelta

from kenobot.core.retry import Backoff
from kenobot.ports.clock import Clock
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.state import read_json, write_json

_log = logging.getLogger(__name__)

_TRIP_AFTER = 3  # failures in a row
_BACKOFF = Backoff(first=300.0, longest=86_400.0)  # seconds
_LONGEST = timedelta(seconds=_BACKOFF.longest)


class ExpertRest:
    """The failures in a row of one expert, kept under its name; read once and written when they change."""

    def __init__(self, database: Database, clock: Clock, name: str) -> None:
        self._database = database
        self._clock = clock
        self._name = name
        self._failures: int | None = None
        self._until: datetime | None = None

    async def is_over(self) -> bool:
        """Return whether the expert may be asked now; after a rest, True once until that call is recorded."""
        if self._failures is None:
            await self._load()
        if self._until is None:
            return True
        now = self._clock.now()
        if now < self._until <= now + _LONGEST:  # further off than any rest: the clock was set back
            return False
        self._until = now + timedelta(seconds=_BACKOFF.first)  # of those who ask meanwhile none is the probe
        return True

    async def record_success(self) -> None:
        """Forget the failures."""
        if self._failures:
            self._failures, self._until = 0, None
            await self._store()

    async def record_failure(self) -> None:
        """Count a failure; rest from the third in a row on."""
        self._failures = (self._failures or 0) + 1
        if self._failures >= _TRIP_AFTER:
            pause = timedelta(seconds=_BACKOFF.pause(self._failures - _TRIP_AFTER))
            self._until = self._clock.now() + pause
            _log.warning("%s failed %d times in a row: rules do it for %s", self._name, self._failures, pause)
        await self._store()

    @property
    def _key(self) -> str:
        return _key(self._name)

    async def _load(self) -> None:
        self._failures, self._until = await self._database.read(lambda connection: _read(connection, self._name))

    async def _store(self) -> None:
        until = self._until.isoformat() if self._until is not None else ""
        value = [self._failures, until]
        await self._database.write(lambda connection: write_json(connection, self._key, value))


def is_replaced_by_rules(connection: Connection, name: str) -> bool:
    """Return whether an expert has failed so often that rules do its work, until it succeeds again."""
    return _read(connection, name)[0] >= _TRIP_AFTER


def _read(connection: Connection, name: str) -> tuple[int, datetime | None]:
    none: list[object] = []
    match read_json(connection, _key(name), none):
        case [int(failures), str(until)]:
            return failures, datetime.fromisoformat(until) if until else None
        case _:
            return 0, None


def _key(name: str) -> str:
    return f"expert:{name}"


EXTRACTION = "extraction"
"""The name under which the model that extracts counts its failures."""
