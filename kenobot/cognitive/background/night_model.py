"""Ask a model the questions of a night, within its budget."""

import logging
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep.cycle import ModelAnswer
from kenobot.cognitive.sleep.plan.passes import ModelQuestion
from kenobot.core.token_estimate import request_tokens
from kenobot.language.calendar import local_day
from kenobot.ledger.ledger import NO_CALL, ModelCall
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import AccountRefused, RateLimited, Rejected, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.nights import SleepRun
from kenobot.ports.provider import Block, Message, Reply, Request

_log = logging.getLogger(__name__)

_SHORTEST_WAIT = 5.0  # seconds before a model that did not answer is asked again


class NightModel:
    """Asks a model within the budget of a night; one that is out of reach is not asked again that night."""

    def __init__(self, clock: Clock, zone: ZoneInfo, model: BudgetedModel, policy: SleepPolicy) -> None:
        self._clock = clock
        self._zone = zone
        self._model = model
        self._policy = policy
        self._gone = 0

    async def __call__(self, run: SleepRun, question: ModelQuestion) -> ModelAnswer | None:
        if self._gone == run.id:
            return None
        blocks = (Block(question.text),)
        request = Request((Block(question.system),), (Message("user", blocks),), max_tokens=question.answer_tokens)
        try:
            answer = await self._ask(request, local_day(run.at, self._zone))
        except TruncatedReply:
            # The tokens may have been used, and stay reserved.
            return ModelAnswer("", request_tokens(request), NO_CALL.settle)
        except RemoteError as error:
            if isinstance(error, Rejected) and not isinstance(error, AccountRefused):
                _log.warning("the model does not take a question of sleep: %s", error)
                return ModelAnswer("", 0, NO_CALL.settle)
            _log.warning("sleep goes on without a model: %s", error)
            self._gone = run.id
            return None
        if answer is None:
            return None
        reply, use = answer
        return ModelAnswer(reply.text if reply.whole else "", use.tokens, use.settle)

    async def _ask(self, request: Request, day: str) -> tuple[Reply, ModelCall] | None:
        for attempt in range(1, self._policy.max_attempts + 1):
            try:
                return await self._model.ask(request, day)
            except (RateLimited, Unavailable) as error:
                if attempt == self._policy.max_attempts:
                    raise
                wait = max(_SHORTEST_WAIT, error.retry_after or 0.0)
                await self._clock.sleep(min(wait, self._policy.max_backoff_seconds))
        raise Unavailable("sleep.not_asked")
