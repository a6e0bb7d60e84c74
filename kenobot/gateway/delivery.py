"""Delivery: send parts from the outbox to their channel, in order within a chat, chats in parallel."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from kenobot.core.bus import Bus
from kenobot.core.containment import contain
from kenobot.core.retry import Backoff
from kenobot.core.worker import KeyedQueue, was_cancelled
from kenobot.ports.channel import Channel, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, RemoteError, StoreError, Unavailable, describe
from kenobot.ports.messages import Outbound
from kenobot.ports.sentences import change_values
from kenobot.ports.signals import MESSAGE_FAILED, MESSAGE_SENT, PayloadValue
from kenobot.storage.outbox import Outbox, SentPart

T = TypeVar("T")

_log = logging.getLogger(__name__)

_TRIES = 300  # with pauses of five minutes at most: about a day
_RETRY = Backoff(1.0, 300.0)
_RECORD_RETRY = Backoff(1.0, 30.0)
_SOON = 5  # tries of a run that come soon and give nothing up, despite those before: its channels may be connecting yet
_TAKEN_AT_ITS_WORD = 10  # tries after which a platform's wish for a short pause counts no more
_SHORTEST_ASKED = 1.0
_LONGEST_ASKED = 86_400.0
_SEND_SECONDS = 60.0
_PARALLEL = 16
_AHEAD = 32  # parts of a chat held in memory; the rest waits in the outbox

ChatKey = tuple[str, str]
PendingPart = tuple[Outbound, int]  # with how often it was tried


class Delivery:
    """Send what turns and the bot itself commit to the outbox. `sweep` it at the start, stop its `queue` at the end.

    A part that was sent but whose record was lost in a crash may go out once more.
    """

    def __init__(self, channels: Mapping[str, Channel], outbox: Outbox, bus: Bus, clock: Clock, rng: Random) -> None:
        self._channels = channels
        self._outbox = outbox
        self._bus = bus
        self._clock = clock
        self._rng = rng
        self.queue = KeyedQueue("outbox", clock, self._fetch, self._send, lambda item: item[0].id, ahead=_AHEAD)
        # bounded: the channels there are; turn
        self._slots: dict[str, asyncio.Semaphore] = {}
        # bounded: a part of each chat that is at work; test_a_part_that_was_sent_is_known_until_that_is_recorded
        self._unrecorded: dict[int, SentPart] = {}

    def list_unrecorded(self) -> tuple[SentPart, ...]:
        """List the parts that the platform took and of which that is not on disk; still so after the end."""
        return tuple(self._unrecorded.values())

    async def sweep(self) -> None:
        """Queue parts that nothing works on: of an earlier run, of a chat whose worker broke, put back by the owner."""
        for name in tuple(self._channels):
            for chat in await self._outbox.open_chats(name):
                if self.queue.is_free((name, chat)):
                    self.queue.put((name, chat))

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        """Send parts that have just been committed, without reading them back."""
        for part in parts:
            if part.channel in self._channels:
                self.queue.put((part.channel, part.chat), (part, 0))

    async def _fetch(self, key: ChatKey, after: int, limit: int) -> Sequence[PendingPart]:
        return await self._outbox.load_pending_after(*key, after=after, limit=limit)

    async def _send(self, _: ChatKey, pending: PendingPart) -> bool:
        """Retry a part until the platform took it or rejected it; its record is on disk before the next part.

        False leaves it in the outbox: its channel is gone, and a sweep takes it up when that is back.
        """
        part, tries = pending
        if (sent := self._unrecorded.get(part.id)) is not None:  # its line broke before that was recorded
            await self._record(part, sent)
            return True
        failures = 0  # in this run
        if part.preview and not part.replaces:
            part = replace(part, replaces=await self._outbox.find_platform_id(part.preview))
        slots = self._slots.setdefault(part.channel, asyncio.Semaphore(_PARALLEL))
        while (channel := self._channels.get(part.channel)) is not None:
            try:
                async with slots, asyncio.timeout(_SEND_SECONDS):
                    platform_id = str(await _finish_sending(channel.send(part)))
            except (RemoteError, TimeoutError) as error:
                tries, failures = tries + 1, failures + 1
                if isinstance(error, Rejected) or (tries >= _TRIES and failures > _SOON):
                    await self._give_up(part, error)
                    return True
                await self._outbox.record_failure(part.id, _describe(error))
                await self._clock.sleep(self._pause(error, failures if failures <= _SOON else tries))
            except Exception as error:
                _log.exception("channel %s broke while sending", part.channel)
                await self._give_up(part, error)
                return True
            else:
                declared = capabilities_of(channel)
                keeps_text = declared.keeps_answers or declared.fails_later
                await self._record(part, SentPart(part.id, platform_id, keeps_text))
                return True
        return False

    async def _record(self, part: Outbound, sent: SentPart) -> None:
        """Keep on until it is written down that the part is sent: sending again would be worse than waiting."""
        self._unrecorded[part.id] = sent
        for failures in itertools.count():
            try:
                await self._outbox.mark_sent(sent)
            except StoreError as error:
                _log.error("a sent part could not be recorded: %s", error)
                await self._clock.sleep(_RECORD_RETRY.pause(failures))
            else:
                del self._unrecorded[part.id]
                await self._bus.emit(MESSAGE_SENT, "delivery", part.trace, channel=part.channel, part=part.id)
                return

    def _pause(self, error: Exception, tries: int) -> float:
        """Return seconds until the next try: longer each time, and as many as the platform asks for, within reason.

        A platform that asks for a second each time, for half an hour, would use up all tries otherwise.
        """
        own = _RETRY.pause(tries - 1) * self._rng.uniform(1.0, 1.25)
        if isinstance(error, RemoteError) and error.retry_after is not None:
            asked = min(_LONGEST_ASKED, max(_SHORTEST_ASKED, error.retry_after))
            return asked if tries <= _TAKEN_AT_ITS_WORD else max(asked, own)
        return own

    async def take_back(self, channel: str, message: str, error: RemoteError) -> bool:
        """Try a part again, or give it up, of which its platform says only now that it did not arrive.

        message: the platform's id of it. False where no part counts as sent under that. Raises StoreError.
        """

        def retry_at(tries: int) -> datetime | None:
            if isinstance(error, Rejected) or tries >= _TRIES:
                return None
            return self._clock.now() + timedelta(seconds=self._pause(error, tries))

        part = await self._outbox.take_back(channel, message, _describe(error), retry_at)
        if part is None:
            return False
        if part.is_given_up:
            await self._tell_failure(channel, part.chat, part.part, part.trace, error)
        return True

    async def _give_up(self, part: Outbound, error: Exception) -> None:
        await self._outbox.give_up(part.id, _describe(error))
        await self._tell_failure(part.channel, part.chat, part.id, part.trace, error)

    async def _tell_failure(self, channel: str, chat: str, part: int, trace: str, error: Exception) -> None:
        _log.error("part %s to %s could not be delivered: %s", part, channel, _describe(error))
        told: dict[str, PayloadValue] = {"channel": channel, "chat": chat, "part": part}
        await self._bus.emit(MESSAGE_FAILED, "delivery", trace, error=type(error).__name__, **told)


async def _finish_sending(sending: Awaitable[T]) -> T:
    """Return what `sending` returns. Raises Unavailable when it was cancelled though the bot is not stopping.

    A library under a channel may cancel its own requests, for example when its connections are closed: then the part is
    tried again.
    """
    try:
        with contain(lambda told: Unavailable("channels.one_wanted_to_end", told=told)):
            return await sending
    except asyncio.CancelledError as error:
        if was_cancelled(error):
            raise
        raise Unavailable("channels.sending_broken") from None


def _describe(error: Exception) -> str:
    return change_values(describe(error), lambda text: text[:500])
