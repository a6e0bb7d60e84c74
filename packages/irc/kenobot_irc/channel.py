"""Keep one connection to an IRC server: take messages in, and send replies line by line."""

import asyncio
import base64
import hashlib
import itertools
import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from kenobot.channels.intake import Intake, read_time
from kenobot.channels.markup import NOTHING_TO_SEE, render_parts
from kenobot.channels.mention import strip_name
from kenobot.core.worker import run_until_first
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, RemoteError, Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.sentences import Sentence
from kenobot_irc.settings import IrcSettings
from kenobot_irc.wire import (
    ROOM_SIGNS,
    Line,
    fold,
    identify,
    is_person,
    parse_line,
    plain_text,
    protocol_lines,
    room_for_text,
    strip_formatting,
)

logger = logging.getLogger(__name__)

_LONGEST_READ: Final = 16_384  # bytes
_WANTED: Final = frozenset({"message-tags", "server-time", "account-tag"})
_CANNOT_JOIN: Final = frozenset({"403", "405", "471", "473", "474", "475", "476", "477"})
_CANNOT_SEND: Final = frozenset(
    {"401", "403", "404", "407", "408", "411", "412", "413", "414", "415", "417", "477", "486", "492", "531"}
)
_LATER: Final = {
    "401": "irc.no_such_nick",
    "439": "irc.too_fast",
    "707": "irc.too_fast",
    "716": "irc.accepts_few",
    "717": "irc.accepts_few",
}
_REFUSED: Final = frozenset({"432", "464", "465", "466", "902", "904", "905", "908"})
_AWAY_SECONDS: Final = 60.0  # until a reply to a person who cannot be written to now is tried again
_SURE_SECONDS: Final = 20.0  # for which a nick is taken to be the person who had it
_LINES: Final = 5  # of a part: servers throw out who writes many at once
_LONGEST_PART: Final = 1500  # UTF-16 units
_LONGEST_HOST: Final = 64  # bytes
_MET: Final = 1000  # people
_TOO_LATE: Final = "irc.let_in_late"

_Report = Callable[[str], Awaitable[None]]
"""Is told, in one sentence, of something that only a person can mend."""


class IrcChannel:
    """A bot on IRC.

    IRC acknowledges nothing: what came in is kept until it is stored, and a part counts as sent once the server has
    answered a ping behind it without a complaint. So there is never more than one part that the server has not taken.
    """

    name = "irc"
    capabilities = Capabilities(longest=_LONGEST_PART)

    def __init__(self, settings: IrcSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._intake = Intake(clock)
        self._run_id = f"{clock.now().timestamp():.6f}"
        self._count = itertools.count(1)
        self._nick = settings.nick
        self._writer: asyncio.StreamWriter | None = None
        self._welcomed = False
        self._sending = asyncio.Lock()
        self._met: dict[
            str, float
        ] = {}  # bounded: _MET people; test_a_nick_is_asked_after_again_when_some_time_has_passed
        self._whois = ("", "")
        self._offered: set[str] = set()  # bounded: what one server says of itself; start
        self._bounced = False
        self._casemapping = ""
        self._address = ""
        self._joined: dict[str, str] = {}  # bounded: the rooms of the settings; start
        self._plain: dict[str, bool] = {}  # bounded: the rooms of the settings; start
        self._pong: tuple[str, asyncio.Future[None]] | None = None
        self._complaint: RemoteError | None = None
        self.last_answer_at: float | None = None
        self.stall_seconds = 2 * settings.ping_seconds + settings.request_seconds

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into parts of a few lines each."""
        parts = render_parts(text, _LONGEST_PART, lambda part: len(protocol_lines(part)) <= _LINES)
        return [part for part in parts if part.text.strip()] or ([NOTHING_TO_SEE] if text else [])

    async def send(self, outbound: Outbound) -> str:
        """Send the lines of a part. Raises Unavailable (they may have arrived) or Rejected."""
        target, _, person = outbound.chat.partition(" ")
        if not target or any(char in target for char in "\r\n\0,") or target.startswith(":"):
            raise Rejected("irc.no_such_chat")
        async with self._sending:
            if person and self._clock.monotonic() - self._met.get(outbound.chat, -_SURE_SECONDS) >= _SURE_SECONDS:
                await self._check_person(target, person)
            return await self._say(target, outbound.part)

    async def _say(self, target: str, part: MessagePart) -> str:
        """Send the lines of a part, without formatting where a room takes none.

        A room has the mode +c for that on many servers. The first line that is formatted finds it out.
        """
        address = self._address or f"{self._nick}@{'x' * _LONGEST_HOST}"
        lines = protocol_lines(part, room_for_text(f"{self._nick}!{address}", target))
        formatted = [at for at, line in enumerate(lines) if line != strip_formatting(line)]
        if formatted and target.startswith(ROOM_SIGNS) and target not in self._plain:
            first = formatted[0]
            tried, lines = lines[: first + 1], lines[first + 1 :]
            try:
                token = await self._ask(*_messages(target, tried))
                self._plain[target] = False
            except Rejected:  # of what came before that line, too, unless the formatting was the reason
                token = await self._ask(*_messages(target, [strip_formatting(tried[-1])]))
                self._plain[target] = True
            if not lines:
                return token
        if self._plain.get(target):
            lines = [strip_formatting(line) for line in lines]
        return await self._ask(*_messages(target, lines))

    async def _ask(self, *lines: str) -> str:
        """Write lines and a ping, and wait for the pong: the answers to the lines came before it.

        Raises what the first complaint among them says, once all have come: they are of no later message.
        """
        if not self._welcomed:
            raise Unavailable("irc.unconnected")
        token = f"kenobot-{self._run_id}-{next(self._count)}"
        pong: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pong, self._complaint = (token, pong), None
        try:
            async with asyncio.timeout(self._settings.request_seconds):
                # ZNC answers pings itself, and hands on what the server says later.
                await self._write(*lines, f"ISON {self._nick}" if self._bounced else f"PING :{token}")
                await pong
        except TimeoutError:
            raise Unavailable("irc.silent") from None
        finally:
            self._pong = None
        return token

    async def _check_person(self, nick: str, person: str) -> None:
        """Raise Unavailable when the nick is another person's now."""
        self._whois = ("", "")
        await self._ask(f"WHOIS {nick}")
        if identify(*self._whois, self._settings.people) != person:
            raise Unavailable("irc.somebody_else", _AWAY_SECONDS, nick=nick)
        self._meet(f"{nick} {person}")

    def _meet(self, chat: str) -> None:
        """Note that the nick of a private chat was just seen to be that person's."""
        self._met.pop(chat, None)
        self._met[chat] = self._clock.monotonic()
        if len(self._met) > _MET:
            del self._met[next(iter(self._met))]

    async def check_access(self) -> None:
        """Connect, and wait until the server lets the bot in; join nothing. Raises RemoteError."""
        reader = await self._connect()
        try:
            async with asyncio.timeout(self._settings.request_seconds):
                while (line := await self._read_line(reader)).command != "001":
                    await self._handle(line, _report_nothing)
        except TimeoutError:
            raise Unavailable(_TOO_LATE) from None
        finally:
            await self._disconnect()

    async def run(self, sink: Sink) -> None:
        """Connect, join, and take messages in until cancelled. Raises RemoteError when the connection ends."""
        reader = await self._connect()
        try:
            await run_until_first(
                self._read(reader, partial(sink.report, self.name)), self._intake.run(sink), self._ping()
            )
        finally:
            await self._disconnect()

    async def _connect(self) -> asyncio.StreamReader:
        settings = self._settings
        context = ssl.create_default_context() if settings.tls else None
        try:
            async with asyncio.timeout(settings.request_seconds):
                reader, self._writer = await asyncio.open_connection(
                    settings.server, settings.port, ssl=context, limit=_LONGEST_READ
                )
        except (OSError, TimeoutError) as error:
            reason = Sentence("irc.no_answer") if isinstance(error, TimeoutError) else error
            raise Unavailable("irc.unreachable", reason=reason) from None
        for known in (self._offered, self._joined, self._plain):
            known.clear()
        self._casemapping = self._address = ""
        self._bounced = False
        password = settings.password.get_secret_value()
        await self._write(
            "CAP LS 302",
            *([f"PASS :{password}"] if password else []),
            f"NICK {settings.nick}",
            f"USER {settings.nick} 0 * :{settings.nick}",
        )
        return reader

    async def _disconnect(self) -> None:
        self._welcomed = False
        writer, self._writer = self._writer, None
        if self._pong is not None and not self._pong[1].done():
            self._pong[1].set_exception(Unavailable("irc.ended"))
        if writer is not None:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(1):
                    writer.write(b"QUIT\r\n")
                    await writer.drain()
                    writer.close()
                    await writer.wait_closed()
            writer.transport.abort()

    async def _write(self, *lines: str) -> None:
        if self._writer is None:
            raise Unavailable("irc.unconnected")
        try:
            self._writer.write(b"".join(line.encode("utf-8", "replace") + b"\r\n" for line in lines))
            await self._writer.drain()
        except OSError as error:
            raise Unavailable("irc.broke", reason=error) from None

    async def _ping(self) -> None:
        await self._clock.sleep(max(self._settings.ping_seconds, self._settings.request_seconds))
        if not self._welcomed:
            raise Unavailable(_TOO_LATE)
        while True:
            await self._write("PING :alive")
            await self._clock.sleep(self._settings.ping_seconds)

    async def _read(self, reader: asyncio.StreamReader, report: _Report) -> None:
        while True:
            await self._handle(await self._read_line(reader), report)

    async def _read_line(self, reader: asyncio.StreamReader) -> Line:
        """Read a line. Raises Unavailable when the connection ends."""
        try:
            raw = await reader.readline()
        except (OSError, ValueError) as error:
            raise Unavailable("irc.broke", reason=error) from None
        if not raw.endswith(b"\n"):
            raise Unavailable("irc.closed")
        self.last_answer_at = self._clock.monotonic()
        return parse_line(raw)

    async def _handle(self, line: Line, report: _Report) -> None:
        self._learn(line)
        match line.command:
            case "PING":
                await self._write(f"PONG :{line[-1]}")
            case "PRIVMSG":
                if (inbound := self._parse(line)) is not None:
                    await self._intake.put(inbound)
            case "PONG":
                self._answer_ping(line[-1])
            case "303" if self._bounced and self._pong is not None:
                self._answer_ping(self._pong[0])
            case "001":
                await self._begin(line)
            case "433" | "436" | "437" if not self._welcomed:
                self._nick += "_"
                await self._write(f"NICK {self._nick}")
            case "QUIT" | "NICK":
                await self._note_nick(line)
            case "CAP" | "AUTHENTICATE" | "903":
                await self._negotiate(line)
            case "ERROR":
                if not self._welcomed:  # some servers say no more than this of a wrong password
                    await report(Sentence("irc.not_let_in", reason=line[-1][:200]))
                raise Unavailable("irc.cut", reason=line[-1][:200])
            case _:
                await self._complain(line, report)

    def _learn(self, line: Line) -> None:
        """Record the features of the server, and the mask of the bot, that a line names."""
        if "!" in line.source and self._is_me(line.nick):
            self._address = line.source.partition("!")[2]
            if line.command == "JOIN":
                self._joined[self._name_room(line[0])] = line.tags.get("time", "")
        elif line.command == "396":  # another host is shown of the bot
            user, _, host = line[1].rpartition("@")
            self._address = f"{user or self._address.partition('@')[0]}@{host}"
        elif line.command == "005":
            found = [word.partition("=")[2] for word in line.parameters if word.startswith("CASEMAPPING=")]
            self._casemapping = found[-1] if found else self._casemapping

    async def _complain(self, line: Line, report: _Report) -> None:
        """Act on what the server says of a person, or on its no: to the bot, to what is being sent, or to joining."""
        if line.command in _REFUSED and not self._welcomed:
            problem = Sentence("irc.not_let_in", reason=line[-1][:200])
            await report(problem)
            raise Rejected(problem)
        if line.command == "311":
            self._whois = (f"{line[1]}!{line[2]}@{line[3]}", self._whois[1])
        elif line.command == "330":
            self._whois = (self._whois[0], line[2])
        elif line.command in _LATER and not (line.command == "401" and line[1].startswith(ROOM_SIGNS)):
            self._note_complaint(Unavailable(_LATER[line.command], _AWAY_SECONDS, nick=line[1]))
        elif line.command in _CANNOT_SEND and self._pong is not None:
            self._note_complaint(Rejected("irc.not_taken", reason=line[-1][:200]))
        elif line.command in _CANNOT_JOIN:
            await report(Sentence("irc.room_refused", room=line[1], reason=line[-1][:200]))

    def _note_complaint(self, error: RemoteError) -> None:
        self._complaint = self._complaint or error

    def _answer_ping(self, token: str) -> None:
        """End the wait for a pong, with the complaint that came before it."""
        if self._pong is None or token != self._pong[0] or self._pong[1].done():
            return
        if self._complaint is None:
            self._pong[1].set_result(None)
        else:
            self._pong[1].set_exception(self._complaint)

    def _is_me(self, nick: str) -> bool:
        return fold(nick, self._casemapping) == fold(self._nick, self._casemapping)

    def _name_room(self, room: str) -> str:
        """Return the name of a room as the settings have it, for which the server's letters count as the same."""
        folded = fold(room, self._casemapping)
        known = (*self._settings.allowed_chats, *self._settings.join)
        return next((each for each in known if fold(each, self._casemapping) == folded), folded)

    async def _negotiate(self, line: Line) -> None:
        """Ask for the extensions that tell who writes and when, and log in."""
        account, password = self._settings.account, self._settings.account_password.get_secret_value()
        login = bool(account and password)
        if line.command == "CAP" and line[1] == "LS":
            self._bounced |= "znc.in/" in line[-1]
            self._offered |= {name.partition("=")[0] for name in line[-1].split()} & (_WANTED | {"sasl"})
            if line[2] == "*":
                return  # there is another line
            wanted = sorted(self._offered - (set() if login else {"sasl"}))
            await self._write(f"CAP REQ :{' '.join(wanted)}" if wanted else "CAP END")
        elif line.command == "CAP" and line[1] in ("ACK", "NAK"):
            await self._write("AUTHENTICATE PLAIN" if login and line[1] == "ACK" and "sasl" in line[-1] else "CAP END")
        elif line.command == "AUTHENTICATE":
            secret = base64.b64encode(f"{account}\0{account}\0{password}".encode()).decode()
            pieces = [secret[at : at + 400] for at in range(0, len(secret), 400)]
            await self._write(
                *(f"AUTHENTICATE {piece}" for piece in pieces), *(["AUTHENTICATE +"] * (len(secret) % 400 == 0))
            )
        elif line.command == "903":
            await self._write("CAP END")

    async def _begin(self, line: Line) -> None:
        self._nick = line[0] or self._nick
        self._welcomed = True
        rooms = sorted({*self._settings.join, *self._settings.allowed_chats})
        if rooms:
            await self._write(*(f"JOIN {room}" for room in rooms))
        logger.info("on IRC as %s", self._nick)

    async def _note_nick(self, line: Line) -> None:
        """Follow the bot's own name, and take the wanted one when it becomes free."""
        if line.command == "NICK" and self._is_me(line.nick):
            self._nick = line[0]
        elif line.nick.lower() == self._settings.nick.lower() != self._nick.lower():
            await self._write(f"NICK {self._settings.nick}")

    def _parse(self, line: Line) -> Inbound | None:
        """Parse a message for the bot; None for one that is not."""
        text, private = plain_text(line[1]), self._is_me(line[0])
        if not text or not is_person(line.source) or self._is_me(line.nick) or "bot" in line.tags:
            return None
        room = "" if private else self._name_room(line[0])
        if not private:
            named, text = strip_name(text, (self._nick, self._settings.nick))
            if not named or self._is_history(line, room):
                return None
        user = identify(line.source, line.tags.get("account", ""), self._settings.people)
        chat = f"{line.nick} {user}" if private else room  # another person of that nick is another chat
        if private:
            self._meet(chat)
        return Inbound(
            channel=self.name,
            external_id=self._identify_message(line),
            chat=chat,
            user=user,
            text=text,
            sent_at=read_time(line.tags.get("time", ""), self._clock),
            user_name=line.nick,
            private=private,
        )

    def _is_history(self, line: Line, room: str) -> bool:
        """Return whether a line was said before the bot came, and cannot be known again.

        InspIRCd's chanhistory may give it without an id, by the second: never the same time as when it was said.
        """
        told = line.tags.get("time", "")
        return not line.tags.get("msgid") and told.endswith(".000Z") and told < self._joined.get(room, "")

    def _identify_message(self, line: Line) -> str:
        """Return an id that is the same when a server or bouncer that dates its lines brings this one again."""
        told = line.tags.get("time", "")
        words = hashlib.sha256(line[1].encode("utf-8", "replace")).hexdigest()[:16]
        dated = f"{told} {line.source} {line[0]} {words}" if told else ""
        return line.tags.get("msgid") or dated or f"{self._run_id}-{next(self._count)}"


def _messages(target: str, lines: Sequence[str]) -> list[str]:
    return [f"PRIVMSG {target} :{line}" for line in lines]


async def _report_nothing(_problem: str) -> None:
    """Report nothing: of what goes wrong before the bot is let in, the error tells."""
