"""The guard that keeps every test on this machine."""

import asyncio
import socket
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("family", "host"),
    [
        (socket.AF_INET, "192.0.2.1"),
        (socket.AF_INET, "example.org"),
        (socket.AF_INET, "10.0.0.1"),
        (socket.AF_INET6, "2001:db8::1"),
    ],
)
def test_a_connection_that_would_leave_is_refused(family: socket.AddressFamily, host: str) -> None:
    """At once, by name or number, and with a sentence that says why."""
    with socket.socket(family, socket.SOCK_STREAM) as link:
        for connect in (link.connect, link.connect_ex):
            with pytest.raises(OSError, match="only this machine"):
                connect((host, 80))


async def test_asyncio_is_guarded_as_well() -> None:
    """Its connections go by the same door."""
    with pytest.raises(OSError, match="only this machine"):
        await asyncio.open_connection("192.0.2.1", 80)


async def test_this_machine_may_be_talked_to(tmp_path: Path) -> None:
    """Over loopback and over a socket in the file system."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()
        await writer.wait_closed()

    tcp = await asyncio.start_server(echo, "127.0.0.1", 0)
    unix = await asyncio.start_unix_server(echo, tmp_path / "socket")
    port = tcp.sockets[0].getsockname()[1]
    for opening in (asyncio.open_connection("127.0.0.1", port), asyncio.open_unix_connection(tmp_path / "socket")):
        reader, writer = await opening
        writer.write(b"hello\n")
        assert await reader.readline() == b"hello\n"
        writer.close()
        await writer.wait_closed()
    for server in (tcp, unix):
        server.close()
        await server.wait_closed()
