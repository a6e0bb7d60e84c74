"""Takes parts from the outbox to their channel: in order within a chat, chats in parallel, until they are taken."""

import asyncio
import logging
from random import Random

from kenobot.bus import Bus
from kenobot.clock import Clock
from kenobot.errors import RateLimited, Rejected, RemoteError, StoreError, Unavailable
from kenobot.outbox import Outbox
from kenobot.ports import Channel, Outbound
from kenobot.signals import MESSAGE_FAILED, MESSAGE_SENT, Envelope

_log = logging.getLogger(__name__)

_TRIES = 20
_LONGEST_PAUSE = 300.0
_SEND_SECONDS = 60.0
_PARALLEL = 16


class Delivery:
    """Wakes on `message:out`. A part that was sent but whose record was lost in a crash may go out once more."""

    def __init__(self, channels: dict[str, Channel], outbox: Outbox, bus: Bus, clock: Clock, rng: Random) -> None:
        self._channels = channels
        self._outbox = outbox
        self._bus = bus
        self._clock = clock
        self._rng = rng
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._again: set[tuple[str, str]] = set()
        self._slots = asyncio.Semaphore(_PARALLEL)
        self._stopping = False

    async def start(self) -> None:
        """Send what an earlier run left behind."""
        for name in self._channels:
            for chat in await self._outbox.open_chats(name):
                self.wake(name, chat)

    async def on_message_out(self, envelope: Envelope) -> None:
        """Receiver of `message:out`."""
        self.wake(str(envelope.payload["channel"]), str(envelope.payload["chat"]))

    def wake(self, channel: str, chat: str) -> None:
        """See to it that the chat's outbox is emptied."""
        if channel not in self._channels or self._stopping:
            return
        key = (channel, chat)
        if key in self._running:
            self._again.add(key)
            return
        task = asyncio.create_task(self._empty(key), name=f"delivery {channel}")
        self._running[key] = task
        task.add_done_callback(lambda done: self._finished(key, done))

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way."""
        return not self._running

    async def wait_idle(self) -> None:
        """Return once nothing is on its way."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def stop(self, grace: float) -> None:
        """Give what is being sent `grace` seconds, then leave the rest to the next start."""
        self._stopping = True
        tasks = list(self._running.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _finished(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        self._running.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("delivery to %s stopped: %r", key[0], error)
        if key in self._again:
            self._again.discard(key)
            self.wake(*key)

    async def _empty(self, key: tuple[str, str]) -> None:
        while not self._stopping:
            self._again.discard(key)
            parts = await self._outbox.waiting(*key)
            if not parts:
                return
            for part, tries in parts:
                await self._send(part, tries)
                if self._stopping:
                    return

    async def _send(self, part: Outbound, tries: int) -> None:
        """Try until the platform took it or there is no hope; the record of it is on disk before the next part."""
        channel = self._channels[part.channel]
        while True:
            try:
                async with self._slots, asyncio.timeout(_SEND_SECONDS):
                    platform_id = await channel.send(part)
            except (RemoteError, TimeoutError) as error:
                tries += 1
                if isinstance(error, Rejected) or tries >= _TRIES:
                    return await self._give_up(part, error)
                await self._outbox.tried(part.id, _describe(error))
                await self._clock.sleep(self._pause(error, tries))
            except Exception as error:
                _log.exception("channel %s broke while sending", part.channel)
                return await self._give_up(part, error)
            else:
                return await self._record(part, platform_id)

    async def _record(self, part: Outbound, platform_id: str) -> None:
        """Keep on until it is written down that the part is sent: sending again would be worse than waiting."""
        pause = 1.0
        while True:
            try:
                await self._outbox.sent(part.id, platform_id)
            except StoreError as error:
                _log.error("a sent part could not be recorded: %s", error)
                await self._clock.sleep(pause)
                pause = min(30.0, pause * 2)
            else:
                await self._bus.fire(MESSAGE_SENT, "delivery", part.trace, channel=part.channel, part=part.id)
                return

    def _pause(self, error: Exception, tries: int) -> float:
        asked = error.retry_after if isinstance(error, RateLimited | Unavailable) else None
        own = min(_LONGEST_PAUSE, 2.0 ** min(tries - 1, 10)) * self._rng.uniform(1.0, 1.25)
        return asked if asked is not None else own

    async def _give_up(self, part: Outbound, error: Exception) -> None:
        await self._outbox.give_up(part.id, _describe(error))
        _log.error("part %s to %s could not be delivered: %s", part.id, part.channel, _describe(error))
        await self._bus.fire(
            MESSAGE_FAILED, "delivery", part.trace, channel=part.channel, part=part.id, error=type(error).__name__
        )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
