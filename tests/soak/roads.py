"""Two roads to a real `kenobot run`: Telegram's emulator and a stand-in for Anthropic, or a line."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Protocol

from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.stand_in import OWNER, Telegram
from tests.soak.line import answer, plant

Heard = Callable[[str, str], None]
"""Called with the chat and the text of everything the bot sends."""

_GLANCE_SECONDS = 0.02


class Road(Protocol):
    """A running bot and the way to it."""

    bot: Bot

    async def say(self, chat: str, number: int, text: str) -> None: ...


def chats(count: int) -> list[str]:
    """The ids of that many chats."""
    return [str(int(OWNER) + number) for number in range(count)]


class _TelegramRoad:
    def __init__(self, bot: Bot, telegram: Telegram) -> None:
        self.bot = bot
        self._telegram = telegram

    async def say(self, chat: str, number: int, text: str) -> None:
        await self._telegram.say(text, chat, chat)


class _Model(StandIn):
    def _entry(self, said: str) -> Entry:
        self.requests.clear()  # a hundred thousand prompts would fill this machine's memory
        self.headers.clear()
        return {"reply": answer(said)}


@contextlib.asynccontextmanager
async def telegram(folder: Path, count: int, heard: Heard) -> AsyncIterator[Road]:
    """The whole way: long polling, HTTP, the SDKs."""
    async with Telegram() as server, _Model() as model:
        bot = Bot(folder / "home", server, model.url)
        bot.configure(owners=tuple(chats(count)))

        async def listen() -> None:
            while True:
                await asyncio.sleep(_GLANCE_SECONDS)
                taken, server.sent[:] = list(server.sent), []
                for item in taken:
                    heard(item.chat, item.text)

        await bot.start()
        listener = asyncio.create_task(listen())
        try:
            yield _TelegramRoad(bot, server)
        finally:
            listener.cancel()
            await bot.terminate()


class _LineRoad:
    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.writer: asyncio.StreamWriter | None = None
        self.connected = asyncio.Event()

    async def say(self, chat: str, number: int, text: str) -> None:
        await self.connected.wait()
        assert self.writer is not None
        self.writer.write(json.dumps([chat, number, text]).encode() + b"\n")
        await self.writer.drain()


@contextlib.asynccontextmanager
async def line(folder: Path, count: int, heard: Heard) -> AsyncIterator[Road]:
    """The short way: everything between a channel and a model, as shipped, and neither of these."""
    plant(folder / "plugins")
    bot = Bot(folder / "home", Telegram(), "", environ={"PYTHONPATH": str(folder / "plugins")})
    road = _LineRoad(bot)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        road.writer = writer
        road.connected.set()
        while received := await reader.readline():
            heard(*json.loads(received))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    bot.home.mkdir(mode=0o700)
    (bot.home / "kenobot.toml").write_text(
        "[provider]\nname = 'parrot'\n[channels]\nenabled = ['line']\n"
        f"[channels.line]\nport = {server.sockets[0].getsockname()[1]}\nowners = {chats(count)!r}\n"
    )
    await bot.start()
    try:
        yield road
    finally:
        await bot.terminate()
        server.close()
        await server.wait_closed()
