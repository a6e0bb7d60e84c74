"""A bot that reaches Telegram through a SOCKS5 proxy, as people do where Telegram is blocked."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.integration.process import Bot
from tests.integration.stand_in import Telegram

pytestmark = pytest.mark.long


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def socks_proxy() -> AsyncIterator[tuple[int, list[str]]]:
    """A SOCKS5 proxy without authentication (RFC 1928); its port, and the hosts it was asked for."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        kind = (await reader.readexactly(4))[3]
        length = 4 if kind == 1 else (await reader.readexactly(1))[0]
        host = await reader.readexactly(length)
        (port,) = struct.unpack(">H", await reader.readexactly(2))
        asked.append(".".join(map(str, host)) if kind == 1 else host.decode())
        there, back = await asyncio.open_connection(asked[-1], port)
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await asyncio.gather(relay(reader, back), relay(there, writer), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_message_is_answered_through_a_socks_proxy(tmp_path: Path, scheme: str) -> None:
    """Named by ALL_PROXY, as for every other program."""
    async with Telegram() as telegram, socks_proxy() as (port, asked):
        bot = Bot(tmp_path / "home", telegram, "http://127.0.0.1:9")
        bot.configure()
        config = bot.home / "kenobot.toml"
        config.write_text(config.read_text().replace("name = 'anthropic'", "name = 'offline'"))
        bot.environ = {"ALL_PROXY": f"{scheme}://127.0.0.1:{port}", "NO_PROXY": "", "no_proxy": ""}
        await bot.start()
        await telegram.say("remember that the boiler is blue")
        assert await telegram.replies(1)
        assert await bot.terminate() == 0
        assert asked and set(asked) == {"127.0.0.1"}
