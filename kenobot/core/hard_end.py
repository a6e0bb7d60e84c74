"""End the process where its code does not: by the system, which needs nothing of Python's."""

import asyncio
import contextlib
import faulthandler
import os
import signal
import sys

_BEAT_SECONDS = 1.0


class HardEnd:
    """Ends the process `seconds` after it was asked to end, with code 1; or while its event loop stands still.

    stuck_seconds: of computing, by all threads together, while the loop stands still. A process that is stopped or
    suspended, or that waits for a disk, computes nothing. The stacks are written to standard error before.
    """

    def __init__(self, seconds: float, stuck_seconds: float) -> None:
        self._seconds = seconds
        self._stuck_seconds = stuck_seconds
        self._is_begun = False
        self._file = _stderr()

    def begin(self) -> None:
        """Begin the count of seconds, once."""
        if not self._is_begun:
            self._is_begun = True
            faulthandler.dump_traceback_later(self._seconds, exit=True, file=self._file)

    def cancel(self) -> None:
        """Cancel the count: the process goes on with something else."""
        if self._is_begun:
            faulthandler.cancel_dump_traceback_later()

    async def watch_loop(self) -> None:
        """Watch the event loop of the main thread until cancelled."""
        faulthandler.register(signal.SIGVTALRM, self._file, chain=True)  # whose default is the end
        try:
            while True:
                signal.setitimer(signal.ITIMER_VIRTUAL, self._stuck_seconds)
                await asyncio.sleep(_BEAT_SECONDS)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stderr() -> int:
    """Return the descriptor of the process's standard error, or of nothing where there is none."""
    with contextlib.suppress(OSError, ValueError):
        if sys.__stderr__ is not None:
            return sys.__stderr__.fileno()
    return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
