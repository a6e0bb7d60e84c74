"""Rerank what recall found by a model that reads it, within a daily token budget."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from kenobot.agent.model_router import ModelRouter, TokenBudget, tokens_used
from kenobot.cognitive.recall.results.memory import SearchReport
from kenobot.cognitive.recall.results.render import render_record
from kenobot.cognitive.recall.scoring import reranking
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.load import Settings
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Reranker
from kenobot.ports.errors import RemoteError
from kenobot.ports.provider import Request
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

JOB = "rerank"
_SECONDS = 8.0  # somebody waits for the reply
_FAILURES, _REST = 3, 300.0


@dataclass(frozen=True, slots=True)
class RerankResult:
    """Marks of some notes, 0 to 1 each, None when the answer cannot be read; and the tokens used."""

    marks: list[float] | None
    tokens: int
    model: str = ""


async def request_marks(model: ModelRouter, request: Request, count: int, seconds: float) -> RerankResult:
    """Have a model mark the `count` notes of a request. Raises TimeoutError or RemoteError."""
    async with asyncio.timeout(seconds):
        reply = await model.ask(request)
    return RerankResult(reranking.parse_marks(reply.text, count), tokens_used(request, reply), reply.model)


async def rerank(reranker: Reranker, question: str, report: SearchReport) -> Mapping[int, float]:
    """How much each candidate helps to answer, 0 to 1, by its record; nothing where the reranker could not tell."""
    read = report.candidates[: reranking.MAX_NOTES]
    texts = [render_record(memory.record) for memory in read]
    marks = await reranker.score(question, texts) if texts else None
    if marks is None or len(marks) != len(texts):
        return {}
    return {memory.record.id: mark for memory, mark in zip(read, marks, strict=True)}


class ModelReranker:
    """A `kenobot.ports.embedder.Reranker` that asks the provider."""

    def __init__(self, model: ModelRouter, budget: TokenBudget, clock: Clock) -> None:
        self._model = model
        self._budget = budget
        self._breaker = CircuitBreaker(clock, _FAILURES, _REST)

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        if not texts or not self._breaker.allows_request():
            return None
        ended = self._breaker.release_probe
        try:
            request = reranking.build_request(question, texts)
            use = await self._budget.reserve(request)
            if use is None:
                return None
            marks, tokens = None, 0
            try:
                result = await request_marks(self._model, request, len(texts), _SECONDS)
                marks, tokens = result.marks, result.tokens
            except TimeoutError:
                tokens = use.reserved  # they may have been used
                _log.warning("what was recalled could not be judged within %d seconds", _SECONDS)
            except RemoteError as error:
                _log.warning("what was recalled could not be judged: %s", error)
            await self._budget.settle(use, tokens)
            ended = self._breaker.record_failure if marks is None else self._breaker.record_success
            return marks
        finally:
            ended()


def build_reranker(settings: Settings, model: ModelRouter | None, database: Database, clock: Clock) -> Reranker | None:
    """The reranker of the settings; by default none."""
    if settings.memory.reranker == "none" or model is None:
        return None
    zone, tokens = ZoneInfo(settings.bot.timezone), settings.memory.rerank_daily_tokens
    return ModelReranker(model, TokenBudget(database, clock, zone, JOB, tokens), clock)
