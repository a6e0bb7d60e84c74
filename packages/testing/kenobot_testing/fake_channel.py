"""A channel without a platform, and a sink without a core: both keep what they are given."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.errors import Rejected
from kenobot.ports.messages import Attachment, Inbound, MessagePart, Outbound
from kenobot_testing.clock import START


async def _wait_until(ready: Callable[[], bool], changed: asyncio.Event) -> None:
    """Wait until something is so; looked at after each change."""
    while not ready():
        changed.clear()
        await changed.wait()


class FakeChannel:
    """Says what the test tells it to, and keeps what the core sends.

    channel = FakeChannel()
    channel.say("hello")                     # comes in as soon as `run` is at work
    channel.fail_next(Unavailable("down"))   # the next `send` raises it, the one after goes through
    await channel.until_sent(1)
    assert channel.texts == ["hi!"]

    capabilities: what the platform can do; text only by default. media: the bytes of attachments, by handle.

    sent: every part the platform took, in order. attempted: every part it was offered. accepted: what the sink
    returned from. drafts: the last text shown of each draft. drafted: each text of one. reactions: by (chat, message).
    """

    def __init__(self, name: str = "fake", capabilities: Capabilities | None = None) -> None:
        self._name = name
        self.capabilities = capabilities or Capabilities()
        self.media: dict[str, bytes] = {}
        self.drafts: dict[tuple[str, str], str] = {}
        self.drafted: list[str] = []
        self.reactions: dict[tuple[str, str], str] = {}
        self._said: deque[Inbound | None] = deque()
        self._failures: deque[Exception | None] = deque()
        self._count = 0
        self._changed = asyncio.Event()
        self.accepted: list[Inbound] = []
        self.attempted: list[Outbound] = []
        self.sent: list[Outbound] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def texts(self) -> list[str]:
        """Return what was sent, as text only."""
        return [outbound.part.text for outbound in self.sent]

    def say(
        self,
        text: str,
        chat: str = "1",
        user: str = "1",
        *,
        private: bool = True,
        forwarded: bool = False,
        external_id: str | None = None,
    ) -> Inbound:
        """Write `text` as a person. The same `external_id` twice is the platform repeating itself."""
        self._count += 1
        inbound = Inbound(
            channel=self._name,
            external_id=external_id if external_id is not None else str(self._count),
            chat=chat,
            user=user,
            text=text,
            sent_at=START + timedelta(seconds=self._count),
            private=private,
            forwarded=forwarded,
        )
        self._said.append(inbound)
        self._changed.set()
        return inbound

    def press(self, value: str, target: str, chat: str = "1", user: str = "1", *, private: bool = True) -> Inbound:
        """Press the button of this value below the message `target`, as a person."""
        self._count += 1
        sent_at = START + timedelta(seconds=self._count)
        inbound = Inbound(self._name, str(self._count), chat, user, "", sent_at, private=private)
        inbound = replace(inbound, kind="action", target=target, value=value)
        self._said.append(inbound)
        self._changed.set()
        return inbound

    def correct(self, text: str, message: Inbound) -> Inbound:
        """Change what `message` says, as its person."""
        self._count += 1
        edit = replace(message, external_id=str(self._count), kind="edit", text=text, target=message.external_id)
        self._said.append(edit)
        self._changed.set()
        return edit

    def hand_over(self, name: str, content: bytes) -> Inbound:
        """Send a file as a person."""
        handle = f"file-{len(self.media) + 1}"
        self.media[handle] = content
        inbound = self.say("")
        self._said.pop()
        file = Attachment("document", name=name, size=len(content), handle=handle)
        self._said.append(replace(inbound, attachments=(file,)))
        return inbound

    def end_input(self) -> None:
        """End the conversation as the person: `run` returns after what was said before."""
        self._said.append(None)
        self._changed.set()

    def fail_next(self, *errors: Exception | None) -> None:
        """Make the next calls of `send` raise these, one each; None lets one through."""
        self._failures.extend(errors)

    async def until_sent(self, count: int) -> list[str]:
        """Wait until `count` parts were sent; returns their texts."""
        await _wait_until(lambda: len(self.sent) >= count, self._changed)
        return self.texts

    async def run(self, sink: Sink) -> None:
        """Offer what the sink did not take again, at the next run."""
        while True:
            await _wait_until(lambda: bool(self._said), self._changed)
            inbound = self._said[0]
            if inbound is not None:
                await sink(inbound)
                self.accepted.append(inbound)
            self._said.popleft()
            if inbound is None:
                return

    def render(self, text: str) -> Sequence[MessagePart]:
        """Return plain text, cut every `longest` UTF-16 units at most."""
        width = max(1, self.capabilities.longest // 2)  # a character takes two units at most
        return [MessagePart(text[start : start + width]) for start in range(0, len(text), width)]

    async def send(self, outbound: Outbound) -> str:
        self.attempted.append(outbound)
        error = self._failures.popleft() if self._failures else None
        if error is not None:
            raise error
        self.sent.append(outbound)
        self.drafts.pop((outbound.chat, outbound.draft), None)
        self._changed.set()
        return outbound.replaces or f"{self._name} {len(self.sent)}"

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        """See `kenobot.ports.channel.ShowsDrafts`."""
        self.drafted.append(text)
        self.drafts[chat, draft] = text
        if not text:
            del self.drafts[chat, draft]
        self._changed.set()

    async def preview(self, chat: str, message: str, text: str, thread: str = "") -> None:
        """See `kenobot.ports.channel.ShowsPreviews`."""
        self.drafted.append(text)
        self._changed.set()

    async def react(self, chat: str, target: str, emoji: str) -> None:
        """See `kenobot.ports.channel.Reacts`."""
        self.reactions[chat, target] = emoji

    async def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """See `kenobot.ports.channel.FetchesMedia`. Raises Rejected for a handle that is not in `media`."""
        if attachment.handle not in self.media:
            raise Rejected("there is no such file")
        yield self.media[attachment.handle]


class RecordingSink:
    """A Sink that keeps what it is given. It raises `failures` first, one for each call.

    open: while it is cleared nothing is stored. offered: what came in, stored or not.
    """

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self._changed = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()
        self.offered: list[Inbound] = []
        self.refused: list[Inbound] = []
        self.accepted: list[Inbound] = []
        self.quarantined: list[tuple[str, str, str, str]] = []
        self.reports: list[tuple[str, str]] = []

    async def __call__(self, inbound: Inbound) -> bool:
        self.offered.append(inbound)
        self._changed.set()
        await self.open.wait()
        if self._failures:
            self.refused.append(inbound)
            raise self._failures.pop(0)
        self.accepted.append(inbound)
        self._changed.set()
        return True

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        self.quarantined.append((channel, external_id, raw, reason))

    async def report(self, channel: str, problem: str) -> None:
        self.reports.append((channel, problem))

    async def until_offered(self, count: int) -> list[Inbound]:
        """Wait until `count` messages came in."""
        await _wait_until(lambda: len(self.offered) >= count, self._changed)
        return self.offered

    async def until_accepted(self, count: int) -> list[Inbound]:
        """Wait until `count` messages were taken."""
        await _wait_until(lambda: len(self.accepted) >= count, self._changed)
        return self.accepted
