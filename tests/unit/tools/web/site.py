"""A site on this machine that stands for every host of the web, and says which address was asked for which host."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_address

import httpx

from kenobot.ports.tool import ToolContext
from kenobot.tools.web.address import IpAddress, Reach
from kenobot.tools.web.client import WebClient, open_transport
from kenobot_testing.tool import tool_context

PUBLIC = "93.184.216.34"
Write = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Site:
    """What is asked of it, and what it answers: raw bytes by "host/path" or "/path", or a function that writes them."""

    port: int = 0
    pages: dict[str, bytes | Write] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connected: list[tuple[str, str]] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    serving: set["asyncio.Task[None]"] = field(default_factory=set)

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection until the site is closed at the latest."""
        task = asyncio.create_task(self.serve(reader, writer))
        self.serving.add(task)
        task.add_done_callback(self.serving.discard)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            self.bodies.append(await reader.readexactly(int(lines.get("content-length", "0"))))
            self.heads.append(head)
            path = head.split(" ")[1]
            self.asked.append(f"{lines['host']}{path}")
            page = (
                self.pages.get(f"{lines['host']}{path}") or self.pages.get(path) or answer("", status="404 Not Found")
            )
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
            else:
                await page(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def resolve(self, host: str, port: int) -> Sequence[IpAddress]:
        """Look up a name: as it is told, one answer a time where there are several, or at a public address."""
        told = self.names.get(host, [PUBLIC])
        answer = told.pop(0) if len(told) > 1 else told[0]
        return [ip_address(each) for each in answer.split()]

    async def open_transport(self, proxy: str) -> httpx.AsyncBaseTransport:
        """Lead every connection to this site, and note where it would have gone."""
        return _Here(self, await open_transport(""))

    def client(self, reach: Reach | None = None, *, seconds: float = 5.0, most: int = 1_000_000) -> WebClient:
        """A client for which this site is the web."""
        return WebClient(reach or Reach(), seconds, most, self.resolve, self.open_transport)


class _Here(httpx.AsyncBaseTransport):
    def __init__(self, site: Site, inner: httpx.AsyncBaseTransport) -> None:
        self._site, self._inner = site, inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._site.connected.append((request.url.host, request.extensions["sni_hostname"]))
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self._site.port)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def open_site(**pages: bytes | Write) -> AsyncIterator[Site]:
    """Serve pages until the end."""
    site = Site(pages={f"/{name}": page for name, page in pages.items()})
    server = await asyncio.start_server(site.begin, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for task in site.serving:
            task.cancel()
        await asyncio.gather(*site.serving, return_exceptions=True)
        await server.wait_closed()


def answer(
    body: str | bytes, kind: str = "text/html; charset=utf-8", *, status: str = "200 OK", headers: str = ""
) -> bytes:
    """An answer of a server."""
    raw = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(raw)}\r\n{headers}\r\n"
    return head.encode() + raw


def redirect(to: str, status: str = "302 Found") -> bytes:
    """An answer that leads elsewhere."""
    return answer("", status=status, headers=f"Location: {to}\r\n")


def context(room: int = 8000) -> ToolContext:
    """A call whose result may be so long."""
    return replace(tool_context(), room=room)
