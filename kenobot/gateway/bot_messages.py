"""Messages of the bot's own accord: rendered for their channel, sent by way of the outbox or around it, and limited."""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice, Pressers, add_buttons
from kenobot.gateway.delivery import Delivery
from kenobot.ports.channel import Channel, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Attachment, MessagePart, Outbound
from kenobot.storage import outbox
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination

HOUR = 3600.0
_SEND_SECONDS = 30.0


def render(channels: Mapping[str, Channel], channel: str, text: str) -> Sequence[MessagePart]:
    """Cut Markdown into the parts of a channel; plain where the channel is not there."""
    return channels[channel].render(text) if channel in channels else [MessagePart(text)]


@dataclass(frozen=True, slots=True)
class RenderedAnswer:
    """An answer as its parts. text: what the conversation keeps of it."""

    parts: Sequence[MessagePart]
    text: str


def render_answer(
    channels: Mapping[str, Channel], channel: str, text: str, language: Language, most: int
) -> RenderedAnswer:
    """Cut an answer into `most` parts or fewer.

    A longer one ends in a file with all of it where the channel can send one; else its last part says how much is left
    out, and so does what the conversation keeps.
    """
    parts = list(render(channels, channel, text))
    if len(parts) <= most:
        return RenderedAnswer(parts, text)
    shown, rest = parts[: most - 1], parts[most - 1 :]
    if sends_files(channels, channel):
        name, size = texts.ANSWER_FILE(language), len(text.encode("utf-8", "replace"))
        file = Attachment("document", mime="text/markdown", name=name, size=size, text=text)
        note = render(channels, channel, texts.REST_IN_FILE(language))[0]
        return RenderedAnswer([*shown, replace(note, attachments=(file,))], text)
    left_out = texts.REST_LEFT_OUT(language, count=sum(len(part.text) for part in rest))
    return RenderedAnswer([*shown, render(channels, channel, left_out)[0]], f"{text}\n\n{left_out}")


@dataclass(frozen=True, slots=True)
class MessageButtons:
    """Buttons below a message to `account`, in its language. owner: whether the owner may press them as well."""

    rows: Sequence[Sequence[Choice]]
    account: str
    language: Language
    owner: bool = False


def render_file(
    channels: Mapping[str, Channel], channel: str, file: Attachment, note: str, text: str
) -> RenderedAnswer:
    """Make an answer a file with a note above it. text: what the conversation keeps."""
    return RenderedAnswer([replace(render(channels, channel, note)[0], attachments=(file,))], text)


def sends_files(channels: Mapping[str, Channel], channel: str) -> bool:
    """Return whether a channel sends documents."""
    return channel in channels and "document" in capabilities_of(channels[channel]).sends


@dataclass(frozen=True, slots=True)
class BotMessenger:
    """Send Markdown to chats."""

    database: Database
    clock: Clock
    channels: Mapping[str, Channel]
    delivery: Delivery

    def enqueue(
        self, connection: Connection, to: Destination, text: str, buttons: MessageButtons | None = None
    ) -> list[Outbound]:
        """Put a text into the outbox, inside a transaction; `dispatch` it after the commit."""
        parts, at = render(self.channels, to.channel, text), self.clock.now()
        if buttons is not None and to.channel in self.channels and capabilities_of(self.channels[to.channel]).buttons:
            accounts = (buttons.account,) if buttons.account else ()
            pressers = Pressers(to.channel, to.chat, accounts, owner=buttons.owner)
            parts = add_buttons(connection, parts, buttons.rows, pressers, buttons.language, at)
        return outbox.enqueue(connection, to, parts, at)

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        """Send what was just committed."""
        self.delivery.dispatch(parts)

    async def send(self, channel: str, chat: str, text: str, thread: str = "") -> None:
        """Send a text by way of the outbox. Returns once it is on disk. Raises StoreError."""
        to = Destination(channel, chat, thread=thread)
        self.dispatch(await self.database.write(lambda connection: self.enqueue(connection, to, text)))

    async def send_directly(self, channel: str, chat: str, text: str) -> None:
        """Send a text around the outbox, for when that cannot be written. Raises what the channel raises."""
        async with asyncio.timeout(_SEND_SECONDS):
            for part in render(self.channels, channel, text):
                await self.channels[channel].send(Outbound(0, channel, chat, part, ""))


class HourlyOnce:
    """The subjects of the last hour, in this run: at most `most`."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._most = most
        # bounded: 20 subjects, 200 chats and 500 strangers an hour; test_notices_of_an_hour_are_limited
        self._seen: OrderedDict[Hashable, float] = OrderedDict()

    def is_news(self, subject: Hashable) -> bool:
        """Return whether the subject is new within the hour, and there is room; then it counts as seen."""
        now = self._clock.monotonic()
        while self._seen and now - next(iter(self._seen.values())) >= HOUR:
            self._seen.popitem(last=False)
        if subject in self._seen or len(self._seen) >= self._most:
            return False
        self._seen[subject] = now
        return True

    def forget(self, subject: Hashable) -> None:
        """Make a subject news again."""
        self._seen.pop(subject, None)
