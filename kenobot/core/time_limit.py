"""Break off code of others that does not come to an end."""

import signal
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_AGAIN_SECONDS = 1.0  # code that swallows the first one gets another


class TookTooLong(BaseException):
    """Raised inside code that has run for too long. Not an Exception: that code may catch all of those."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TookTooLong in the block once it has run for `seconds`.

    Only the main thread can be interrupted: elsewhere there is no limit. A function written in C that does not return
    cannot be interrupted either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class LimitedSteps(Generic[T]):
    """Await the work of others, none of whose steps may keep the event loop for longer than `seconds`.

    A step that does raises TookTooLong there. Code in C that does not return cannot be interrupted.
    """

    def __init__(self, begin: Callable[[], Awaitable[T]], seconds: float) -> None:
        self._begin = begin
        self._seconds = seconds

    def __await__(self) -> Generator[Any, Any, T]:
        work = _call(self._begin)
        step: Callable[[], Any] = partial(work.send, None)
        while True:
            try:
                with time_limit(self._seconds):
                    awaited = step()
            except StopIteration as end:
                result: T = end.value
                return result
            try:
                step = partial(work.send, (yield awaited))
            except BaseException as error:
                step = partial(work.throw, error)


async def _call(begin: Callable[[], Awaitable[T]]) -> T:
    return await begin()
