"""Serve the home's socket: chats of other terminals, and commands that tell the running bot what they wrote.

What a connection speaks is imported at the first one: most bots have none.
"""

import asyncio
import contextlib
import importlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from kenobot.app.socket_services import SocketServices
from kenobot.core import local_socket
from kenobot.core.local_socket import LONGEST_FRAME

if TYPE_CHECKING:
    from kenobot.app.socket_connection import SocketConnection

_log = logging.getLogger(__name__)

_CONNECTIONS = 16
_CLOSE_SECONDS = 1.0


class SocketServer:
    """Accept connections between `start` and `close`."""

    def __init__(self, path: Path, services: SocketServices) -> None:
        self._path = path
        self._services = services
        self._server: asyncio.Server | None = None
        self._open: set[SocketConnection] = set()  # bounded: 16 connections; test_more_chats_than_there_is_room_for

    async def start(self) -> None:
        """Listen. A file system without sockets is logged: the bot then runs without."""
        try:
            listener = local_socket.listen(self._path)
        except OSError as error:
            _log.warning("no chat can join from another terminal: %s: %s", self._path, error.strerror or error)
            return
        self._server = await asyncio.start_unix_server(self._accept, sock=listener, limit=LONGEST_FRAME)

    async def close(self) -> None:
        """Break off every connection. What was not stored by then, the other end keeps."""
        if self._server is None:
            return
        self._server.close()
        for connection in tuple(self._open):
            connection.cut()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                while self._open:
                    await asyncio.gather(*(connection.ended.wait() for connection in tuple(self._open)))
        with contextlib.suppress(OSError):
            self._path.unlink()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        module = await asyncio.to_thread(importlib.import_module, "kenobot.app.socket_connection")
        connection: SocketConnection = module.SocketConnection(self._services, reader, writer)
        if len(self._open) >= _CONNECTIONS:
            await connection.refuse(f"{_CONNECTIONS} chats and commands are connected already: close one.")
            return
        self._open.add(connection)
        try:
            await connection.serve()
        finally:
            self._open.discard(connection)
