"""Keep one connection of a Discord bot: take messages in, and send replies."""

import asyncio
import hashlib
import io
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import aiohttp
import discord

from kenobot.channels.intake import Acknowledge, Intake
from kenobot.channels.markup import render_parts
from kenobot.core.worker import run_until_first
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, Unavailable
from kenobot.ports.messages import Attachment, MessagePart, Outbound
from kenobot.storage import disk
from kenobot_discord.client import (
    MOST_EVENTS,
    DiscordClient,
    Events,
    as_view,
    number_of,
    own_account,
    translate_errors,
)
from kenobot_discord.events import NAME, read_edit, read_message, read_press, read_reaction, write
from kenobot_discord.settings import DiscordSettings

logger = logging.getLogger(__name__)

_LONGEST: Final = 2000  # UTF-16 units
_CLOSE_SECONDS: Final = 2.0
_MISSED: Final = 2000  # messages of one channel
_DIRECT: Final = 500  # chats
_OVERLAP: Final = 10_000 << 22  # ten seconds, as ids count: Discord orders messages within a channel only
_PIECE: Final = 65_536  # bytes


class DiscordChannel:
    """A bot on Discord.

    What was said while the bot was away is asked for, from the message on that was stored last; its id is kept in the
    home, beside the direct chats, which Discord does not list.
    """

    name = NAME
    capabilities = Capabilities(
        longest=_LONGEST,
        receives=frozenset({"image", "audio", "voice", "video", "document"}),
        sends=frozenset({"document"}),
        edits=True,
        reactions=True,
        buttons=True,
        threads=True,
    )

    def __init__(self, settings: DiscordSettings, clock: Clock, home: Path) -> None:
        self._settings = settings
        self._clock = clock
        self._home = home / "channels"
        self._place = self._home / "discord.json"
        self._intake = Intake(clock)
        self._client: DiscordClient | None = None
        self._seen = 0
        self._direct: list[int] = []  # bounded: _DIRECT chats; test_so_many_direct_chats_are_kept

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into messages."""
        return render_parts(
            text, _LONGEST, lambda part: len(write(part).encode("utf-16-le", "replace")) <= 2 * _LONGEST
        )

    async def send(self, outbound: Outbound) -> str:
        """Send one message, and return its id. Discord takes the same one once only, for some minutes."""
        client, part = self._require_client(), outbound.part
        content = write(part)
        chat = client.get_partial_messageable(number_of(outbound.thread or outbound.chat))
        view = as_view(part) if part.buttons else None
        more: dict[str, Any] = {"view": view} if view is not None else {}
        if not part.has_previews and not outbound.replaces:
            more["suppress_embeds"] = True
        try:
            async with self._deadline():
                if outbound.replaces:
                    edited = chat.get_partial_message(number_of(outbound.replaces))
                    quiet: dict[str, Any] = {} if part.has_previews else {"suppress": True}
                    await edited.edit(content=content, view=view, **quiet)
                    return outbound.replaces
                if outbound.reply_to:
                    more["reference"] = discord.MessageReference(
                        message_id=number_of(outbound.reply_to), channel_id=chat.id, fail_if_not_exists=False
                    )
                files = [
                    discord.File(io.BytesIO(file.text.encode("utf-8", "replace")), file.name or "file.txt")
                    for file in part.attachments
                ]
                same = f"{outbound.id} {outbound.chat} {outbound.trace} {part.text}".encode("utf-8", "replace")
                nonce = hashlib.sha256(same).hexdigest()[:24]
                return str((await chat.send(content, files=files, nonce=nonce, **more)).id)
        finally:
            if view is not None:
                view.stop()  # presses come in as events

    async def react(self, chat: str, target: str, emoji: str) -> None:
        """Put a reaction below a message."""
        message = self._require_client().get_partial_messageable(number_of(chat)).get_partial_message(number_of(target))
        async with self._deadline():
            await message.add_reaction(emoji)

    async def typing(self, chat: str, thread: str = "") -> None:
        """Show that an answer is on its way."""
        async with self._deadline():
            await self._require_client().http.send_typing(number_of(thread or chat))

    async def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Yield the file in pieces. Its address is asked for anew, because addresses expire."""
        channel, _, rest = attachment.handle.partition("/")
        message, _, wanted = rest.partition("/")
        async with self._deadline():
            found: Any = await self._require_client().http.get_message(number_of(channel), number_of(message))
        files = [*found["attachments"], *_list_forwarded_files(found)]
        address = next((file["url"] for file in files if file["id"] == wanted), "")
        if not address:
            raise Rejected("discord.file_gone")
        limit = aiohttp.ClientTimeout(
            sock_connect=self._settings.request_seconds, sock_read=self._settings.request_seconds
        )
        with translate_errors():
            async with aiohttp.ClientSession(timeout=limit) as session, session.get(address) as response:
                if response.status >= 400:
                    raise Unavailable("discord.file_refused", status=response.status)
                async for piece in response.content.iter_chunked(_PIECE):
                    yield piece

    def _require_client(self) -> DiscordClient:
        if self._client is None:
            raise Unavailable("discord.unconnected")
        return self._client

    @asynccontextmanager
    async def _deadline(self) -> AsyncIterator[None]:
        with translate_errors():
            async with asyncio.timeout(self._settings.request_seconds):
                yield

    async def run(self, sink: Sink) -> None:
        """Connect, and take messages in until cancelled. Raises RemoteError when the connection ends."""
        events: Events = asyncio.Queue()  # bounded: MOST_EVENTS events; test_too_many_events_end_the_connection
        client = DiscordClient(events)
        try:
            async with self._deadline():
                await client.login(self._settings.token.get_secret_value())
            await asyncio.to_thread(self._load, own_account(client).id)
            self._client = client
            with translate_errors():
                await run_until_first(
                    client.connect(reconnect=False), self._read(client, events), self._intake.run(sink)
                )
            raise Unavailable("discord.ended")
        except Rejected as error:
            await sink.report(self.name, str(error))
            raise
        finally:
            self._client = None
            if (waiting := client._connection._ready_task) is not None:  # the library leaves that task running
                waiting.cancel()
            with suppress(TimeoutError, discord.DiscordException, aiohttp.ClientError, OSError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await client.close()

    async def _read(self, client: DiscordClient, events: Events) -> None:
        """Take events in, in their order; at the beginning of a session, what was missed before them."""
        while True:
            event, about = await events.get()
            if event != "connect":
                await self._take(client, event, about)
                continue
            later: list[tuple[str, Any]] = []
            while (found := await events.get())[0] != "ready":
                later.append(found)
                if len(later) > MOST_EVENTS:
                    raise Unavailable("discord.flood")
            logger.info("on Discord as %s", own_account(client).id)
            missed = await self._fetch_missed(client)
            for message in missed:
                await self._take(client, "message", message)
            known = {message.id for message in missed}
            for found in later:
                if found[0] != "message" or found[1].id not in known:
                    await self._take(client, *found)

    async def _take(self, client: DiscordClient, event: str, about: Any) -> None:
        me, inbound, stored = own_account(client), None, None
        match event:
            case "message":
                inbound = read_message(about, me)
                if isinstance(about.channel, discord.DMChannel):
                    await self._note_chat(about)
                if inbound is not None:
                    stored = self._noting(about.id)
                elif self._intake.is_empty:
                    self._seen = max(self._seen, about.id)
            case "raw_message_edit":
                inbound = read_edit(about.message, me)
            case "raw_reaction_add":
                inbound = read_reaction(about, client, me, self._clock.now())
            case "interaction":
                inbound, stored = read_press(about), _answering(about)
        if inbound is not None:
            await self._intake.put(inbound, stored)

    async def _fetch_missed(self, client: DiscordClient) -> list[discord.Message]:
        """Ask for what was said since the message that was stored last, oldest first."""
        since, direct = max(0, self._seen - _OVERLAP), set(self._direct)
        for person in self._settings.people:
            with suppress(Rejected):  # who has no server in common with the bot
                async with self._deadline():
                    direct.add((await client.create_dm(discord.Object(int(person)))).id)
        rooms: list[discord.TextChannel | discord.Thread] = []
        for guild in client.guilds:
            rooms += [*guild.text_channels, *guild.threads]
        found: list[discord.Message] = []
        for number in (*direct, *(room.id for room in rooms if (room.last_message_id or 0) > since)):
            found += await self._fetch_missed_in(client, number, since)
        return sorted(found, key=lambda message: message.id)

    async def _fetch_missed_in(self, client: DiscordClient, number: int, since: int) -> list[discord.Message]:
        chat = client.get_channel(number) or client.get_partial_messageable(number)
        found: list[discord.Message] = []
        while len(found) < _MISSED and isinstance(chat, discord.abc.Messageable):
            try:
                async with self._deadline():
                    page = [
                        each async for each in chat.history(limit=100, after=discord.Object(since), oldest_first=True)
                    ]
            except Rejected:
                break  # where the bot may not read
            found += page
            if len(page) < 100:
                break
            since = page[-1].id
        return found

    def _noting(self, number: int) -> Acknowledge:
        """Give what moves the bot's place on to a message, once that is stored."""

        async def note() -> None:
            self._seen = max(self._seen, number)
            await asyncio.to_thread(self._save)

        return note

    async def _note_chat(self, message: discord.Message) -> None:
        """Keep a direct chat, before its first message is stored."""
        if message.channel.id not in self._direct:
            self._direct = [*self._direct, message.channel.id][-_DIRECT:]
            await asyncio.to_thread(self._save)

    def _load(self, account: int) -> None:
        """Read the bot's place from the home; at the first start it is now."""
        self._place = self._home / f"discord-{account}.json"
        try:
            kept = json.loads(self._place.read_text("utf-8"))
            self._seen, self._direct = int(kept["seen"]), [int(each) for each in kept["direct"]]
        except (OSError, ValueError, TypeError, KeyError):
            self._seen = discord.utils.time_snowflake(self._clock.now())
            self._save()

    def _save(self) -> None:
        self._home.mkdir(mode=0o700, exist_ok=True)
        disk.replace_text(self._place, json.dumps({"seen": self._seen, "direct": self._direct}))


def _answering(press: discord.Interaction) -> Acknowledge:
    """Give what tells Discord, once a press is stored, that it was seen."""

    async def answer() -> None:
        with suppress(discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await press.response.defer()

    return answer


def _fits(part: MessagePart) -> bool:
    return len(write(part).encode("utf-16-le", "replace")) <= 2 * _LONGEST


def _list_forwarded_files(message: Any) -> list[Any]:
    return [file for each in message.get("message_snapshots", ()) for file in each["message"]["attachments"]]
