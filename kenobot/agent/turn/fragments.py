"""Join what a person sends in several messages within moments: stored one by one, answered as one.

The wait counts from the last fragment, with a limit in all. A message that is no fragment, such as a command, ends it.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from kenobot.agent.commands.registry import is_command_text
from kenobot.agent.turn.turn_signals import show_typing
from kenobot.core.worker import run_until_first
from kenobot.ports.channel import Channel, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.messages import Inbound
from kenobot.storage.inbox import Inbox
from kenobot.storage.inbox_rows import PendingMessage

_LONGEST_WAIT = 5.0  # seconds


@dataclass(slots=True)
class _Arrivals:
    """The newest messages of a chat. at: arrival of the last, by the Clock's `monotonic`. closing: the last that ends a
    wait.
    """

    at: float = 0.0
    closing: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class Fragments:
    """Gather the fragments of messages, on channels that ask for it."""

    def __init__(self, inbox: Inbox, clock: Clock, channels: Mapping[str, Channel]) -> None:
        self._inbox = inbox
        self._clock = clock
        self._channels = channels
        self._is_stopping = False
        self._chats: dict[str, _Arrivals] = {}  # bounded: chats with messages: at most IntakePolicy.backlog; turn

    def note(self, pending: PendingMessage) -> None:
        """Note that a message came in."""
        if not self._seconds(pending):
            return
        chat = self._chats.setdefault(pending.session, _Arrivals())
        chat.at = self._clock.monotonic()
        if not _may_be_joined(pending.inbound):
            chat.closing = pending.id
            chat.closed.set()

    def forget(self, session: str) -> None:
        """Forget a chat without messages."""
        self._chats.pop(session, None)

    def stop(self) -> None:
        """Wait for nothing any more."""
        self._is_stopping = True
        for chat in self._chats.values():
            chat.closed.set()

    async def gather(self, head: PendingMessage, has_more: Callable[[], bool]) -> PendingMessage:
        """Return a message with the fragments that go on it, once no more of them are expected. Raises StoreError.

        has_more: whether messages wait behind it.
        """
        seconds = self._seconds(head)
        if (head.fresh and not seconds) or not _may_be_joined(head.inbound):
            return head
        channel = self._channels.get(head.inbound.channel)
        if seconds:
            async with show_typing(channel, head.inbound.chat, head.inbound.thread):
                await self._wait(head, seconds)
        # Of an earlier run there may be some also where none are joined any more.
        return await self._inbox.join(head, partial(_goes_on, seconds=seconds)) if has_more() else head

    async def _wait(self, head: PendingMessage, seconds: float) -> None:
        """Return `seconds` after the newest message of the chat. One of an earlier run is not waited for."""
        chat = self._chats.get(head.session)
        until = self._clock.monotonic() + max(_LONGEST_WAIT, 2 * seconds)
        while chat is not None and chat.closing <= head.id and not self._is_stopping:
            left = min(chat.at + seconds, until) - self._clock.monotonic()
            if left <= 0:
                return
            chat.closed.clear()
            await run_until_first(self._clock.sleep(left), chat.closed.wait())

    def _seconds(self, pending: PendingMessage) -> float:
        channel = self._channels.get(pending.inbound.channel)
        return capabilities_of(channel).fragment_seconds if channel is not None else 0.0


def _may_be_joined(inbound: Inbound) -> bool:
    return inbound.kind == "message" and not inbound.forwarded and not is_command_text(inbound.text)


def _goes_on(before: Inbound, inbound: Inbound, seconds: float) -> bool:
    """Return whether a message goes on the one before it. Platforms tell the time of sending in whole seconds."""
    if not seconds or inbound.user != before.user or inbound.quoted or not _may_be_joined(inbound):
        return False
    return abs((inbound.sent_at - before.sent_at).total_seconds()) <= math.ceil(seconds)
