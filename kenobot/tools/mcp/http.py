"""Talk with a server over streamable HTTP: an answer that is no stream of events has a limit."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client

from kenobot.tools.mcp.stdio import LONGEST_LINE

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_TIMEOUT = httpx2.Timeout(30.0, read=300.0)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for chunk in self._stream:
            taken += len(chunk)
            if taken > LONGEST_LINE:
                raise httpx2.ReadError("it sent an answer that is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _LimitedTransport(httpx2.AsyncHTTPTransport):
    """Bounds each answer; those of events are bounded by the SDK, event by event. None may be packed."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise httpx2.ReadError("it packs its answers, though it was asked not to")
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Limited(response.stream)
        return response


@contextlib.asynccontextmanager
async def open_http(url: str, headers: Mapping[str, str]) -> "AsyncIterator[TransportStreams]":
    """Return the streams of messages to and from an address."""
    client = httpx2.AsyncClient(headers=dict(headers), timeout=_TIMEOUT, transport=_LimitedTransport())
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield streams
