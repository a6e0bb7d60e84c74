"""Ask a model for one kind of judgement: within a deadline and the day's tokens, and not while it rests."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

from kenobot.ledger.expert_rest import ExpertRest
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.errors import RemoteError
from kenobot.ports.provider import Request

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Expert:
    """A model for one kind of judgement, named in the log. seconds: deadline of a call."""

    def __init__(self, name: str, model: BudgetedModel, rest: ExpertRest, seconds: float) -> None:
        self._name = name
        self._model = model
        self._rest = rest
        self._seconds = seconds

    async def ask(self, request: Request, parse: Callable[[str], T | None]) -> T | None:
        """Return the parsed answer; None when it cannot be had in time or parsed, or the budget is exhausted."""
        if not await self._rest.is_over():
            return None
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._model.ask(request)
        except (TimeoutError, RemoteError) as error:
            why = str(error) or f"no answer within {self._seconds:.0f} seconds"
            _log.warning("%s could not be asked: %s", self._name, why)
            await self._rest.record_failure()
            return None
        if answer is None:
            return None
        reply, call = answer
        await self._model.settle(call)
        parsed = parse(reply.text)
        if parsed is None:
            _log.warning("%s gave an answer that cannot be read", self._name)
            await self._rest.record_failure()
        else:
            await self._rest.record_success()
        return parsed
