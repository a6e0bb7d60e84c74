"""The result of work in another thread, as a future whose waiter goes on in the very step that sets it."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_Callback = Callable[[Any], object]
_AT_ONCE = 2  # results of a group that are set in one step of the event loop


class Result(asyncio.Future[T]):
    """A future that calls its first callback at once.

    A plain future leaves its callbacks to the next round of the event loop, which costs a poll and the interpreter's
    lock. Its result is set by the loop alone, in a step of its own, so there is nothing that a callback could be in
    the middle of. One that is cancelled calls back in the next round: the one who cancels is in the middle of things.
    """

    _first: tuple[_Callback, Context] | None = None

    def add_done_callback(self, callback: _Callback, /, *, context: Context | None = None) -> None:
        if self._first is None and not self.done():
            self._first = callback, context if context is not None else copy_context()  # an empty one is falsy
        else:
            super().add_done_callback(callback, context=context)

    def remove_done_callback(self, callback: _Callback, /) -> int:
        removed = super().remove_done_callback(callback)
        if self._first is not None and self._first[0] == callback:
            self._first = None
            removed += 1
        return removed

    def cancel(self, msg: Any | None = None) -> bool:
        if not super().cancel(msg):
            return False
        first, self._first = self._first, None
        if first is not None:
            super().add_done_callback(first[0], context=first[1])
        return True

    def settle(self, result: T, error: BaseException | None) -> None:
        """Set the result, or the error, and call back. Does nothing when it is cancelled."""
        if self.done():
            return
        if error is not None:
            self.set_exception(error)
        else:
            self.set_result(result)
        first, self._first = self._first, None
        if first is None:
            return
        callback, context = first
        try:
            context.run(callback, self)
        except Exception as failure:  # as the loop would tell of it: the next result is another's
            told = {"message": "A callback of a result failed", "exception": failure, "future": self}
            self.get_loop().call_exception_handler(told)


class ResultQueue:
    """Sets the results of other threads in the event loop, in the order in which they came.

    Each of a large group has a step of its own, so that no step is long; a later group waits for all of them.
    """

    def __init__(self) -> None:
        self._waiting = 0

    def tell(self, loop: asyncio.AbstractEventLoop, group: Sequence[Callable[[], None]]) -> None:
        """Let `loop` call each of `group`, which sets a result, and wake it once. May be called from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(self._take, loop, group)

    def _take(self, loop: asyncio.AbstractEventLoop, group: Sequence[Callable[[], None]]) -> None:
        if len(group) <= _AT_ONCE and not self._waiting:
            for settle in group:
                settle()
            return
        self._waiting += len(group)
        for settle in group:
            loop.call_soon(self._settle, settle)

    def _settle(self, settle: Callable[[], None]) -> None:
        self._waiting -= 1
        settle()
