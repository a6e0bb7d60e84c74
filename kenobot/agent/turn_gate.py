"""Let turns give way to messages that come in, so that what people write is safe before anything is answered."""

import asyncio
import math
from collections import deque

_APART_SECONDS = 0.02  # from one turn that begins while messages come in to the next: one costs some milliseconds


class TurnGate:
    """Begin turns in the order in which they come, one in each round of the event loop.

    Between two of them the loop looks what came in. While messages are on their way to the disk a turn begins only
    every 20 ms: storing takes a fraction of what a turn takes, so a burst is stored at nearly the pace of storing
    alone. It is never less than that: however much comes in, 50 turns a second begin, the longest waiting first.
    """

    def __init__(self) -> None:
        self._storing = 0
        self._waiting: deque[asyncio.Future[None]] = deque()  # bounded: chats at a time, AgentLoop.parallel; turn
        self._next: asyncio.Handle | None = None
        self._due = -math.inf  # when the next turn may begin beside storing; of the event loop's clock

    def begin_storing(self) -> None:
        """Count a message that is on its way to the disk."""
        self._storing += 1

    def end_storing(self) -> None:
        """Count one that has come to its end there."""
        self._storing -= 1
        if not self._storing and self._waiting:
            self._look_soon(asyncio.get_running_loop())

    async def wait(self) -> None:
        """Return when the next turn may begin."""
        loop = asyncio.get_running_loop()
        if self._next is None and self._is_open(loop):
            self._note_begun(loop)
            return
        waiting = loop.create_future()
        self._waiting.append(waiting)
        if self._next is None:
            self._look_soon(loop)
        await waiting

    def _is_open(self, loop: asyncio.AbstractEventLoop) -> bool:
        return not self._storing or loop.time() >= self._due

    def _note_begun(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due = loop.time() + _APART_SECONDS
        self._next = loop.call_soon(self._look)

    def _look_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next = loop.call_soon(self._look)

    def _look(self) -> None:
        """Let the longest waiting turn begin, or look again when it is due."""
        self._next = None
        while self._waiting and self._waiting[0].done():  # its task was cancelled
            self._waiting.popleft()
        if not self._waiting:
            return
        loop = asyncio.get_running_loop()
        if self._is_open(loop):
            self._waiting.popleft().set_result(None)
            self._note_begun(loop)
        else:
            self._next = loop.call_at(self._due, self._look)
