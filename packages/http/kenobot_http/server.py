"""Run uvicorn inside the event loop of the bot, and bound what a connection may bring."""

import asyncio
import contextlib
import logging
import math
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from kenobot.ports.errors import Unavailable

_log = logging.getLogger(__name__)

_CONNECTIONS = 512
_BACKLOG = 512
_IDLE_SECONDS = 15
HEAD_SECONDS = 15.0  # for the head of a request to come in
UNREAD_SECONDS = 30.0  # for what is sent to be read
_HEAD_BYTES = 65_536  # that may come in without a head becoming complete or a body growing
_PIPELINED = 8  # requests that may come on one connection before their answers
FINISH_SECONDS = 2.5  # for the answers under way, once the server is told to end
_CLOSE_SECONDS = 1.0


class _Uvicorn(uvicorn.Server):
    """Uvicorn without handlers of signals: the bot has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Protocol(HttpToolsProtocol):
    """A connection that is closed unless heads of requests come in within some seconds and are short, and answers are
    read.

    Uvicorn waits for either without end, so a few hundred connections that neither speak nor read would keep everybody
    else out; and it keeps all of a head, of the fields behind a body, and of requests that come before their answers.
    """

    _head_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None
    _headed = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # so that `pause_writing` tells of all that is not read
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timer()
        self._end_unread_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._end_unread_timer()
        self._unread_timer = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._end_unread_timer()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        self._headed += len(data)
        super().data_received(data)
        if self._headed > _HEAD_BYTES:
            self.transport.close()

    def on_body(self, body: bytes) -> None:
        self._headed = 0
        super().on_body(body)

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= _PIPELINED:
            raise ValueError("too many requests before their answers")  # which ends the connection
        self._await_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._end_timer()
        self._headed = 0
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._end_timer()
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _end_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None


class Server:
    """Serve an application on one address. port: the one that is listened on, once it is."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self._app = app
        self._host = host
        self.port = port
        self.is_listening = asyncio.Event()

    async def serve(self, before_closing: Callable[[], None], before_ending: Callable[[], None] | None = None) -> None:
        """Serve until cancelled; then take no more requests, and give those under way some seconds.

        before_closing: called when these are over; before_ending: before they are waited for. Raises Unavailable when
        the address cannot be listened on.
        """
        try:
            listener = await _listen(self._host, self.port)
        except OSError as error:
            raise Unavailable("http.port_in_use", port=self.port, host=self._host, reason=error) from error
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._app,
            lifespan="off",
            loop="none",
            http=_Protocol,
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=math.ceil(FINISH_SECONDS),
        )
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what is no HTTP may come a thousand times
        server = _Uvicorn(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]), name="http server")
        self.is_listening.set()
        _log.info("listening on http://%s:%s", self._host, self.port)
        try:
            await asyncio.shield(serving)
        finally:
            self.is_listening.clear()
            server.should_exit = True
            if before_ending is not None:
                before_ending()
            await _end(serving, before_closing)
            listener.close()


async def _end(serving: "asyncio.Task[None]", before_closing: Callable[[], None]) -> None:
    try:
        await asyncio.wait({serving}, timeout=FINISH_SECONDS)
        before_closing()
        await asyncio.wait({serving}, timeout=_CLOSE_SECONDS)
    finally:
        before_closing()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def _listen(host: str, port: int) -> socket.socket:
    """Bind a socket to the first address of `host`. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setblocking(False)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
