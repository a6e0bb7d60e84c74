"""Finding by meaning from the command line: with the bot's own vectors, and a model loaded for one question."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from kenobot.cognitive.recall.index.index import SideIndex
    from kenobot.cognitive.store.scopes import Scopes
    from kenobot.core.settings.home import Home
    from kenobot.ports.clock import Clock

T = TypeVar("T")

_PLACING = 2.0  # seconds
_PATIENCE = 10.0  # seconds: a person waits for one answer, and a model may have to be loaded for it


class SnapshotReader:
    """A connection that reads, in the place of a database: what would be written is for the bot to write."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` at once, in the one snapshot there is."""
        await asyncio.sleep(0)
        return work(self._connection)

    async def write_soon(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Let `work` be: whatever it wanted to keep is kept in memory only."""
        return None  # type: ignore[return-value]


def enable_vector_search(
    home: "Home", connection: sqlite3.Connection, index: "SideIndex", text: str, clock: "Clock"
) -> None:
    """Have `index` find by the meaning of `text` too, where there is a model. Never raises for want of one."""
    from kenobot.agent.embedding_worker import EmbeddingWorker
    from kenobot.app.embedder_choice import choose_embedder, previous_embedders
    from kenobot.core.settings.load import load_settings
    from kenobot.ports.plugin import PluginContext

    loaded = load_settings(home, os.environ)
    surroundings = PluginContext(home.path, clock, loaded.settings.bot.name)
    chosen = choose_embedder(loaded, surroundings).embedder
    if chosen is None:
        return
    embedding = EmbeddingWorker(
        SnapshotReader(connection),
        index,
        clock,
        chosen,
        lambda models: previous_embedders(loaded, surroundings, models),
    )

    async def ask() -> None:
        await embedding.load()
        with contextlib.suppress(TimeoutError):  # the newest of what no bot has placed yet
            async with asyncio.timeout(_PLACING):
                await embedding.wait_idle()
        await embedding.embed_query(text, patience=_PATIENCE)
        await embedding.stop()

    asyncio.run(ask())


def vector_stats(home: "Home", connection: sqlite3.Connection, reach: "Scopes", clock: "Clock") -> dict[str, Any]:
    """Which model places memory, why none does, and how much of it has a vector of that model."""
    from kenobot.app.embedder_choice import choose_embedder
    from kenobot.cognitive.recall.vectors import turn_vectors, vector_rows
    from kenobot.core.settings.load import load_settings
    from kenobot.ports.errors import ConfigError
    from kenobot.ports.plugin import PluginContext

    loaded = load_settings(home, os.environ)
    try:
        choice = choose_embedder(loaded, PluginContext(home.path, clock, loaded.settings.bot.name))
        embedder, why = choice.embedder, choice.reason
    except ConfigError as error:
        embedder, why = None, str(error)
    if embedder is None:
        return {"embedder": f"none, found by words alone: {why}", "vectors": None, "turn_vectors": None}
    records, placed = vector_rows.count(connection, reach, embedder.model_id)
    found: dict[str, Any] = {
        "embedder": embedder.model_id,
        "vectors": {"placed": placed, "waiting": records - placed},
        "turn_vectors": None,
    }
    try:
        index = sqlite3.connect(f"{home.index.as_uri()}?mode=ro", uri=True, timeout=2)
        try:
            turns, placed = turn_vectors.count(index, embedder.model_id)
        finally:
            index.close()
        found["turn_vectors"] = {"placed": placed, "waiting": turns - placed}
    except sqlite3.Error:
        pass  # there is no index yet, or an older one
    return found
