"""IRC, XMPP, Matrix and e-mail as people use them: a real server, two people on it, and what they get from the bot.

Each raises pytest's Skipped, with the reason, where its server or library is not installed.
"""

import asyncio
import contextlib
import itertools
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from kenobot.ports.identity import session_id
from tests.crash.world import until
from tests.integration.channels import mail_servers, ngircd, synapse

if TYPE_CHECKING:
    from tests.integration.channels import prosody

PEOPLE = ("ana", "bob")
_MEETING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that a person got from the bot. mark: by which their program knows it again; "" where there is none."""

    session: str
    text: str
    mark: str = ""


class Platform(Protocol):
    """A server with two people.

    name: of the channel. table: its settings. environ: its secrets. sessions: the bot's name of each person's chat.
    keeps_messages: whether what is said to a bot that is away waits for it.
    repeats: how often an answer may come again for each kill and chat.
    """

    name: str
    table: Mapping[str, object]
    environ: Mapping[str, str]
    sessions: Mapping[str, str]
    keeps_messages: bool
    repeats: int

    async def meet(self) -> None:
        """Wait until the bot can be talked to. Raises TimeoutError."""

    async def part(self) -> None:
        """Wait until the server knows that the bot is gone: before, it takes messages for it. Raises TimeoutError."""

    async def say(self, person: str, text: str) -> bool:
        """Have a person write to the bot; whether the server took it for the bot."""

    def heard(self) -> Sequence[Heard]:
        """Everything that people got so far."""


async def _met(is_there: Callable[[], bool]) -> None:
    if not await until(is_there, _MEETING_SECONDS):
        raise TimeoutError("the bot is not there")


# ── IRC ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class _IrcPerson:
    """Reads all that comes, and knows what the server says of a message before it answers the ping behind that."""

    person: ngircd.Person
    session: str
    heard: list[Heard]
    refused: bool = False
    bot_is_there: bool = False
    pong: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> None:
        while line := await self.person.read():
            command = line.split(" ")[1]
            if command == "PRIVMSG":
                self.heard.append(Heard(self.session, line.split(" :", 1)[1]))
            elif command == "401":
                self.refused = True
            elif command == "303":
                self.bot_is_there = "kenobot" in line.split(" :", 1)[1]
            elif command == "PONG":
                self.pong.set()

    async def ask(self, line: str) -> None:
        """Write a line, and wait until the server has dealt with it."""
        self.refused = False
        self.pong.clear()
        self.person.write(line, "PING :dealt-with")
        async with asyncio.timeout(_MEETING_SECONDS):
            await self.pong.wait()


@dataclass
class Irc:
    """An ngircd. It keeps nothing for those who are away, but says so to whoever writes to them."""

    table: Mapping[str, object]
    sessions: Mapping[str, str]
    people: Mapping[str, _IrcPerson]
    _heard: list[Heard]
    name = "irc"
    environ: Mapping[str, str] = field(default_factory=dict)
    keeps_messages = False
    repeats = 1

    async def meet(self) -> None:
        await self._until(there=True)

    async def part(self) -> None:
        await self._until(there=False)

    async def _until(self, *, there: bool) -> None:
        ana = self.people["ana"]
        async with asyncio.timeout(_MEETING_SECONDS):
            await ana.ask("ISON kenobot")
            while ana.bot_is_there != there:
                await asyncio.sleep(0.01)
                await ana.ask("ISON kenobot")

    async def say(self, person: str, text: str) -> bool:
        someone = self.people[person]
        await someone.ask(f"PRIVMSG kenobot :{text}")
        return not someone.refused

    def heard(self) -> Sequence[Heard]:
        return self._heard


@contextlib.asynccontextmanager
async def irc() -> AsyncIterator[Platform]:
    """An ngircd and two people."""
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kenobot-irc-")))
        port = stack.enter_context(ngircd.ngircd(folder))
        owners = {name: f"{name}!*@127.*" for name in PEOPLE}
        sessions = {name: session_id("irc", f"{name} {mask}") for name, mask in owners.items()}
        heard, people, readers = list[Heard](), dict[str, _IrcPerson](), list[asyncio.Task[None]]()
        for name in PEOPLE:
            someone = await stack.enter_async_context(ngircd.person(port, name))
            people[name] = _IrcPerson(someone, sessions[name], heard)
            readers.append(asyncio.create_task(people[name].read()))
        table = {"server": "127.0.0.1", "port": port, "tls": False, "owners": [*owners.values()]}
        try:
            yield Irc(table, sessions, people, heard)
        finally:
            await _cancelled(*readers)


# ── XMPP ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Xmpp:
    """A prosody, which keeps messages for those who are away, and people whose ids begin anew after a few messages."""

    table: Mapping[str, object]
    environ: Mapping[str, str]
    sessions: Mapping[str, str]
    _people: Mapping[str, "prosody.Person"]
    _heard: list[Heard]
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.cycle(range(3)))
    name = "xmpp"
    keeps_messages = True
    repeats = 1

    async def meet(self) -> None:
        """There is nothing to wait for: what is said before waits."""

    async def part(self) -> None:
        """There is nothing to wait for: what is said before waits."""

    async def say(self, person: str, text: str) -> bool:
        self._people[person].say("keno@localhost", text, number=str(next(self._numbers)))
        return True

    def heard(self) -> Sequence[Heard]:
        return self._heard


@contextlib.asynccontextmanager
async def xmpp() -> AsyncIterator[Platform]:
    """A prosody and two people."""
    pytest.importorskip("slixmpp", reason="slixmpp is not installed")
    from tests.integration.channels import prosody

    heard = list[Heard]()
    sessions = {name: session_id("xmpp", f"{name}@localhost") for name in PEOPLE}

    async def listen(name: str, someone: prosody.Person) -> None:
        while True:
            message = await someone.heard.get()
            heard.append(Heard(sessions[name], str(message["body"]), str(message["id"])))

    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kenobot-xmpp-")))
        port = stack.enter_context(prosody.prosody(folder, *PEOPLE, "keno"))
        people, listeners = dict[str, prosody.Person](), list[asyncio.Task[None]]()
        for name in PEOPLE:
            someone = await stack.enter_async_context(prosody.person(port, name))
            people[name] = someone
            listeners.append(asyncio.create_task(listen(name, someone)))
        table = {
            "account": "keno@localhost",
            "server": "127.0.0.1",
            "port": port,
            "security": "none",
            "owners": [f"{name}@localhost" for name in PEOPLE],
        }
        try:
            yield Xmpp(table, {"KENOBOT_CHANNELS__XMPP__PASSWORD": prosody.PASSWORD}, sessions, people, heard)
        finally:
            await _cancelled(*listeners)


# ── Matrix ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Matrix:
    """A synapse, which keeps everything, and takes what the bot sends twice once only."""

    table: Mapping[str, object]
    environ: Mapping[str, str]
    sessions: Mapping[str, str]
    people: Mapping[str, synapse.Person]
    rooms: Mapping[str, str]
    bot: str
    _heard: list[Heard] = field(default_factory=list)
    name = "matrix"
    keeps_messages = True
    repeats = 0

    async def part(self) -> None:
        """There is nothing to wait for: what is said before waits."""

    async def meet(self) -> None:
        for name, someone in self.people.items():
            async with asyncio.timeout(_MEETING_SECONDS):
                while self.bot not in await asyncio.to_thread(someone.people, self.rooms[name]):
                    await asyncio.sleep(0.05)

    async def say(self, person: str, text: str) -> bool:
        await asyncio.to_thread(self.people[person].say, self.rooms[person], text)
        return True

    def heard(self) -> Sequence[Heard]:
        return self._heard

    async def listen(self, name: str) -> None:
        """Keep looking for what the bot says to a person."""
        at = ""
        while True:
            events, at = await asyncio.to_thread(self.people[name].heard_since, self.rooms[name], at)
            self._heard += [
                Heard(self.sessions[name], event["content"]["body"], event["event_id"])
                for event in events
                if event["sender"] == self.bot
            ]
            await asyncio.sleep(0 if events else 0.05)


@contextlib.asynccontextmanager
async def matrix() -> AsyncIterator[Platform]:
    """A synapse and two people, each of whom has invited the bot into a room."""
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kenobot-matrix-")))
        address = stack.enter_context(synapse.synapse(folder))
        bot = synapse.Person(address, "keno")
        people = {name: synapse.Person(address, name) for name in PEOPLE}
        rooms = {name: someone.room(bot.id, is_direct=True) for name, someone in people.items()}
        sessions = {name: session_id("matrix", f"{rooms[name]} {someone.id}") for name, someone in people.items()}
        table = {
            "homeserver": address,
            "user": bot.id,
            "owners": [someone.id for someone in people.values()],
        }
        secret = {"KENOBOT_CHANNELS__MATRIX__PASSWORD": synapse.PASSWORD}
        platform = Matrix(table, secret, sessions, people, rooms, bot.id)
        listeners = [asyncio.create_task(platform.listen(name)) for name in PEOPLE]
        try:
            yield platform
        finally:
            await _cancelled(*listeners)


# ── e-mail ───────────────────────────────────────────────────────────────────────────────────────────────────────

_SUBJECT = "how it goes"


@dataclass
class Mail:
    """A dovecot, which keeps mail until it is read, and an SMTP server, which takes any mail as often as it is sent."""

    table: Mapping[str, object]
    environ: Mapping[str, str]
    sessions: Mapping[str, str]
    mailbox: mail_servers.Mailbox
    post: mail_servers.Post
    _heard: list[Heard] = field(default_factory=list)
    name = "email"
    keeps_messages = True
    repeats = 1

    async def meet(self) -> None:
        """There is nothing to wait for: what is sent before waits."""

    async def part(self) -> None:
        """There is nothing to wait for: what is sent before waits."""

    async def say(self, person: str, text: str) -> bool:
        message = EmailMessage()
        message["From"], message["To"] = f"{person}@example.org", mail_servers.BOT
        message["Subject"], message["Message-ID"] = f"Re: {_SUBJECT}", mail_servers.long_id()
        message["References"] = f"<first@{person}.example.org>"
        mail_servers.wrap(message, text, width=8)
        await asyncio.to_thread(self.mailbox.deliver, bytes(message))
        return True

    def heard(self) -> Sequence[Heard]:
        for message in itertools.islice([*self.post.taken], len(self._heard), None):
            body = message.get_body(("plain",))
            text = str(body.get_content()).strip() if body is not None else ""
            to = self.sessions[str(message["To"]).partition("@")[0]]
            self._heard.append(Heard(to, text, str(message["Message-ID"])))
        return self._heard


@contextlib.asynccontextmanager
async def mail() -> AsyncIterator[Platform]:
    """A dovecot with the bot's mailbox, an SMTP server, and two people."""
    with mail_servers.dovecot() as imap, mail_servers.post_office() as (smtp, post):
        table = {
            "address": mail_servers.BOT,
            "imap_server": "127.0.0.1",
            "imap_port": imap,
            "imap_security": "none",
            "smtp_server": "127.0.0.1",
            "smtp_port": smtp,
            "smtp_security": "none",
            "verified_by": "nobody",
            "owners": [f"{name}@example.org" for name in PEOPLE],
        }
        secret = {"KENOBOT_CHANNELS__EMAIL__PASSWORD": mail_servers.PASSWORD}
        sessions = {
            name: session_id("email", f"{name}@example.org", f"<first@{name}.example.org> {_SUBJECT}")
            for name in PEOPLE
        }
        yield Mail(table, secret, sessions, mail_servers.Mailbox(imap), post)


PLATFORMS: Mapping[str, Callable[[], AbstractAsyncContextManager[Platform]]] = {
    "irc": irc,
    "xmpp": xmpp,
    "matrix": matrix,
    "email": mail,
}


def as_toml(platform: Platform) -> str:
    """The part of kenobot.toml that is the platform's. JSON of flat values is TOML too."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in platform.table.items()]
    return "\n".join((f"\n[channels.{platform.name}]", *lines, ""))


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
