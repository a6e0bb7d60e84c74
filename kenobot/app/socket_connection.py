"""Serve one connection of the home's socket: a chat of another terminal, or a command."""

import asyncio
import contextlib
import logging
import os
from datetime import datetime

from kenobot import __version__
from kenobot.app.socket_services import SocketServices
from kenobot.channels.console import CHAT
from kenobot.core import local_socket
from kenobot.core.frames import (
    PROTOCOL,
    REQUESTS,
    AskStatus,
    ChannelRow,
    ChannelStates,
    ControlChannels,
    Draft,
    Drain,
    Drained,
    Event,
    FrameError,
    Hello,
    ListPlugins,
    LogLevel,
    Notice,
    PluginStates,
    ReadLogLevel,
    Refused,
    Request,
    Say,
    Show,
    Shown,
    Stop,
    Stopping,
    Stored,
    Sync,
    Synced,
    Typing,
    Welcome,
    decode,
    encode,
)
from kenobot.core.worker import TaskSet
from kenobot.ports.errors import KenobotError, StoreError, Unavailable
from kenobot.ports.messages import Inbound, Outbound
from kenobot.ports.signals import MEMORY_WRITTEN, Envelope

_log = logging.getLogger(__name__)

_UNSHOWN = 32  # parts that a chat was given and has not shown yet
_HELLO_SECONDS = 5.0
_SHOW_SECONDS = 50.0  # below the time that delivery gives a channel
_WRITE_SECONDS = 10.0
_NOTICE_ROOM = 65_536  # bytes waiting to be read by a chat, above which notices and typing are left out


class SocketConnection:
    """A chat or a command at the other end. As a screen, it shows parts and confirms each."""

    def __init__(self, services: SocketServices, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._services = services
        self._reader = reader
        self._writer = writer
        self._work = TaskSet("socket")
        # bounded: 32 parts; test_a_screen_that_shows_nothing_is_cut_off
        self._unshown: dict[int, asyncio.Future[str]] = {}
        self._is_busy = False
        self._draft = self._drafted = ""
        self.shows_drafts = False
        self.ended = asyncio.Event()

    # ── its life ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def serve(self) -> None:
        """Answer requests until either end closes."""
        try:
            hello = await self._greet()
            if hello is not None:
                await (self._hold_chat(hello) if hello.chat else self._obey())
        except (FrameError, ValueError, TimeoutError, OSError) as error:  # ValueError: a line above the limit
            _log.info("a connection on the socket was broken off: %s", error)
        finally:
            await self._work.stop()
            for waiting in self._unshown.values():
                waiting.cancel()
            self.cut()
            self.ended.set()

    def cut(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def refuse(self, reason: str) -> None:
        """Say why the connection is not served, and close it."""
        with contextlib.suppress(OSError, TimeoutError):
            await self._write(Refused(reason=reason))
        self.cut()

    async def _greet(self) -> Hello | None:
        """Return the other end's first frame; None when it is refused."""
        link = self._writer.get_extra_info("socket")
        if not local_socket.is_own(link):
            await self.refuse("This KenoBot belongs to another user.")
            return None
        async with asyncio.timeout(_HELLO_SECONDS):
            hello = await self._read()
        if not isinstance(hello, Hello):
            return None
        if hello.protocol != PROTOCOL:
            await self.refuse(f"The KenoBot that is running is version {__version__}: restart it, then try again.")
            return None
        await self._write(Welcome(version=__version__, process=os.getpid()))
        return hello

    async def _read(self) -> Request | None:
        """Return the next request; None at the end. Raises FrameError and ValueError."""
        line = await self._reader.readline()
        return decode(line, REQUESTS) if line.endswith(b"\n") else None

    async def _write(self, frame: Event) -> None:
        self._writer.write(encode(frame))
        async with asyncio.timeout(_WRITE_SECONDS):
            await self._writer.drain()

    # ── a chat ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _hold_chat(self, hello: Hello) -> None:
        console, services = self._services.console, self._services
        unsubscribe = services.signals.subscribe(MEMORY_WRITTEN, self._trace) if hello.trace else None
        self.shows_drafts = hello.drafts
        console.add(self)
        try:
            await services.attach()
            while (request := await self._read()) is not None:
                self._take(request)
        finally:
            console.remove(self)
            services.detach()
            if unsubscribe is not None:
                unsubscribe()

    def _take(self, request: Request) -> None:
        """Begin what a chat asks for. It asks for one thing at a time, and confirms parts meanwhile."""
        if isinstance(request, Shown):
            if (waiting := self._unshown.pop(request.id, None)) is not None and not waiting.done():
                waiting.set_result(str(request.id))
        elif isinstance(request, Say | Drain):
            if self._is_busy:
                raise FrameError("talk.asked_twice")
            self._is_busy = True
            self._work.begin(self._store(request) if isinstance(request, Say) else self._drain())

    async def _store(self, said: Say) -> None:
        """Put a message into the inbox, then confirm it."""
        services = self._services
        now = services.clock.now()
        inbound = Inbound(
            channel=services.console.name,
            external_id=said.id,
            chat=CHAT,
            user=services.user,
            text=said.text,
            sent_at=min(_moment(said.sent_at) or now, now),
        )
        try:
            new = await services.sink(inbound)
        except StoreError as error:
            await self._answer(Refused(reason=str(error)))
            return
        if new:
            await services.console.print_notice(f"> {said.text}", but=self)
        await self._answer(Stored(id=said.id, new=new))

    async def _drain(self) -> None:
        await self._services.wait_answered()
        await self._answer(Drained())

    async def _answer(self, frame: Event) -> None:
        """Tell a chat how its request ended; it may ask for the next thing then."""
        self._is_busy = False
        try:
            await self._write(frame)
        except (OSError, TimeoutError):
            self.cut()

    async def _trace(self, envelope: Envelope) -> None:
        told = envelope.payload
        await self.print_notice(f"  ⋅ {told['action']} in {told['scope']}: {told['text']} ({told['reason']})")

    # ── as a screen ──────────────────────────────────────────────────────────────────────────────────────────────

    async def send(self, outbound: Outbound) -> str:
        """Return once the other end has printed the part. Raises Unavailable when the connection ends before."""
        waiting = self._unshown.get(outbound.id)
        if waiting is None:
            if len(self._unshown) >= _UNSHOWN:
                self.cut()
                raise Unavailable("talk.shows_nothing")
            waiting = self._unshown[outbound.id] = asyncio.get_running_loop().create_future()
            self._writer.write(encode(Show(id=outbound.id, text=outbound.part.text, draft=outbound.draft)))
        done, _ = await asyncio.wait({waiting}, timeout=_SHOW_SECONDS)
        if not done:  # its process may be suspended; it gets the part when it comes back
            self.cut()
        if not done or waiting.cancelled():
            raise Unavailable("talk.closed_early")
        return waiting.result()

    async def typing(self, chat: str, thread: str = "") -> None:
        self._mention(Typing())

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        """Show what there is of a reply, unless the chat reads nothing for now: then with the next of it."""
        goes_on = draft == self._draft and text.startswith(self._drafted)
        keep = len(self._drafted) if goes_on and text else 0
        if self._mention(Draft(draft=draft, keep=keep, text=text[keep:])):
            self._draft, self._drafted = draft, text

    async def print_notice(self, text: str) -> None:
        """Print a line beside the conversation, unless the chat reads nothing for now."""
        self._mention(Notice(text=text))

    def _mention(self, frame: Event) -> bool:
        has_room = self._writer.transport.get_write_buffer_size() < _NOTICE_ROOM
        if has_room:
            self._writer.write(encode(frame))
        return has_room

    # ── a command ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _obey(self) -> None:
        """Carry out the one thing that a command asks for."""
        request = await self._read()
        if isinstance(request, Stop):
            await self._write(Stopping())
            self._services.stop()
        elif isinstance(request, Sync):
            try:
                await self._write(Synced(touched=await self._services.sync()))
            except KenobotError as error:
                await self._write(Refused(reason=str(error)))
        elif isinstance(request, ListPlugins):
            await self._write(PluginStates(plugins=self._services.plugins()))
        elif isinstance(request, ReadLogLevel):
            try:
                await self._write(LogLevel(level=await self._services.log_level()))
            except KenobotError as error:
                await self._write(Refused(reason=str(error)))
        elif isinstance(request, AskStatus):
            try:
                await self._write(await self._services.status(request.stacks))
            except (KenobotError, OSError) as error:
                await self._write(Refused(reason=str(error)))
        elif isinstance(request, ControlChannels):
            try:
                states = await self._services.channels(request.action, request.name)
            except KenobotError as error:
                await self._write(Refused(reason=str(error)))
            else:
                rows = tuple(ChannelRow(name=each.name, state=each.state, reason=each.reason) for each in states)
                await self._write(ChannelStates(channels=rows))


def _moment(text: str) -> datetime | None:
    """Return a time with its offset; None for any other text."""
    with contextlib.suppress(ValueError):
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else None
    return None
