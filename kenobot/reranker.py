"""Judges what recall found by having a model read it, before the reply: off unless the owner wants it."""

import asyncio
import logging
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from kenobot.breaker import CircuitBreaker
from kenobot.clock import Clock
from kenobot.cognitive.calendar import local_day
from kenobot.cognitive.extract import budget
from kenobot.cognitive.extract.prompt import cost
from kenobot.cognitive.recall import judging
from kenobot.db import Database
from kenobot.errors import RemoteError
from kenobot.model import Model
from kenobot.ports import Request, Reranker
from kenobot.reader import used
from kenobot.settings import Settings

_log = logging.getLogger(__name__)

JOB = "rerank"
_SECONDS = 8.0  # somebody waits for the reply
_FAILURES, _REST = 3, 300.0


class ModelReranker:
    """A `kenobot.ports.Reranker` that asks the provider. daily_tokens: what may be used on a day of the owner's."""

    def __init__(self, model: Model, database: Database, clock: Clock, zone: ZoneInfo, daily_tokens: int) -> None:
        self._model = model
        self._database = database
        self._clock = clock
        self._zone = zone
        self._daily_tokens = daily_tokens
        self._breaker = CircuitBreaker(clock, _FAILURES, _REST)

    async def judge(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        """See `kenobot.ports.Reranker`."""
        if not texts or not self._breaker.admits():
            return None
        ended = self._breaker.dropped
        try:
            request = judging.build(question, texts)
            day, reserved = local_day(self._clock.now(), self._zone), cost(request)
            limit = self._daily_tokens
            if not await self._database.write(lambda c: budget.reserve(c, day, reserved, limit, JOB)):
                return None
            spent, marks = await self._ask(request, reserved, len(texts))
            await self._database.write(lambda c: budget.settle(c, day, reserved, spent, JOB))
            ended = self._breaker.failed if marks is None else self._breaker.succeeded
            return marks
        finally:
            ended()

    async def _ask(self, request: Request, reserved: int, count: int) -> tuple[int, list[float] | None]:
        """The tokens of a call, and its marks."""
        try:
            async with asyncio.timeout(_SECONDS):
                reply = await self._model.ask(request)
        except TimeoutError:
            _log.warning("what was recalled could not be judged within %d seconds", _SECONDS)
            return reserved, None
        except RemoteError as error:
            _log.warning("what was recalled could not be judged: %s", error)
            return 0, None
        return used(request, reply), judging.parse(reply.text, count)


def reranker_of(settings: Settings, model: Model | None, database: Database, clock: Clock) -> Reranker | None:
    """Who judges what recall found, as it is set: by default nobody."""
    if settings.memory.reranker == "none" or model is None:
        return None
    return ModelReranker(model, database, clock, ZoneInfo(settings.bot.timezone), settings.memory.rerank_tokens)
