"""Vector search from the command line: with the bot's own vectors, and a model loaded for one question."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from kenobot.agent.embedding_worker import EmbeddingWorker
from kenobot.app import embedder_choice
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cognitive.recall.index import vector_rows
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.ports.errors import ConfigError

T = TypeVar("T")

_EMBEDDING_TIMEOUT = 2.0  # seconds for records that the bot has not embedded yet
_NOT_EMBEDDED = (
    "Memories that are not embedded yet are found by their words only. The bot embeds them while it runs: "
    "`kenobot run`."
)
_QUERY_TIMEOUT = 10.0  # seconds, with loading the model


class SnapshotReader:
    """A read-only connection in the place of a database: writing is for the bot."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        await asyncio.sleep(0)
        return work(self._connection)

    async def write_soon(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Skip `work`: its outcome stays in memory only."""
        return None  # type: ignore[return-value]


def enable_vector_search(context: CommandContext, connection: sqlite3.Connection, index: SideIndex, text: str) -> None:
    """Have `index` search by the vector of `text` too, where there is a model."""
    loaded = context.loaded
    plugin = context.plugin_context
    embedder = embedder_choice.choose_embedder(loaded, plugin).embedder
    if embedder is None:
        return
    worker = EmbeddingWorker(
        SnapshotReader(connection),
        index,
        context.clock,
        embedder,
        lambda models: embedder_choice.previous_embedders(loaded, plugin, models),
    )

    async def embed() -> None:
        await worker.load()
        try:
            async with asyncio.timeout(_EMBEDDING_TIMEOUT):
                await worker.wait_idle()
        except TimeoutError:
            options.print_failure(_NOT_EMBEDDED)
        await worker.embed_query(text, patience=_QUERY_TIMEOUT)
        await worker.stop()

    asyncio.run(embed())


def vector_stats(context: CommandContext, connection: sqlite3.Connection) -> dict[str, Any]:
    """The embedding model, or the reason for none, and how many records and messages it has embedded."""
    try:
        choice = embedder_choice.choose_embedder(context.loaded, context.plugin_context)
        embedder, why = choice.embedder, choice.reason
    except ConfigError as error:
        embedder, why = None, str(error)
    if embedder is None:
        return {"embedder": f"none, found by words alone: {why}", "vectors": None, "turn_vectors": None}
    records, placed = vector_rows.count_records(connection, context.scopes, embedder.model_id)
    figures: dict[str, Any] = {
        "embedder": embedder.model_id,
        "vectors": {"placed": placed, "waiting": records - placed},
        "turn_vectors": None,
    }
    with contextlib.suppress(sqlite3.Error):  # there may be no index yet, or an older one
        uri = f"{context.home.index.as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=2)) as index:
            turns, placed = vector_rows.count_turns(index, embedder.model_id)
        figures["turn_vectors"] = {"placed": placed, "waiting": turns - placed}
    return figures
