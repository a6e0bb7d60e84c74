"""Follow messages to their answers: each caller gets its own, however many talk in one chat."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from kenobot.ports.signals import (
    MESSAGE_DEAD_LETTERED,
    MESSAGE_DEFERRED,
    MESSAGE_EXPIRED,
    MESSAGE_IN,
    MESSAGE_OUT,
    TURN_FAILED,
    Envelope,
)

FOLLOWED = (MESSAGE_IN, MESSAGE_DEFERRED, TURN_FAILED, MESSAGE_EXPIRED, MESSAGE_DEAD_LETTERED, MESSAGE_OUT)
_FAILURES = (TURN_FAILED, MESSAGE_EXPIRED, MESSAGE_DEAD_LETTERED)


class Call:
    """A message that a caller waits for.

    number: its inbox row; 0 before it is known. draft: what there is of the answer. answer: the whole one; None before.
    is_failed: the answer says that there is none. is_deferred: no model can be reached for now. is_broken_off: the
    server stops before there is an answer.
    """

    def __init__(self, trace: str) -> None:
        self.trace = trace
        self.number = 0
        self.draft = ""
        self.answer: str | None = None
        self.is_failed = self.is_deferred = self.is_broken_off = False
        self._changed = asyncio.Event()

    @property
    def is_over(self) -> bool:
        return self.answer is not None or self.is_broken_off

    def change(self) -> None:
        """Wake what waits for the call."""
        self._changed.set()

    async def wait_changed(self, seconds: float) -> bool:
        """Wait for news of the call; False when none came in time."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True

    async def wait_over(self, seconds: float) -> None:
        """Return once there is an answer, or after so long."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        while not self.is_over and (left := ends - loop.time()) > 0:
            await self.wait_changed(left)


class Calls:
    """The calls that are open, found by the trace of their message."""

    def __init__(self) -> None:
        self._open: dict[str, list[Call]] = {}  # bounded: the server's connections; turn
        self._following = 0
        self._is_closed = False

    def begin(self) -> None:
        """Take calls again after `close`."""
        self._is_closed = False

    def close(self) -> None:
        """Break off every call."""
        self._is_closed = True
        for calls in self._open.values():
            for call in calls:
                call.is_broken_off = True
                call.change()

    @property
    def has_followers(self) -> bool:
        """Return whether a call wants to see its answer while it is written."""
        return self._following > 0

    @contextmanager
    def open(self, trace: str, *, follows: bool = False) -> Iterator[Call]:
        """Open a call while the block runs. follows: it wants drafts."""
        call = Call(trace)
        call.is_broken_off = self._is_closed
        self._open.setdefault(trace, []).append(call)
        self._following += follows
        try:
            yield call
        finally:
            self._following -= follows
            self._open[trace].remove(call)
            if not self._open[trace]:
                del self._open[trace]

    async def hear(self, envelope: Envelope) -> None:
        """Note what a signal says of the calls of its message."""
        for call in self._open.get(envelope.trace, ()):
            payload = envelope.payload
            if envelope.signal is MESSAGE_IN:
                call.number = int(payload.get("id") or 0)
            elif envelope.signal is MESSAGE_OUT:
                call.answer = str(payload.get("text") or "")
            elif envelope.signal is MESSAGE_DEFERRED:
                call.is_deferred = True
            elif envelope.signal in _FAILURES:
                call.is_failed = True
            call.change()

    def show(self, number: int, text: str) -> None:
        """Show what there is of the answer to a message."""
        for calls in self._open.values():
            for call in calls:
                if call.number == number and not call.is_over:
                    call.draft = text
                    call.change()
