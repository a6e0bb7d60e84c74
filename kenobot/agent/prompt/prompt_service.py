"""Build the prompt of a turn once what it needs from models is at hand: vectors, further queries, and marks."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from kenobot.agent.experts import reranking
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_context import PromptContext, PromptRequest
from kenobot.cognitive.memory import (
    EmbeddingWorker,
    MemoryPack,
    MemoryQuery,
    MemoryReader,
    SearchHints,
    SearchReport,
)
from kenobot.language.recall_need import recall_need
from kenobot.ledger.ledger import ModelCall
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import QueryExpander, Reranker
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.memory_files import Mirror
from kenobot.ports.provider import Request
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PromptService:
    """Embed a message where it is searched for, ask the models that help recall, then build its prompt.

    The database's readers wait for no model: where only a plan tells whether there is a search, or for what, the prompt
    is planned first. Building works the plan out again in its own snapshot, so a prompt never mixes two.
    """

    database: Database
    builder: ContextBuilder
    mirror: Mirror
    clock: Clock
    embedding: EmbeddingWorker
    reranker: Reranker | None = None
    expander: QueryExpander | None = None

    async def build(self, pending: PendingMessage, principal: Principal, *, reduced: bool = False) -> PromptContext:
        """Return the prompt for a message. reduced: make it much smaller than usual."""
        request = PromptRequest(pending, principal, self.clock.now(), reduced)
        text, build = pending.inbound.text, partial(self.builder.build, request=request)
        if not self._may_wait(text):
            return await self._read(pending.session, build)
        began = self.clock.monotonic()
        if self.reranker is None and self.builder.searches_for(text):  # what is searched for needs no plan
            also = await self._embed(text)
            seconds, found = self.clock.monotonic() - began, partial(build, hints=SearchHints(also))
            context = await self._read(pending.session, found, lambda: self._embed(text))
            return context.with_recall_time(seconds)
        plan = await self._read(pending.session, partial(self.builder.plan, request=request))
        hints = SearchHints() if plan.query is None else await self._ask_models(plan.query)
        seconds = self.clock.monotonic() - began
        return (await self._read(pending.session, partial(build, hints=hints))).with_recall_time(seconds)

    async def search(self, text: str, principal: Principal, session: str) -> MemoryPack:
        """Search what a speaker may see of memory for a query of the model's own, which needs no further queries."""
        with self.database.pacer.mark_waiting():
            await self.embedding.embed_query(text)
        query = self.builder.query(text, principal, session, self.clock.now())
        return await self._read(session, partial(self.builder.memory.search, query=query))

    def _may_wait(self, text: str) -> bool:
        """Return whether a search for `text` may need a model."""
        models = self.embedding.ready or self.reranker is not None or self.expander is not None
        return models and self.builder.may_search and recall_need(text) != "no_recall"

    async def _embed(self, text: str) -> tuple[str, ...]:
        """Embed a query, with what is just being embedded, and its further queries, which are returned."""
        also = tuple(await self.expander.expand(text)) if self.expander is not None else ()
        with self.database.pacer.mark_waiting():
            await asyncio.gather(*map(self.embedding.embed_query, (text, *also)))
        return also

    async def _ask_models(self, query: MemoryQuery) -> SearchHints:
        """Embed the query and its further queries, and have what they find marked by the reranker, if there is one."""
        also = await self._embed(query.text)
        hints = SearchHints(also)
        if self.reranker is None:
            return hints
        pack = await self.database.read(partial(self.builder.memory.search, query=hints.add_to(query)))
        if pack.search is None:
            return hints
        return SearchHints(also, await rerank(self.reranker, query.text, pack.search))

    async def sync_edits(self, session: str) -> None:
        """Sync in files that a person edited, for a command that reads memory."""
        edited = self.mirror.has_changes(session)
        if edited is None or await self.database.read(lambda _: edited()):
            await self.mirror.sync_in(session)

    async def _read(
        self,
        session: str,
        work: Callable[[Connection], T],
        after_edits: Callable[[], Awaitable[object]] | None = None,
    ) -> T:
        """Read memory as it is now: files that a person edited are synced in first, and `after_edits` is done then."""
        edited = self.mirror.has_changes(session)

        def read(connection: Connection) -> T | None:
            return None if edited is None or edited() else work(connection)

        result = await self.database.read(read) if edited is not None else None
        if result is None:
            await self.mirror.sync_in(session)
            if after_edits is not None:
                await after_edits()
            result = await self.database.read(work)
        return result


@dataclass(frozen=True, slots=True)
class RerankResult:
    """Marks of some notes, 0 to 1 each, None when the answer cannot be read. use: the call, still to be settled."""

    marks: list[float] | None
    use: ModelCall


async def request_marks(model: BudgetedModel, request: Request, count: int, seconds: float) -> RerankResult | None:
    """Ask a model to mark the `count` notes of a request; None where the budget is exhausted.

    Raises TimeoutError or RemoteError.
    """
    async with asyncio.timeout(seconds):
        answer = await model.ask(request)
    if answer is None:
        return None
    reply, use = answer
    return RerankResult(reranking.parse_marks(reply.text, count), use)


async def rerank(reranker: Reranker, question: str, report: SearchReport) -> Mapping[int, float]:
    """Return how much each candidate helps to answer, 0 to 1, by its record.

    Nothing where the reranker could not tell.
    """
    read = report.candidates[: reranking.MAX_NOTES]
    texts = [MemoryReader.render_record(memory.record) for memory in read]
    marks = await reranker.score(question, texts) if texts else None
    if marks is None or len(marks) != len(texts):
        return {}
    return {memory.record.id: mark for memory, mark in zip(read, marks, strict=True)}
