"""Announces what a turn is doing and has done: by signals, and by the sign that an answer is on its way."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping

from kenobot.agent.isolated_admit import memory_written_payload
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core.bus import Bus
from kenobot.ports.channel import Channel, TypingIndicator
from kenobot.ports.signals import (
    BOOTSTRAP_DONE,
    CONFIG_CHANGED,
    LINK_REMOVED,
    MEMORY_WRITTEN,
    MESSAGE_OUT,
    PROCESSOR_FAILED,
    REPLY_GRADED,
    TAG_IGNORED,
    PayloadValue,
    Signal,
)
from kenobot.storage.inbox import PendingMessage

_log = logging.getLogger(__name__)

_TYPING_SECONDS = 4.0
_REASONS: Mapping[str, str] = {
    "note": "memory update",
    "episode": "chat memory update",
    "profile": "chat context update",
}


class TurnSignals:
    """Sends the signals of turns."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def announce_commit(self, work: TurnData, clean: str) -> None:
        """Announce what a committed turn did: the reply `clean`, memory, tags, post-processors, grade."""
        pending, cleaned = work.pending, work.processed
        assert cleaned is not None
        where: dict[str, PayloadValue] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self.emit(MESSAGE_OUT, pending, text=clean, **where)
        for candidate, decision in work.decisions:
            await self.emit(MEMORY_WRITTEN, pending, **memory_written_payload(candidate, decision))
            if candidate.form in _REASONS and decision.record is not None:
                await self.emit(CONFIG_CHANGED, pending, reason=_REASONS[candidate.form])
        for element in cleaned.ignored:
            await self.emit(TAG_IGNORED, pending, tag=element.name)
        if work.removed_urls:
            await self.emit(LINK_REMOVED, pending, count=work.removed_urls, **where)
        for name, error in cleaned.failures:
            await self.emit(PROCESSOR_FAILED, pending, processor=name, error=error)
        if work.effects is not None and work.effects.bootstrap_ended:
            await self.emit(BOOTSTRAP_DONE, pending, session=pending.session)
        if work.grade is not None:
            await self.emit(
                REPLY_GRADED,
                pending,
                quality=work.grade.quality,
                score=work.grade.score,
                signals=" ".join(work.grade.signals),
            )

    async def emit(self, signal: Signal, pending: PendingMessage, **payload: PayloadValue) -> None:
        """Announce something about a message."""
        await self._bus.emit(signal, "loop", pending.trace, **payload)


@contextlib.asynccontextmanager
async def show_typing(channel: Channel | None, chat: str) -> AsyncIterator[None]:
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


async def _keep_typing(channel: TypingIndicator, chat: str) -> None:
    while True:
        try:
            async with asyncio.timeout(_TYPING_SECONDS):
                await channel.typing(chat)
        except Exception as error:
            _log.debug("typing could not be shown: %r", error)
        await asyncio.sleep(_TYPING_SECONDS)
