"""Route requests to providers, each within a deadline and behind a circuit breaker.

Only the ledger (`kenobot.ledger.models`) asks: every call is reserved before it is made.
"""

import asyncio
from collections.abc import Callable, Sequence

from kenobot.core.containment import contain
from kenobot.core.retry import CircuitBreaker
from kenobot.ports.clock import Clock
from kenobot.ports.errors import (
    AnswerLost,
    CircuitOpen,
    PromptTooLong,
    RateLimited,
    Rejected,
    RemoteError,
    TruncatedReply,
)
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import OVERLONG, Block, Message, Provider, Reply, Request, ToolCall, Usage
from kenobot.storage.connection import make_storable

_NAME_CHARS = 200  # of the model's name that a server may give

PROBE = Request((), (Message("user", (Block("Say: ok"),)),), max_tokens=16)


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

    @property
    def circuits(self) -> tuple[tuple[str, CircuitBreaker], ...]:
        """Return the name of each provider and the breaker in front of it."""
        return tuple((route.provider.name, route.breaker) for route in self._routes)

    def provider(self, level: int) -> Provider:
        """Return provider number `level`."""
        return self._routes[level].provider

    def reports_memory(self, level: int) -> bool:
        """Return whether provider number `level` answers from a report of memory; one that does has `reports_memory`.

        Its requests end with the report, made by rules before it is asked; see `kenobot.agent.turn.memory_report`.
        """
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
            raise RateLimited("models.pause", pause)
        if not route.breaker.allows_request() and not insist:
            raise CircuitOpen("models.circuit_open")
        settled = False
        try:
            with contain(lambda told: Rejected("models.provider_broke", name=route.provider.name, told=told)):
                reply = await self._collect(route.provider, request, max(1, self._answer_chars - said), on_text)
            route.breaker.record_success()
            settled = True
            self._answered.set()
            return reply
        except Rejected as error:
            if not isinstance(error, PromptTooLong):
                route.breaker.record_refusal()
            raise
        except (RemoteError, TimeoutError) as error:
            route.breaker.record_failure(error.retry_after if isinstance(error, RemoteError) else None)
            settled = True
            if isinstance(error, TimeoutError):
                raise AnswerLost("models.late", seconds=self._seconds) from error
            raise
        finally:
            if not settled:
                route.breaker.release_probe()

    async def wait_until_available(self, longest: float) -> None:
        """Return after `longest` seconds, as soon as any call succeeds, or when a provider may be tried again."""
        self._answered.clear()
        probes = (route.breaker.seconds_until_probe for route in self._routes)
        longest = min(longest, *(seconds for seconds in probes if seconds), longest)
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
                    if delta.replaces:
                        room += sum(map(len, texts))
                        texts, on_text = [], None  # what was shown of it stays until the answer is there
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
            raise TruncatedReply("models.answer_broke")
        named = make_storable(str(model)[:_NAME_CHARS])
        return Reply(make_storable("".join(texts)), stop_reason, named, usage.within_reason(), tuple(calls))
