"""Break off code of others that does not come to an end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
