"""Finishes what a purge has begun, where the command line could not: beside a running bot, or because it died halfway.

The database's rows are erased in one transaction. After that the Markdown files are written without the words, the
index is emptied of them, and only then the file is written anew: each of these leaves what it overwrote in free space.
"""

import asyncio
from pathlib import Path

from kenobot.agent.background import purge
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.recall.index.indexer import Indexer
from kenobot.storage.database import Database


class PurgeFinisher:
    """Finish purges of the database in `path`; call `tick` now and then."""

    def __init__(self, database: Database, path: Path, files: MemoryFiles, indexer: Indexer) -> None:
        self._database = database
        self._path = path
        self._files = files
        self._indexer = indexer

    async def tick(self) -> None:
        """Finish a purge if one is unfinished. Raises StoreError; what cannot be finished is tried again next time.

        The database is written anew in a thread; writes wait for it, some seconds where it is very large.
        """
        if not await self._database.read(purge.is_purge_unfinished):
            return
        await self._files.sync_out()
        await self._indexer.index_all()
        await asyncio.to_thread(purge.vacuum_erased, self._path)
