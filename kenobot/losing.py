"""Announces what went from memory's files all at once, so that the owner hears of it: once each, also after a crash."""

from functools import partial

from kenobot.bus import Bus
from kenobot.cognitive import losses
from kenobot.db import Database
from kenobot.signals import MEMORY_LOST


class Losing:
    """Call `tick` now and then."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self._database = database
        self._bus = bus

    async def tick(self) -> None:
        """Announce what nobody was told of yet. Raises StoreError."""
        for loss in await self._database.read(losses.untold):
            await self._bus.fire(
                MEMORY_LOST, "memory", "", at=loss.at, where=loss.where, files=loss.files, event=loss.event
            )
            await self._database.write_soon(partial(losses.tell, loss=loss))
