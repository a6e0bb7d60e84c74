"""Route requests to providers, each within a deadline and behind a circuit breaker.

Background jobs ask within a daily budget of tokens: reserved before a call, settled with what came of it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from kenobot.cognitive.remember.extract.prompt import request_tokens
from kenobot.cognitive.store import token_budget
from kenobot.cognitive.text.calendar import local_day
from kenobot.core.retry import CircuitBreaker
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.clock import Clock
from kenobot.ports.errors import CircuitOpen, RateLimited, Rejected, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.provider import OVERLONG, Block, Message, Provider, Reply, Request, ToolCall, Usage
from kenobot.storage.connection import Connection, replace_surrogates
from kenobot.storage.database import Database

_PROBE = Request((), (Message("user", (Block("Say: ok"),)),), max_tokens=16)


@dataclass(frozen=True, slots=True)
class ProviderRoute:
    """A provider and the breaker in front of it."""

    provider: Provider
    breaker: CircuitBreaker


class ModelRouter:
    """The providers, the preferred one first.

    seconds: how long one whole reply may take. answer_chars: how long it may be; its stream is cut there.
    """

    def __init__(
        self, routes: Sequence[ProviderRoute], seconds: float, clock: Clock, answer_chars: int = 100_000
    ) -> None:
        self._routes = routes
        self._answer_chars = answer_chars
        self._seconds = seconds
        self._clock = clock
        self._answered = asyncio.Event()

    @property
    def provider_count(self) -> int:
        """The number of providers."""
        return len(self._routes)

    def reports_memory(self, level: int) -> bool:
        """Return whether provider number `level` answers from a report of memory."""
        return bool(getattr(self._routes[level].provider, "reports_memory", False))

    async def ask(
        self,
        request: Request,
        level: int = 0,
        *,
        said: int = 0,
        insist: bool = False,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return the reply of provider number `level`.

        said: characters of the answer that are there already. insist: call it even while its breaker is open. on_text:
        given the text as it comes, as the model wrote it; of a call that fails in the end, too.
        Raises RateLimited, Unavailable (CircuitOpen when no call was made), Rejected, or TruncatedReply when the stream
        ended without a stop reason. No call is made before a pause that the provider asked for is over.
        """
        route = self._routes[level]
        if pause := route.breaker.retry_after:
            raise RateLimited("The model asked for a pause that is not over yet.", pause)
        if not route.breaker.allows_request() and not insist:
            raise CircuitOpen("The model has failed several times in a row; waiting before asking it again.")
        settled = False
        try:
            reply = await self._collect(route.provider, request, max(1, self._answer_chars - said), on_text)
            route.breaker.record_success()
            settled = True
            self._answered.set()
            return reply
        except Rejected:
            raise
        except (RemoteError, TimeoutError) as error:
            route.breaker.record_failure(error.retry_after if isinstance(error, RemoteError) else None)
            settled = True
            if isinstance(error, TimeoutError):
                raise Unavailable(f"The model took longer than {self._seconds:.0f} seconds.") from error
            raise
        finally:
            if not settled:
                route.breaker.release_probe()

    async def probe(self) -> bool:
        """Return whether any provider answers a harmless question: then the message fails, not the model.

        Breakers are ignored: the message may have opened them, and an answer closes them again. A pause that a provider
        asked for is kept.
        """
        for level in range(len(self._routes)):
            try:
                await self.ask(_PROBE, level, insist=True)
            except RemoteError:
                continue
            return True
        return False

    async def wait_until_available(self, longest: float) -> None:
        """Return after `longest` seconds, or as soon as any call succeeds."""
        self._answered.clear()
        waits = {asyncio.ensure_future(self._clock.sleep(longest)), asyncio.create_task(self._answered.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _collect(
        self, provider: Provider, request: Request, room: int, on_text: Callable[[str], None] | None
    ) -> Reply:
        texts: list[str] = []
        calls: list[ToolCall] = []
        stop_reason: str | None = None
        usage = Usage()
        model = ""
        async with asyncio.timeout(self._seconds):
            stream = provider.stream(request)
            try:
                async for delta in stream:
                    if delta.text:
                        texts.append(text := delta.text[:room])
                        room -= len(delta.text)
                        if on_text is not None and text:
                            on_text(text)
                    if delta.call is not None:
                        calls.append(delta.call)
                    stop_reason = delta.stop_reason or stop_reason
                    usage = delta.usage or usage
                    model = delta.model or model
                    if room < 0:
                        stop_reason = OVERLONG
                        break
            finally:  # its server need not go on with what is not read
                if (close := getattr(stream, "aclose", None)) is not None:
                    await close()
        if stop_reason is None:
            raise TruncatedReply("The model's answer broke off before its end.")
        return Reply(replace_surrogates("".join(texts)), stop_reason, model, usage, tuple(calls))


def tokens_used(request: Request, reply: Reply) -> int:
    """Tokens of a call as the provider counted them, or about as many when it does not say."""
    usage = reply.usage
    told = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return told or request_tokens(request) - request.max_tokens + estimate_tokens(reply.text)


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


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The tokens that a job may use on a calendar day of the owner's."""

    database: Database
    clock: Clock
    zone: ZoneInfo
    job: str
    daily_tokens: int

    async def reserve(self, request: Request, day: str = "") -> TokenUse | None:
        """Reserve what a call may use, today or on `day`, as used; None when the budget is exhausted."""
        tokens = request_tokens(request)
        use = TokenUse(self.job, day or local_day(self.clock.now(), self.zone), tokens, tokens)
        reserved = await self.database.write(
            lambda connection: token_budget.reserve_tokens(connection, use.day, tokens, self.daily_tokens, self.job)
        )
        return use if reserved else None

    async def settle(self, use: TokenUse, tokens: int) -> None:
        """Settle a call whose result is not kept."""
        await self.database.write(replace(use, tokens=tokens).settle)


@dataclass(frozen=True, slots=True)
class BudgetedModel:
    """A model behind a `TokenBudget`."""

    router: ModelRouter
    budget: TokenBudget

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
