"""Talk with a server over streamable HTTP: an answer that is no stream of events has a limit."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client

from kenobot.ports.errors import ToolFailed
from kenobot.ports.sentences import Sentence
from kenobot.tools.mcp.stdio import LONGEST_LINE
from kenobot.tools.web.address import IpAddress, is_public
from kenobot.tools.web.client import look_up

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from kenobot.tools.mcp.sign_in import StoredSignIn

_NO_SESSION = (400, 404)
_LOOK_UP_SECONDS = 10.0
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
    """Bounds each answer; those of events are bounded by the SDK, event by event. None may be packed.

    refusal: the status of the last answer, if it was a refusal. forgot: whether that was of a session. unknown: whether
    the server refused for want of a sign-in, since it took a request. What a server of the web says of where to sign in
    leads to no private network.
    """

    refusal = 0
    forgot = unknown = False

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = httpx2.URL(url)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(await self._pin(request))
        self.refusal = response.status_code if response.status_code >= 400 else 0
        if request.url == self._url:
            self.unknown = response.status_code == 401
        self.forgot = self.refusal in _NO_SESSION and "mcp-session-id" in request.headers
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise httpx2.ReadError("it packs its answers, though it was asked not to")
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Limited(response.stream)
        return response

    async def _pin(self, request: httpx2.Request) -> httpx2.Request:
        """Pin a request to another host to an address that was checked. Raises httpx2.ConnectError."""
        host = request.url.host
        if host == self._url.host or not all(map(is_public, await _look_up(self._url.host))):
            return request
        found = await _look_up(host)
        if not found or not all(map(is_public, found)):
            raise httpx2.ConnectError("it names an address of a private network")
        pinned = request.url.copy_with(host=str(found[0]))
        extensions = {**request.extensions, "sni_hostname": host}
        return httpx2.Request(
            request.method, pinned, headers=request.headers, stream=request.stream, extensions=extensions
        )


async def _look_up(host: str) -> Sequence[IpAddress]:
    """Return the addresses of a host; none where it has none."""
    try:
        async with asyncio.timeout(_LOOK_UP_SECONDS):
            return await look_up(host, 443)
    except (ToolFailed, TimeoutError):
        return ()


class ServerAddress:
    """The address of a server."""

    has_sessions = True

    def __init__(
        self, url: str, headers: Mapping[str, str], signs_in: "StoredSignIn | None" = None, name: str = ""
    ) -> None:
        """name: of the server, for what its owner has to do."""
        self._url, self._headers, self._signs_in, self._name = url, headers, signs_in, name
        self._transport = _LimitedTransport(url)

    @property
    def wants_sign_in(self) -> bool:
        """Return whether it refuses until somebody signs in."""
        own = any(header.lower() == "authorization" for header in self._headers)
        return bool(self._name) and self._transport.unknown and not own

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the tokens that it is reached with."""
        return () if self._signs_in is None else self._signs_in.secrets

    @property
    def complaint(self) -> str:
        """Return what it answered in the place of a message."""
        if self.wants_sign_in:
            return Sentence("mcp.wants_sign_in", name=self._name)
        return f"HTTP {self._transport.refusal}" if self._transport.refusal else ""

    @property
    def forgot(self) -> bool:
        """Return whether it does not know the session any more, so that it has run nothing."""
        return self._transport.forgot

    @contextlib.asynccontextmanager
    async def open(self) -> "AsyncIterator[TransportStreams]":
        """Return the streams of messages to and from it."""
        client = httpx2.AsyncClient(
            headers=dict(self._headers), timeout=_TIMEOUT, transport=self._transport, auth=self._signs_in
        )
        async with client, streamable_http_client(self._url, http_client=client) as streams:
            yield streams
