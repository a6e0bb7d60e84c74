"""Takes parts from the outbox to their channel: in order within a chat, chats in parallel, until they are taken."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from kenobot.core.bus import Bus
from kenobot.core.worker import finish_or_cancel
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import RateLimited, Rejected, RemoteError, StoreError, Unavailable
from kenobot.ports.messages import Outbound
from kenobot.ports.signals import MESSAGE_FAILED, MESSAGE_SENT, Envelope, PayloadValue
from kenobot.storage.outbox import Outbox

T = TypeVar("T")

_log = logging.getLogger(__name__)

_TRIES = 300  # with pauses of five minutes at most: about a day
_LONGEST_PAUSE = 300.0
_SHORTEST_ASKED = 1.0
_LONGEST_ASKED = 86_400.0
_SEND_SECONDS = 60.0
_PARALLEL = 16
_AHEAD = 32  # parts of a chat held in memory; the rest waits in the outbox
_STORE_PAUSE = 5.0

ChatKey = tuple[str, str]


@dataclass(slots=True)
class _Line:
    """A chat's parts in order. `taken` is the newest one done; `more`: the outbox may hold some not in `ready`.

    reading: `ready` is being filled from the outbox; what comes meanwhile would get ahead of it and waits there too.
    """

    ready: deque[tuple[Outbound, int]] = field(default_factory=deque)
    taken: int = 0
    more: bool = False
    reading: bool = False
    task: asyncio.Task[None] | None = None


class Delivery:
    """Wakes on `message:out`. A part that was sent but whose record was lost in a crash may go out once more."""

    def __init__(self, channels: Mapping[str, Channel], outbox: Outbox, bus: Bus, clock: Clock, rng: Random) -> None:
        self._channels = channels
        self._outbox = outbox
        self._bus = bus
        self._clock = clock
        self._rng = rng
        self._lines: dict[ChatKey, _Line] = {}
        self._slots = {name: asyncio.Semaphore(_PARALLEL) for name in channels}
        self._stopping = False

    async def start(self) -> None:
        """Send what an earlier run left behind."""
        await self.sweep()

    async def sweep(self) -> None:
        """Take up parts that nobody works on: of an earlier run, of a line that broke, put back by the owner."""
        for name in self._channels:
            for chat in await self._outbox.open_chats(name):
                if (name, chat) not in self._lines and not self._stopping:
                    self._line((name, chat)).more = True
                    self._wake((name, chat))

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        """Send parts that have just been committed, so that they need not be read back, doorbell or not."""
        for part in parts:
            if part.channel not in self._channels:
                continue
            line = self._line((part.channel, part.chat))
            if line.more or line.reading or len(line.ready) >= _AHEAD:
                line.more = True
            else:
                line.ready.append((part, 0))
            self._wake((part.channel, part.chat))

    def on_outbox_signal(self, envelope: Envelope) -> None:
        """The bell of `message:out`."""
        self._wake((str(envelope.payload["channel"]), str(envelope.payload["chat"])))

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way."""
        return not self._lines

    async def wait_idle(self) -> None:
        """Return once nothing is on its way."""
        while tasks := [line.task for line in self._lines.values() if line.task is not None]:
            await asyncio.wait(tasks)

    async def stop(self, grace: float) -> None:
        """Give what is being sent `grace` seconds, then leave the rest to the next start."""
        self._stopping = True
        tasks = [line.task for line in self._lines.values() if line.task is not None]
        await finish_or_cancel(tasks, grace)

    def _line(self, key: ChatKey) -> _Line:
        return self._lines.setdefault(key, _Line())

    def _wake(self, key: ChatKey) -> None:
        line = self._lines.get(key)
        if line is not None and line.task is None and not self._stopping:
            line.task = asyncio.create_task(self._empty(key, line), name=f"delivery {key[0]}")

    async def _empty(self, key: ChatKey, line: _Line) -> None:
        try:
            while not self._stopping:
                try:
                    while line.more and not line.ready:
                        await self._read(key, line)
                    if not line.ready:
                        return
                    part, tries = line.ready.popleft()
                    if part.id > line.taken:
                        await self._send(part, tries)
                        line.taken = part.id
                except StoreError as error:
                    _log.error("the outbox cannot be used: %s", error)
                    line.ready.clear()
                    line.more = True
                    await self._clock.sleep(_STORE_PAUSE)
        finally:
            self._lines.pop(key, None)

    async def _read(self, key: ChatKey, line: _Line) -> None:
        line.more, line.reading = False, True
        try:
            line.ready.extend(await self._outbox.pending_after(*key, after=line.taken, limit=_AHEAD))
        finally:
            line.reading = False
        line.more = line.more or len(line.ready) == _AHEAD

    async def _send(self, part: Outbound, tries: int) -> None:
        """Try until the platform took it or there is no hope; the record of it is on disk before the next part."""
        channel = self._channels[part.channel]
        while True:
            try:
                async with self._slots[part.channel], asyncio.timeout(_SEND_SECONDS):
                    platform_id = str(await _unbroken(channel.send(part)))
            except (RemoteError, TimeoutError) as error:
                tries += 1
                if isinstance(error, Rejected) or tries >= _TRIES:
                    return await self._give_up(part, error)
                await self._outbox.record_failure(part.id, _describe(error))
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
                await self._outbox.mark_sent(part.id, platform_id)
            except StoreError as error:
                _log.error("a sent part could not be recorded: %s", error)
                await self._clock.sleep(pause)
                pause = min(30.0, pause * 2)
            else:
                await self._bus.emit(MESSAGE_SENT, "delivery", part.trace, channel=part.channel, part=part.id)
                return

    def _pause(self, error: Exception, tries: int) -> float:
        """Seconds until the next try: what the platform asked for, within reason, else longer and longer."""
        asked = error.retry_after if isinstance(error, RateLimited | Unavailable) else None
        if asked is not None:
            return min(_LONGEST_ASKED, max(_SHORTEST_ASKED, asked))
        return min(_LONGEST_PAUSE, 2.0 ** min(tries - 1, 10)) * self._rng.uniform(1.0, 1.25)

    async def _give_up(self, part: Outbound, error: Exception) -> None:
        await self._outbox.give_up(part.id, _describe(error))
        _log.error("part %s to %s could not be delivered: %s", part.id, part.channel, _describe(error))
        told: dict[str, PayloadValue] = {"channel": part.channel, "chat": part.chat, "part": part.id}
        await self._bus.emit(MESSAGE_FAILED, "delivery", part.trace, error=type(error).__name__, **told)


async def _unbroken(sending: Awaitable[T]) -> T:
    """What `sending` returns. Raises Unavailable when it was cancelled though nobody wants us to end.

    A library under a channel may cancel its own requests, for example when its connections are closed: then the part is
    tried again.
    """
    try:
        return await sending
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise Unavailable("The sending was broken off; KenoBot tries again") from None


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
