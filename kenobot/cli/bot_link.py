"""Connect to the bot that runs in this home: a chat in this terminal, and commands that tell of a change."""

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable

from kenobot.channels.console import CHAT, Console
from kenobot.core import local_socket
from kenobot.core.frames import (
    EVENTS,
    LONGEST_MESSAGE,
    Draft,
    Drain,
    Drained,
    Event,
    FrameError,
    Hello,
    Notice,
    Refused,
    Request,
    Say,
    Show,
    Shown,
    Stored,
    Typing,
    Welcome,
    decode,
    encode,
)
from kenobot.core.settings.home import Home
from kenobot.ports.errors import ConfigError, KenobotError, StoreError, Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound, MessagePart, Outbound

_GREETING_SECONDS = 5.0
_STORING_SECONDS = 60.0  # for the bot's disk; then the message is handed in anew
_WRITE_SECONDS = 10.0
_RETRY_SECONDS = 0.1
_PRINTED = 64  # parts that are known to be printed, should the bot send them again
_UNSHOWN = 64


class BotGone(KenobotError):
    """The bot has ended, and did not come back in time."""


class _Cut(Exception):
    """The connection ended before the answer came."""


@dataclass(frozen=True, slots=True)
class LinkTexts:
    """Hold what a chat says when its connection is cut, when it is back, and when it does not come back.

    lost: of `{text}`, a message that no bot has stored. too_long: of a message that is not handed in.
    """

    cut: str
    back: str
    gone: str
    lost: str
    too_long: str


def greet(link: socket.socket, *, chat: bool = False, trace: bool = False, drafts: bool = False) -> Welcome | None:
    """Begin a connection; None, and it is closed, when the other end is ending. Raises ConfigError when it refuses."""
    try:
        link.sendall(encode(Hello(chat=chat, trace=trace, drafts=drafts)))
        answer = decode(_line(link), EVENTS)
    except (OSError, FrameError):
        link.close()
        return None
    if isinstance(answer, Welcome):
        return answer
    link.close()
    raise ConfigError(answer.reason if isinstance(answer, Refused) else "talk.other_version")


def ask(home: Home, request: Request, seconds: float) -> Event | None:
    """Ask the running bot to carry out a command's request; None when none listens, or it does not answer in time."""
    link = local_socket.connect(home.socket, _GREETING_SECONDS)
    if link is None or greet(link) is None:
        return None
    with contextlib.closing(link):
        try:
            link.settimeout(seconds)
            link.sendall(encode(request))
            return decode(_line(link), EVENTS)
        except (OSError, FrameError):
            return None


def _line(link: socket.socket) -> bytes:
    """Read one short line, and nothing behind it."""
    line = b""
    while not line.endswith(b"\n") and len(line) < 65_536:
        piece = link.recv(1)
        if not piece:
            break
        line += piece
    return line


class BotLink:
    """The connection of a chat: the sink of its console, and what prints the bot's answers there.

    It is opened anew when it is cut. A message that was not confirmed is handed in again under the same id, and a part
    that was printed already is only confirmed: nothing is lost, nothing comes twice.

    opens: how to connect once more. patience: seconds to go on trying.
    """

    def __init__(
        self,
        opens: Callable[[], tuple[socket.socket, Welcome] | None],
        console: Console,
        texts: LinkTexts,
        patience: float,
    ) -> None:
        self._opens = opens
        self._console = console
        self._texts = texts
        self._patience = patience
        self._writer: asyncio.StreamWriter | None = None
        self._connected = asyncio.Event()
        self._asking: asyncio.Future[Event] | None = None
        self._unstored = self._drafted = ""
        self._one = asyncio.Lock()
        # bounded: 64 numbers; test_a_part_that_was_printed_is_not_printed_again
        self._printed: deque[int] = deque(maxlen=_PRINTED)

    # ── the sink ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def __call__(self, inbound: Inbound) -> bool:
        """Return once the message is in the bot's inbox. Raises StoreError when the bot's disk fails."""
        if len(inbound.text) > LONGEST_MESSAGE:
            await self._console.print_notice(self._texts.too_long)
            return False
        said = Say(id=inbound.external_id, text=inbound.text, sent_at=inbound.sent_at.isoformat())
        self._unstored = inbound.text
        answer = await self._ask(said, _STORING_SECONDS)
        if isinstance(answer, Refused):
            raise StoreError(answer.reason)
        self._unstored = ""
        return isinstance(answer, Stored) and answer.new

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        """Do nothing: a console brings nothing that cannot be read."""

    async def report(self, channel: str, problem: str) -> None:
        """Do nothing: a console has no problems to tell of."""

    async def wait_drained(self) -> None:
        """Return once all of the conversation is answered and printed."""
        await self._ask(Drain(), None)

    async def _ask(self, request: Request, seconds: float | None) -> Event:
        """Send a request until it is answered, over as many connections as that takes."""
        line = encode(request)
        async with self._one:
            while True:
                await self._connected.wait()
                self._asking = asyncio.get_running_loop().create_future()
                try:
                    await self._write(line)
                    async with asyncio.timeout(seconds):
                        return await self._asking
                except _Cut:
                    continue
                except OSError:  # or a timeout; `_serve` would not see the end while this tried again at once
                    self._connected.clear()
                    self._cut()

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────

    async def run(self, link: socket.socket) -> None:
        """Print what the bot sends, until cancelled. Raises BotGone and ConfigError."""
        while True:
            await self._serve(link)
            await self._console.print_notice(self._texts.cut)
            link = await self._reopen()
            await self._console.print_notice(self._texts.back)

    async def _reopen(self) -> socket.socket:
        try:
            async with asyncio.timeout(self._patience):
                while True:
                    connected = await asyncio.to_thread(self._opens)
                    if connected is not None:
                        return connected[0]
                    await asyncio.sleep(_RETRY_SECONDS)
        except TimeoutError:
            lines = [self._texts.gone, *([self._texts.lost.format(text=self._unstored)] if self._unstored else [])]
            raise BotGone("\n".join(lines)) from None

    async def _serve(self, link: socket.socket) -> None:
        """Read events until the connection ends."""
        link.setblocking(False)
        reader, self._writer = await asyncio.open_unix_connection(sock=link, limit=local_socket.LONGEST_FRAME)
        self._connected.set()
        shows: asyncio.Queue[Show] = asyncio.Queue(_UNSHOWN)
        printing = asyncio.create_task(self._print(shows), name="printing")
        try:
            while (line := await reader.readline()).endswith(b"\n"):
                event = decode(line, EVENTS)
                if isinstance(event, Show):
                    await shows.put(event)
                else:
                    await self._hear(event)
        except (OSError, FrameError, ValueError):  # ValueError: a line above the limit
            pass
        finally:
            self._connected.clear()
            self._cut()
            if self._drafted:
                self._drafted = ""
                await self._console.draft(CHAT, "", "")
            printing.cancel()
            await asyncio.gather(printing, return_exceptions=True)
            if self._asking is not None and not self._asking.done():
                self._asking.set_exception(_Cut())

    async def _hear(self, event: Event) -> None:
        if isinstance(event, Notice):
            await self._console.print_notice(event.text)
        elif isinstance(event, Draft):
            self._drafted = self._drafted[: event.keep] + event.text
            await self._console.draft(CHAT, event.draft, self._drafted)
        elif isinstance(event, Typing):
            await self._console.typing(CHAT)
        elif isinstance(event, Stored | Refused | Drained) and self._asking is not None and not self._asking.done():
            self._asking.set_result(event)

    async def _print(self, shows: asyncio.Queue[Show]) -> None:
        """Print parts in their order and confirm each. An output that failed ends the console, not this."""
        while True:
            show = await shows.get()
            if show.id not in self._printed:
                try:
                    part = MessagePart(show.text)
                    await self._console.send(Outbound(show.id, self._console.name, CHAT, part, "", draft=show.draft))
                except Unavailable:
                    return
                self._printed.append(show.id)
            with contextlib.suppress(OSError, TimeoutError):
                await self._write(encode(Shown(id=show.id)))

    async def _write(self, line: bytes) -> None:
        assert self._writer is not None
        self._writer.write(line)
        async with asyncio.timeout(_WRITE_SECONDS):
            await self._writer.drain()

    def _cut(self) -> None:
        if self._writer is not None:
            self._writer.close()
