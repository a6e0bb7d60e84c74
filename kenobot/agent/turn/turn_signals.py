"""Announce what a turn does: by signals, by the typing indicator, and by a word when it takes long."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any

from kenobot.agent.turn.turn_data import TurnData
from kenobot.core.bus import Bus
from kenobot.ports.channel import Channel, TypingIndicator
from kenobot.ports.errors import AccountRefused
from kenobot.ports.signals import (
    BOOTSTRAP_DONE,
    CONFIG_CHANGED,
    HEALTH_DEGRADED,
    LINK_REMOVED,
    MEMORY_WRITTEN,
    MESSAGE_OUT,
    PROCESSOR_FAILED,
    REPLY_GRADED,
    TAG_IGNORED,
    PayloadValue,
    Signal,
    describe_written,
)
from kenobot.storage.inbox_rows import PendingMessage

_log = logging.getLogger(__name__)

_TYPING_AFTER = 0.3  # seconds: a notice of what comes at once would only be in its way
_TYPING_SECONDS = 4.0
_REASONS: Mapping[str, str] = {
    "note": "memory update",
    "episode": "chat memory update",
    "profile": "chat context update",
}


class TurnSignals:
    """Emit the signals of turns."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def announce_commit(self, data: TurnData, clean: str) -> None:
        """Announce what a committed turn did: the reply `clean`, memory, tags, post-processors, grade."""
        for signal, payload in _list_committed(data, clean):
            await self.emit(signal, data.pending, **payload)

    async def emit(self, signal: Signal, pending: PendingMessage, **payload: PayloadValue) -> None:
        """Emit a signal about a message."""
        await self._bus.emit(signal, "loop", pending.trace, **payload)

    async def report_account(self, data: TurnData, error: AccountRefused, *, is_last: bool) -> None:
        """Tell the owner at once why a model's service refuses the bot, unless this turn itself tells them.

        is_last: no other provider answers in its place.
        """
        if is_last and data.principal.role == "owner" and data.pending.inbound.private:
            return
        await self.emit(HEALTH_DEGRADED, data.pending, reason=str(error))

    async def emit_in_chat(self, signal: Signal, pending: PendingMessage, **payload: PayloadValue) -> None:
        """Emit a signal about a message that says in which chat it is."""
        await self.emit(signal, pending, **payload, **_chat_of(pending))


def _chat_of(pending: PendingMessage) -> dict[str, PayloadValue]:
    return {"channel": pending.inbound.channel, "chat": pending.inbound.chat}


def turn_figures(data: TurnData) -> dict[str, PayloadValue]:
    """Return what the time of a turn went into, in milliseconds, and what its models used."""
    millis = data.times.millis
    told: dict[str, PayloadValue] = {f"{phase.replace(' ', '_')}_ms": spent for phase, spent in millis.items() if spent}
    if made := data.calls.made:
        used = [call.usage for call in made]
        told |= {"provider": made[-1].provider, "model": made[-1].model}
        told["input_tokens"] = sum(each.tokens - each.output_tokens for each in used)
        told["output_tokens"] = sum(each.output_tokens for each in used)
    return told


def _list_committed(data: TurnData, clean: str) -> Iterator[tuple[Signal, dict[str, PayloadValue]]]:
    chat = _chat_of(data.pending)
    assert data.processed is not None
    yield MESSAGE_OUT, {"text": clean, **chat}
    for candidate, decision in data.decisions:
        yield MEMORY_WRITTEN, describe_written(candidate, decision)
        if candidate.form in _REASONS and decision.record is not None:
            yield CONFIG_CHANGED, {"reason": _REASONS[candidate.form]}
    for element in data.processed.ignored:
        yield TAG_IGNORED, {"tag": element.name}
    if data.held_addresses:
        yield LINK_REMOVED, {"count": len(data.held_addresses), **chat}
    for name, error in data.processed.failures:
        yield PROCESSOR_FAILED, {"processor": name, "error": error}
    if data.effects is not None and data.effects.bootstrap_ended:
        yield BOOTSTRAP_DONE, {"session": data.pending.session}
    if data.grade is not None:
        grade = data.grade
        yield REPLY_GRADED, {"quality": grade.quality, "score": grade.score, "signals": " ".join(grade.signals)}


class StartLate:
    """Begin `work` once if the block takes longer than `seconds`. At its end that is waited for, or broken off.

    name: of its task.
    """

    def __init__(
        self, name: str, seconds: float, work: Callable[[], Coroutine[Any, Any, None]], *, break_off: bool
    ) -> None:
        self._name = name
        self._seconds = seconds
        self._work = work
        self._break_off = break_off
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._begin)

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            if self._break_off:
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._work(), name=self._name)


def show_typing(channel: Channel | None, chat: str, thread: str = "") -> StartLate:
    """Show that an answer is on its way, where `channel` can, unless it comes at once."""

    async def typing() -> None:
        if isinstance(channel, TypingIndicator):
            await _keep_typing(channel, chat, thread)

    return StartLate("typing", _TYPING_AFTER, typing, break_off=True)


async def _keep_typing(channel: TypingIndicator, chat: str, thread: str) -> None:
    while True:
        try:
            async with asyncio.timeout(_TYPING_SECONDS):
                await channel.typing(chat, thread)
        except Exception as error:
            _log.debug("typing could not be shown: %r", error)
        await asyncio.sleep(_TYPING_SECONDS)
