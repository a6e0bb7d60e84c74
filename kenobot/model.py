"""Asking the model: one whole reply or an error, within a deadline, behind a circuit breaker."""

import asyncio

from kenobot.breaker import CircuitBreaker
from kenobot.db import storable
from kenobot.errors import Rejected, RemoteError, TruncatedReply, Unavailable
from kenobot.ports import Provider, Reply, Request, Usage


class Model:
    """A provider with everything around it that a turn should not have to know.

    seconds: how long one whole reply may take.
    """

    def __init__(self, provider: Provider, breaker: CircuitBreaker, seconds: float) -> None:
        self._provider = provider
        self._breaker = breaker
        self._seconds = seconds

    async def ask(self, request: Request) -> Reply:
        """The reply to `request`.

        Raises RateLimited, Unavailable, Rejected, or TruncatedReply when the stream ended without a stop reason.
        """
        if not self._breaker.admits():
            raise Unavailable("The model has failed several times in a row; waiting before asking it again.")
        settled = False
        try:
            reply = await self._collect(request)
            self._breaker.succeeded()
            settled = True
            return reply
        except Rejected:
            raise
        except (RemoteError, TimeoutError) as error:
            self._breaker.failed()
            settled = True
            if isinstance(error, TimeoutError):
                raise Unavailable(f"The model took longer than {self._seconds:.0f} seconds.") from error
            raise
        finally:
            if not settled:
                self._breaker.dropped()

    async def _collect(self, request: Request) -> Reply:
        texts: list[str] = []
        stop_reason: str | None = None
        usage = Usage()
        model = ""
        async with asyncio.timeout(self._seconds):
            async for delta in self._provider.stream(request):
                texts.append(delta.text)
                stop_reason = delta.stop_reason or stop_reason
                usage = delta.usage or usage
                model = delta.model or model
        if stop_reason is None:
            raise TruncatedReply("The model's answer broke off before its end.")
        return Reply(storable("".join(texts)), stop_reason, model, usage)
