"""Route requests to providers, each within a deadline and behind a circuit breaker."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from kenobot.cognitive.remember.extract import prompt
from kenobot.core.circuit_breaker import CircuitBreaker
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.clock import Clock
from kenobot.ports.errors import CircuitOpen, RateLimited, Rejected, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.provider import Block, Message, Provider, Reply, Request, Usage
from kenobot.storage.connection import replace_surrogates

_PROBE = Request((), (Message("user", (Block("Say: ok"),)),), max_tokens=16)


@dataclass(frozen=True, slots=True)
class ProviderRoute:
    """A provider and the breaker in front of it."""

    provider: Provider
    breaker: CircuitBreaker


class ModelRouter:
    """The providers, the preferred one first. seconds: how long one whole reply may take."""

    def __init__(self, routes: Sequence[ProviderRoute], seconds: float, clock: Clock) -> None:
        self._routes = routes
        self._seconds = seconds
        self._clock = clock
        self._answered = asyncio.Event()

    @property
    def provider_count(self) -> int:
        """The number of providers."""
        return len(self._routes)

    async def ask(self, request: Request, level: int = 0, *, insist: bool = False) -> Reply:
        """Return the reply of provider number `level`. insist: call it even while its breaker is open.

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
            reply = await self._collect(route.provider, request)
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

    async def _collect(self, provider: Provider, request: Request) -> Reply:
        texts: list[str] = []
        stop_reason: str | None = None
        usage = Usage()
        model = ""
        async with asyncio.timeout(self._seconds):
            async for delta in provider.stream(request):
                texts.append(delta.text)
                stop_reason = delta.stop_reason or stop_reason
                usage = delta.usage or usage
                model = delta.model or model
        if stop_reason is None:
            raise TruncatedReply("The model's answer broke off before its end.")
        return Reply(replace_surrogates("".join(texts)), stop_reason, model, usage)


def tokens_used(request: Request, reply: Reply) -> int:
    """Tokens of a call as the provider counted them, or about as many when it does not say."""
    usage = reply.usage
    told = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return told or prompt.request_tokens(request) - request.max_tokens + estimate_tokens(reply.text)
