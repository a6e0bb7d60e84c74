"""Keep the memory index up to date in the background."""

import logging

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.core.worker import BackgroundTask
from kenobot.ports.errors import StoreError
from kenobot.storage.database import Database

log = logging.getLogger(__name__)

_ROWS = 100  # a step: a reader is busy with it for some hundredths of a second
_WORTH_TELLING = 5000  # rows
_TENTHS = 10


class Indexer(BackgroundTask):
    """Index the backlog in small steps, so that turns are answered meanwhile."""

    def __init__(self, database: Database, index: SideIndex) -> None:
        super().__init__("memory index")
        self._database = database
        self._index = index

    def begin(self) -> None:
        """Start to index the backlog."""
        self._begin(self._index_quietly)

    async def index_all(self) -> None:
        """Index all that is new and the whole backlog. Raises StoreError."""
        await self._database.read(self._index.catch_up)
        whole = await self._database.read(self._index.backlog_size)
        logged = 0
        if whole >= _WORTH_TELLING:
            log.info("The memory index is being made: about %s rows.", whole)
        while left := await self._database.read(lambda connection: self._index.index_backlog(connection, _ROWS)):
            done = _TENTHS * (whole - left) // max(1, whole)
            if whole >= _WORTH_TELLING and done > logged:
                logged = done
                log.info("The memory index: %s %%.", 100 * done // _TENTHS)

    async def _index_quietly(self) -> None:
        try:
            await self.index_all()
        except StoreError as error:
            log.warning("The memory index has to wait: %s", error)
