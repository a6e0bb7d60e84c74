"""Announces what a turn is doing and has done: by signals, and by the sign that an answer is on its way."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping

from kenobot.agent.isolated_admit import announced
from kenobot.agent.turn.turn_data import Work
from kenobot.core.bus import Bus
from kenobot.ports.channel import Channel, ShowsTyping
from kenobot.ports.signals import (
    BOOTSTRAP_DONE,
    CONFIG_CHANGED,
    LINK_CUT,
    MEMORY_WRITTEN,
    MESSAGE_OUT,
    PROCESSOR_FAILED,
    REPLY_GRADED,
    TAG_INERT,
    Signal,
    Value,
)
from kenobot.storage.inbox import Pending

_log = logging.getLogger(__name__)

_TYPING_SECONDS = 4.0
_REASONS: Mapping[str, str] = {
    "note": "memory update",
    "episode": "chat memory update",
    "profile": "chat context update",
}


class Herald:
    """Sends the signals of turns."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def tell(self, work: Work, clean: str) -> None:
        """Announce what a committed turn did: the reply `clean`, memory, tags, post-processors, grade."""
        pending, cleaned = work.pending, work.cleaned
        assert cleaned is not None
        where: dict[str, Value] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self.fire(MESSAGE_OUT, pending, text=clean, **where)
        for candidate, decision in work.decisions:
            await self.fire(MEMORY_WRITTEN, pending, **announced(candidate, decision))
            if candidate.form in _REASONS and decision.record is not None:
                await self.fire(CONFIG_CHANGED, pending, reason=_REASONS[candidate.form])
        for element in cleaned.inert:
            await self.fire(TAG_INERT, pending, tag=element.name)
        if work.cut:
            await self.fire(LINK_CUT, pending, count=work.cut, **where)
        for name, error in cleaned.failures:
            await self.fire(PROCESSOR_FAILED, pending, processor=name, error=error)
        if work.effects is not None and work.effects.bootstrap_ended:
            await self.fire(BOOTSTRAP_DONE, pending, session=pending.session)
        if work.grade is not None:
            await self.fire(
                REPLY_GRADED,
                pending,
                quality=work.grade.quality,
                score=work.grade.score,
                signals=" ".join(work.grade.signals),
            )

    async def fire(self, signal: Signal, pending: Pending, **payload: Value) -> None:
        """Announce something about a message."""
        await self._bus.fire(signal, "loop", pending.trace, **payload)


@contextlib.asynccontextmanager
async def typing(channel: Channel | None, chat: str) -> AsyncIterator[None]:
    """Show that an answer is on its way, where `channel` can."""
    if channel is None or not hasattr(channel, "typing"):
        yield
        return
    task = asyncio.create_task(_keep_typing(channel, chat))  # type: ignore[arg-type]
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _keep_typing(channel: ShowsTyping, chat: str) -> None:
    while True:
        try:
            async with asyncio.timeout(_TYPING_SECONDS):
                await channel.typing(chat)
        except Exception as error:
            _log.debug("typing could not be shown: %r", error)
        await asyncio.sleep(_TYPING_SECONDS)
