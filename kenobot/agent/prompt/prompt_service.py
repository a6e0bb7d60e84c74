"""Build the prompt of a turn once what it needs from models is at hand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kenobot.agent.embedding_worker import EmbeddingWorker
from kenobot.agent.prompt.context_builder import ContextBuilder, PromptContext, PromptRequest
from kenobot.agent.prompt.reranker import rerank
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.recall.results.memory import NO_MARKS, MemoryQuery
from kenobot.cognitive.text.recall_need import recall_need
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Reranker
from kenobot.ports.identity import Principal
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import PendingMessage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PromptService:
    """Plan a prompt, ask the embedder and the reranker where its plan has a search, then build it.

    The database's readers wait for no model. Building works the plan out again in its own snapshot, so a prompt never
    mixes two.
    """

    database: Database
    builder: ContextBuilder
    mirror: MemoryFiles
    clock: Clock
    embedding: EmbeddingWorker
    reranker: Reranker | None = None

    async def build(self, pending: PendingMessage, principal: Principal, *, reduced: bool = False) -> PromptContext:
        """The prompt for a message. reduced: make it much smaller than usual."""
        request = PromptRequest(pending, principal, self.clock.now(), reduced)
        marks = NO_MARKS
        if self._may_wait(pending.inbound.text):
            plan = await self._read(pending.session, partial(self.builder.plan, request=request))
            if plan.query is not None:
                marks = await self._ask_models(plan.query)
        return await self._read(pending.session, partial(self.builder.build, request=request, marks=marks))

    def _may_wait(self, text: str) -> bool:
        """Whether a search for `text` may need a model."""
        models = self.embedding.ready or self.reranker is not None
        return models and self.builder.may_search and recall_need(text) != "no_recall"

    async def _ask_models(self, query: MemoryQuery) -> Mapping[int, float]:
        """Embed the query, and have what it finds marked by the reranker, if there is one."""
        await self.embedding.embed_query(query.text)
        if self.reranker is None:
            return NO_MARKS
        pack = await self.database.read(partial(self.builder.memory.read, query=query))
        return await rerank(self.reranker, query.text, pack.search) if pack.search is not None else NO_MARKS

    async def _read(self, session: str, work: Callable[[Connection], T]) -> T:
        """Read memory as it is now: files that a person edited are synced in first."""
        edited = self.mirror.has_changes(session)

        def read(connection: Connection) -> T | None:
            return None if edited is None or edited() else work(connection)

        result = await self.database.read(read) if edited is not None else None
        if result is None:
            await self.mirror.sync_in(session)
            result = await self.database.read(work)
        return result
