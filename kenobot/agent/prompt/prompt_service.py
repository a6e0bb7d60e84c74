"""Build the prompt of a turn once what it needs from models is at hand: vectors, and the marks of a reranker."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kenobot.agent.embedding_worker import EmbeddingWorker
from kenobot.agent.ledger.ledger import ModelCall
from kenobot.agent.ledger.models import BudgetedModel
from kenobot.agent.prompt.context_builder import ContextBuilder, PromptContext, PromptRequest
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.recall.results.memory import NO_MARKS, MemoryQuery, SearchReport
from kenobot.cognitive.recall.results.render import render_record
from kenobot.cognitive.recall.scoring import reranking
from kenobot.cognitive.text.recall_need import recall_need
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.load import Settings
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Reranker
from kenobot.ports.errors import RemoteError
from kenobot.ports.identity import Principal
from kenobot.ports.provider import Request
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import PendingMessage

_log = logging.getLogger(__name__)

RERANKING = "rerank"
_SECONDS = 8.0  # somebody waits for the reply
_FAILURES, _REST = 3, 300.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PromptService:
    """Embed a message where it is searched for, have what is found reranked, then build its prompt.

    The database's readers wait for no model: where only a plan tells whether there is a search, or for what, the prompt
    is planned first. Building works the plan out again in its own snapshot, so a prompt never mixes two.
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
        text, build = pending.inbound.text, partial(self.builder.build, request=request)
        if not self._may_wait(text):
            return await self._read(pending.session, build)
        if self.reranker is None and self.builder.searches_for(text):  # what is searched for needs no plan
            await self._embed(text)
            return await self._read(pending.session, build, lambda: self._embed(text))
        plan = await self._read(pending.session, partial(self.builder.plan, request=request))
        marks = NO_MARKS if plan.query is None else await self._ask_models(plan.query)
        return await self._read(pending.session, partial(build, marks=marks))

    def _may_wait(self, text: str) -> bool:
        """Return whether a search for `text` may need a model."""
        models = self.embedding.ready or self.reranker is not None
        return models and self.builder.may_search and recall_need(text) != "no_recall"

    async def _embed(self, text: str) -> None:
        """Embed a query, with what is just being embedded."""
        with self.database.pacer.waited_for():
            await self.embedding.embed_query(text)

    async def _ask_models(self, query: MemoryQuery) -> Mapping[int, float]:
        """Embed the query, and have what it finds marked by the reranker, if there is one."""
        await self._embed(query.text)
        if self.reranker is None:
            return NO_MARKS
        pack = await self.database.read(partial(self.builder.memory.search, query=query))
        return await rerank(self.reranker, query.text, pack.search) if pack.search is not None else NO_MARKS

    async def sync_edits(self, session: str) -> None:
        """Sync in files that a person edited, for a command that reads memory."""
        edited = self.mirror.has_changes(session)
        if edited is None or await self.database.read(lambda _: edited()):
            await self.mirror.sync_in(session)

    async def _read(
        self,
        session: str,
        work: Callable[[Connection], T],
        after_edits: Callable[[], Awaitable[None]] | None = None,
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
    """Have a model mark the `count` notes of a request; None where the budget is exhausted.

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
    texts = [render_record(memory.record) for memory in read]
    marks = await reranker.score(question, texts) if texts else None
    if marks is None or len(marks) != len(texts):
        return {}
    return {memory.record.id: mark for memory, mark in zip(read, marks, strict=True)}


class ModelReranker:
    """A `kenobot.ports.embedder.Reranker` that asks the provider."""

    def __init__(self, model: BudgetedModel, clock: Clock) -> None:
        self._model = model
        self._breaker = CircuitBreaker(clock, _FAILURES, _REST)

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        if not texts or not self._breaker.allows_request():
            return None
        ended = self._breaker.release_probe
        try:
            request, result = reranking.build_request(question, texts), None
            try:
                result = await request_marks(self._model, request, len(texts), _SECONDS)
                if result is None:
                    return None
                await self._model.settle(result.use)
            except TimeoutError:
                _log.warning("what was recalled could not be judged within %d seconds", _SECONDS)
            except RemoteError as error:
                _log.warning("what was recalled could not be judged: %s", error)
            marks = result.marks if result is not None else None
            ended = self._breaker.record_failure if marks is None else self._breaker.record_success
            return marks
        finally:
            ended()


def build_reranker(settings: Settings, model: BudgetedModel | None, clock: Clock) -> Reranker | None:
    """The reranker of the settings; by default none."""
    if settings.memory.reranker == "none" or model is None:
        return None
    return ModelReranker(model, clock)
