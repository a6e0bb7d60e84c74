"""An address that floods, hangs or lies costs its own connection, and takes no more memory than a message may."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.tools.mcp import server as supervision
from tests.integration.mcp.servers import reach, running

pytest.importorskip("mcp")

_HEAD = "HTTP/1.1 {}\r\nContent-Type: {}\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def serve(head: str, body: bytes) -> AsyncIterator[int]:
    """Answer each request with a head, and this body again and again. Yields the port."""

    answering: set[asyncio.StreamWriter] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering.add(writer)
        with suppress(OSError, EOFError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head.encode())
            while body:
                writer.write(body)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        yield listening.sockets[0].getsockname()[1]
        for writer in answering:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        ("200 OK", "application/json", b"x" * 65_536),
        ("200 OK", "text/event-stream", b"data: " + b"x" * 65_536),
        ("500 No", "text/plain", b"x" * 65_536),
        ("200 OK", "application/json", b""),
        ("200 OK", "text/html", b""),
        ("302 Found", "text/html\r\nLocation: http://127.0.0.1:1/", b""),
    ],
)
async def test_an_address_that_is_no_server(tmp_path: Path, status: str, kind: str, body: bytes) -> None:
    """It is down, with a reason, after no more than a message's length."""
    tracemalloc.start()
    try:
        async with serve(_HEAD.format(status, kind), body) as port:
            settings = McpServerSettings(url=f"http://127.0.0.1:{port}/mcp", seconds=2)
            async with running({"bad": settings}, tmp_path) as servers:
                await reach(servers, "down")
                assert servers.states[0].reason
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


async def test_an_address_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up after the time for connecting."""
    monkeypatch.setattr(supervision, "_CONNECT_SECONDS", 0.2)

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while await reader.read(1000):
                pass
        writer.close()

    async with await asyncio.start_server(hang, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        settings = McpServerSettings(url=f"http://127.0.0.1:{port}/mcp")
        async with running({"bad": settings}, tmp_path) as servers:
            await reach(servers, "down")
            assert servers.states[0].reason == "it does not answer"
