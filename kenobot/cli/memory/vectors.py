"""Vectors from the command line: search with the bot's own, and embed what a command has just brought."""

import asyncio
import contextlib
import sqlite3
from array import array
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, TypeVar

from kenobot.app import embedder_choice
from kenobot.app.wiring import build_ledger
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cognitive.memory import DEFAULT, EmbeddingWorker, SideIndex
from kenobot.cognitive.recall.index import vector_rows
from kenobot.cognitive.recall.vectors.texts import EmbeddedText, passage_text, text_hash
from kenobot.cognitive.store import records as store
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
_FLOAT_BYTES = 4


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
            await _embed_newest(database, embedder)
    except (TimeoutError, RemoteError):
        options.print_failure(_NOT_EMBEDDED)
    finally:
        await plugins.close([embedder])


async def _embed_newest(database: Database, embedder: Embedder) -> None:
    """Embed records from the newest on, as far as a page of them in which none waits. Raises RemoteError."""
    policy, model = DEFAULT.meaning, embedder.model_id
    high = await database.read(store.last_record)
    while high > 0:
        page = partial(vector_rows.missing_records, model=model, high=high, width=policy.page_rows)
        waiting = await database.read(partial(page, size=embedder.dimensions * _FLOAT_BYTES))
        for first in range(0, len(waiting), policy.max_batch):
            some = waiting[first : first + policy.max_batch]
            texts = [passage_text(each.text, policy) for each in some]
            rows = await embedder.embed(texts, "passage")
            embedded = [
                EmbeddedText(item, text_hash(text), array("f", row).tobytes())
                for item, text, row in zip(some, texts, rows, strict=True)
            ]
            await database.write(partial(vector_rows.write_records, model=model, rows=embedded))
        high = high - policy.page_rows if waiting else 0


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
