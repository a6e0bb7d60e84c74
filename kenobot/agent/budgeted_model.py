"""Ask a model within a daily budget of tokens: reserved before a call, settled with what came of it."""

from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from kenobot.agent.model_router import ModelRouter, tokens_used
from kenobot.cognitive.remember.extract.prompt import request_tokens
from kenobot.cognitive.store import token_budget
from kenobot.cognitive.text.calendar import local_day
from kenobot.ports.clock import Clock
from kenobot.ports.errors import RemoteError, TruncatedReply
from kenobot.ports.provider import Reply, Request
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The tokens of one call: `reserved` for it on `day`, `tokens` used by it."""

    job: str = ""
    day: str = ""
    reserved: int = 0
    tokens: int = 0

    def settle(self, connection: Connection) -> None:
        """Replace the reservation by what was used, in the transaction that keeps the result."""
        if self.reserved:
            token_budget.settle_tokens(connection, self.day, self.reserved, self.tokens, self.job)


NO_TOKENS = TokenUse()


class TokenBudget:
    """The tokens that a job may use on a calendar day of the owner's."""

    def __init__(self, database: Database, clock: Clock, zone: ZoneInfo, job: str, daily_tokens: int) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone
        self._job = job
        self.daily_tokens = daily_tokens

    async def reserve(self, request: Request, day: str = "") -> TokenUse | None:
        """Reserve what a call may use, today or on `day`, as used; None when the budget is exhausted."""
        tokens = request_tokens(request)
        use = TokenUse(self._job, day or local_day(self._clock.now(), self._zone), tokens, tokens)
        reserved = await self._database.write(
            lambda connection: token_budget.reserve_tokens(connection, use.day, tokens, self.daily_tokens, self._job)
        )
        return use if reserved else None

    async def settle(self, use: TokenUse, tokens: int) -> None:
        """Settle a call whose result is not kept."""
        await self._database.write(replace(use, tokens=tokens).settle)


class BudgetedModel:
    """A model behind a `TokenBudget`."""

    def __init__(self, model: ModelRouter, budget: TokenBudget) -> None:
        self.router = model
        self.budget = budget

    async def ask(self, request: Request, day: str = "") -> tuple[Reply, TokenUse] | None:
        """Return the reply with its tokens, still to be settled; None when the budget is exhausted.

        Raises as `ModelRouter.ask`, once the reservation is released; that of a truncated reply may have been used.
        """
        use = await self.budget.reserve(request, day)
        if use is None:
            return None
        try:
            reply = await self.router.ask(request)
        except TruncatedReply:
            raise
        except RemoteError:
            await self.budget.settle(use, 0)
            raise
        return reply, replace(use, tokens=tokens_used(request, reply))
