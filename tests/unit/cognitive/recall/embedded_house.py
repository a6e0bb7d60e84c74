"""A home whose memories are placed by meaning."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from kenobot.cognitive.recall.embedding_worker import EmbeddingWorker
from kenobot.cognitive.recall.vectors import calibration
from kenobot.ports.embedder import Embedder
from kenobot.storage.connection import Connection
from kenobot_testing.clock import EagerClock, ManualClock
from kenobot_testing.embedder import WordEmbedder
from tests.unit.cognitive.recall.house import Memory, insert, open_memory

ANIMALS = [("cat", "gato"), ("sleeps", "duerme")]


@dataclass
class House:
    """A memory, a model, and the worker between them."""

    memory: Memory
    model: WordEmbedder
    embedding: EmbeddingWorker
    clock: ManualClock

    @property
    def placed(self) -> list[str]:
        """What the model was asked to place, but what every model is asked once, in order."""
        known = {*calibration.calibration_passages()}
        return [text for text, kind in self.model.embedded if kind == "passage" and text not in known]

    async def rows(self, sql: str = "SELECT record_id, model FROM vector ORDER BY 1, 2") -> list[tuple[object, ...]]:
        return await self.memory.database.read(lambda c: c.execute(sql).fetchall())

    def turns(self) -> list[tuple[object, ...]]:
        """The messages that have vectors."""
        with closing(sqlite3.connect(self.memory.path, isolation_level=None)) as index:
            return index.execute("SELECT message, model FROM turn_vector ORDER BY 1, 2").fetchall()

    async def restarted(self, model: WordEmbedder, formers: Sequence[Embedder] = ()) -> "House":
        """The same home with another process and perhaps another model."""
        await self.embedding.stop()
        self.memory.index.vectors = None
        known = {each.model_id: each for each in formers}
        found = lambda wanted: [known[name] for name in wanted if name in known]  # noqa: E731
        embedding = EmbeddingWorker(self.memory.database, self.memory.index, self.clock, model, found)
        return House(self.memory, model, embedding, self.clock)


@asynccontextmanager
async def house(folder: Path, clock: ManualClock | None = None) -> AsyncIterator[House]:
    async with open_memory(folder) as memory:
        clock = clock or EagerClock()
        model = WordEmbedder(ANIMALS)
        made = House(memory, model, EmbeddingWorker(memory.database, memory.index, clock, model), clock)
        try:
            yield made
        finally:
            await made.embedding.stop()


async def learn(home: House, texts: Sequence[str]) -> None:
    """Records, all at once."""

    def work(connection: Connection) -> None:
        for text in texts:
            insert(connection, text, {}, home.memory.now)

    await home.memory.database.write(work)
