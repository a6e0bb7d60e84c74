"""The chat's end of the socket: over any number of connections, a message counts once and an answer is printed once."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from kenobot.channels.console import Console, ConsoleSettings
from kenobot.cli.bot_link import BotGone, BotLink, LinkTexts
from kenobot.core.frames import REQUESTS, Say, Show, Shown, Stored, Welcome, decode, encode
from kenobot.ports.messages import Inbound
from kenobot.ports.plugin import PluginContext
from kenobot_testing.clock import START, ManualClock

TEXTS = LinkTexts("cut", "back", "gone", "lost: {text}", "too long")
MESSAGE = Inbound("console", "id-1", "local", "owner", "hola", START)


class Bot:
    """The other end of every connection, one after the other."""

    def __init__(self, tmp_path: Path, connections: int, patience: float = 60) -> None:
        self.pairs = [socket.socketpair() for _ in range(connections)]
        self._left = iter(self.pairs[1:])
        console = Console(ConsoleSettings(), PluginContext(tmp_path, ManualClock(), "Keno"))
        self.link = BotLink(self._open, console, TEXTS, patience)
        self.running = asyncio.create_task(self.link.run(self.pairs[0][0]))

    def _open(self) -> tuple[socket.socket, Welcome] | None:
        pair = next(self._left, None)
        return None if pair is None else (pair[0], Welcome(version="", process=1))

    async def answer(self, number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(sock=self.pairs[number][1])

    async def end(self) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def test_a_part_that_was_printed_is_not_printed_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """When its confirmation was lost, the bot sends it once more: it is only confirmed."""
    bot = Bot(tmp_path, 2)
    for number in range(2):
        reader, writer = await bot.answer(number)
        writer.write(encode(Show(id=7, text="hi")))
        assert decode(await reader.readline(), REQUESTS) == Shown(id=7)
        await _close(writer)
    await bot.end()
    assert capsys.readouterr().out.splitlines().count("hi") == 1


async def test_a_message_that_was_not_confirmed_is_handed_in_again(tmp_path: Path) -> None:
    """Under the same id, by which the inbox knows it."""
    bot = Bot(tmp_path, 2)
    taking = asyncio.create_task(bot.link(MESSAGE))
    said = []
    for number in range(2):
        reader, writer = await bot.answer(number)
        said.append(decode(await reader.readline(), REQUESTS))
        if number:
            writer.write(encode(Stored(id="id-1", new=True)))
            assert await taking
        await _close(writer)
    await bot.end()
    assert said == [Say(id="id-1", text="hola", sent_at=START.isoformat())] * 2


async def test_a_bot_that_does_not_come_back_ends_the_chat(tmp_path: Path) -> None:
    """Which names the message that nobody has."""
    bot = Bot(tmp_path, 1, patience=0.05)
    taking = asyncio.create_task(bot.link(MESSAGE))
    reader, writer = await bot.answer(0)
    await reader.readline()
    await _close(writer)
    with pytest.raises(BotGone, match="gone\nlost: hola"):
        await bot.running
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)


async def test_a_message_waits_for_the_next_connection_where_the_last_one_broke(tmp_path: Path) -> None:
    """It leaves the terminal the time to notice that: with a connection that is reset as it is typed, too."""
    bot = Bot(tmp_path, 2)
    _, broken = await bot.answer(0)
    await bot.link._connected.wait()
    taking = asyncio.create_task(bot.link(MESSAGE))
    assert bot.link._writer is not None
    bot.link._writer._reader.set_exception(ConnectionResetError())  # type: ignore[attr-defined]
    reader, writer = await bot.answer(1)
    assert decode(await reader.readline(), REQUESTS) == Say(id="id-1", text="hola", sent_at=START.isoformat())
    writer.write(encode(Stored(id="id-1", new=True)))
    assert await taking
    await _close(broken)
    await _close(writer)
    await bot.end()
