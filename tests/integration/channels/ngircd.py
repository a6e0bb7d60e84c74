"""An ngircd, and a person who talks on it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from tests.integration.channels.processes import answers, free_port, program, running

_CONFIG = """
[Global]
Name = irc.example.org
Info = a test
Listen = 127.0.0.1
Ports = {port}
MotdPhrase = hello
{password}
[Limits]
MaxConnections = 0
MaxConnectionsIP = 0
MaxNickLength = 20
MaxPenaltyTime = {penalty}
PingTimeout = 120
[Options]
DNS = no
Ident = no
PAM = no
"""


@contextmanager
def ngircd(folder: Path, password: str = "", port: int = 0, penalty: int = 0) -> Iterator[int]:
    """A server; yields its port. penalty: seconds that it may let a client wait each time; -1 for any, as it comes."""
    port = port or free_port()
    config = folder / "ngircd.conf"
    config.write_text(_CONFIG.format(port=port, penalty=penalty, password=f"Password = {password}" if password else ""))
    with running([program("ngircd"), "-n", "-f", str(config)], folder, lambda: answers(port)):
        yield port


class Person:
    """Writes lines and waits for some."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def write(self, *lines: str) -> None:
        self._writer.write("".join(f"{line}\r\n" for line in lines).encode())

    async def until(self, part: str) -> str:
        """Read up to the line that holds `part`; pings are answered."""
        async with asyncio.timeout(60):
            while True:
                line = await self.read()
                assert line, f"the server left before it said {part!r}"
                if part in line:
                    return line

    async def read(self) -> str:
        """Read a line, "" at the end; a ping is answered."""
        line = (await self._reader.readline()).decode().rstrip("\r\n")
        if line.startswith("PING"):
            self.write(line.replace("PING", "PONG"))
        return line

    async def until_there(self, nick: str) -> None:
        """Wait until `nick` is on the server."""
        while True:
            self.write(f"ISON {nick}")
            if nick in (await self.until(" 303 ")).partition(" 303 ")[2].split(":", 1)[1]:
                return
            await asyncio.sleep(0.01)


@asynccontextmanager
async def person(port: int, nick: str = "ana") -> AsyncIterator[Person]:
    """A person on the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    someone = Person(reader, writer)
    try:
        someone.write(f"NICK {nick}", f"USER {nick} 0 * :{nick}")
        await someone.until(" 001 ")
        yield someone
    finally:
        writer.close()
        await writer.wait_closed()
