"""Keeps the memory index up to date in the background: what was there before it, and what no query asked for yet."""

import asyncio
import logging

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.ports.errors import StoreError
from kenobot.storage.database import Database

log = logging.getLogger(__name__)

_ROWS = 100  # a step: a reader is busy with it for some hundredths of a second
_WORTH_TELLING = 5000  # rows
_TENTHS = 10


class Indexer:
    """Works through what the index lacks, a little at a time, so that turns are answered meanwhile."""

    def __init__(self, database: Database, index: SideIndex) -> None:
        self._database = database
        self._index = index
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start at once, without waiting for it."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep_up_quietly(), name="memory index")

    async def index_all(self) -> None:
        """Take in all that is new and all that is missing; return when it is done. Raises StoreError."""
        await self._database.read(self._index.catch_up)
        whole = await self._database.read(self._index.backlog_size)
        told = 0
        if whole >= _WORTH_TELLING:
            log.info("The memory index is being made: about %s rows.", whole)
        while left := await self._database.read(lambda connection: self._index.index_backlog(connection, _ROWS)):
            done = _TENTHS * (whole - left) // max(1, whole)
            if whole >= _WORTH_TELLING and done > told:
                told = done
                log.info("The memory index: %s %%.", 100 * done // _TENTHS)

    async def stop(self) -> None:
        """End the background work. What is left is taken up at the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _keep_up_quietly(self) -> None:
        try:
            await self.index_all()
        except StoreError as error:
            log.warning("The memory index has to wait: %s", error)
