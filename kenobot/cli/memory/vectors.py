"""Vectors from the command line: search with the bot's own, and embed what a command has just brought."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from kenobot.app import embedder_choice
from kenobot.app.wiring import build_ledger
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cognitive.memory import EmbeddingWorker, Inspection, SideIndex
from kenobot.core import plugins
from kenobot.ledger.embedding import LedgerMeter
from kenobot.ports.embedder import Embedder, EmbeddingMeter, Metered
from kenobot.ports.errors import ConfigError, RemoteError
from kenobot.ports.sentences import Sentence
from kenobot.storage.database import Database

T = TypeVar("T")

_EMBEDDING_TIMEOUT = 2.0  # seconds for records that the bot has not embedded yet
_NOT_EMBEDDED = (
    "Memories that are not embedded yet are found by their words only. The bot embeds them while it runs: "
    "`kenobot run`."
)
_QUERY_TIMEOUT = 10.0  # seconds, with loading the model
_PLACING_TIMEOUT = 2.0  # seconds for what a command has brought, with loading the model: one on a calm machine


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
    """Let `index` search by the vector of `text` too, where there is a model."""
    loaded = context.loaded
    plugin = context.plugin_context
    embedder = embedder_choice.choose_embedder(loaded, plugin).embedder
    if embedder is None:
        return

    async def embed() -> None:
        async with _meter(context, embedder) as meter:
            worker = EmbeddingWorker(
                SnapshotReader(connection),
                index,
                context.clock,
                embedder,
                lambda models: embedder_choice.previous_embedders(loaded, plugin, models),
                meter=meter,
            )
            await worker.load()
            try:
                async with asyncio.timeout(_EMBEDDING_TIMEOUT):
                    await worker.wait_idle()
            except TimeoutError:
                options.print_failure(_NOT_EMBEDDED)
            await worker.embed_query(text, patience=_QUERY_TIMEOUT)
            await worker.stop()

    asyncio.run(embed())


@contextlib.asynccontextmanager
async def _meter(context: CommandContext, embedder: Embedder) -> AsyncIterator[EmbeddingMeter | None]:
    """Open the ledger of the home for an embedder that asks a server; the others count nothing."""
    if not isinstance(embedder, Metered):
        yield None
        return
    context.require_current_schema()
    database = Database.open(context.home.database, context.home.backups)
    try:
        yield LedgerMeter(build_ledger(context.loaded.settings, database, context.clock))
    finally:
        await database.close()


async def embed_new_records(context: CommandContext, database: Database) -> None:
    """Embed the newest records within two seconds, or say that they wait for the bot."""
    try:
        embedder = embedder_choice.choose_embedder(context.loaded, context.plugin_context).embedder
    except ConfigError as error:
        options.print_failure(error)
        return
    if embedder is None:
        return
    if isinstance(embedder, Metered):
        embedder.meter = LedgerMeter(build_ledger(context.loaded.settings, database, context.clock))
    try:
        async with asyncio.timeout(_PLACING_TIMEOUT):
            await EmbeddingWorker.embed_newest(database, embedder)
    except (TimeoutError, RemoteError):
        options.print_failure(_NOT_EMBEDDED)
    finally:
        await plugins.close([embedder])


def vector_stats(context: CommandContext, connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the embedding model, or the reason for none, and how many records and messages it has embedded."""
    try:
        choice = embedder_choice.choose_embedder(context.loaded, context.plugin_context)
        embedder, why = choice.embedder, choice.reason
    except ConfigError as error:
        embedder, why = None, str(error)
    if embedder is None:
        return {
            "embedder": Sentence("none, found by words alone: {why}", why=why),
            "vectors": None,
            "turn_vectors": None,
        }
    counts = Inspection.count_vectors(connection, context.scopes, context.home.index, embedder.model_id)
    return {"embedder": embedder.model_id, **counts}
