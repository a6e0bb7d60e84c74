"""Detect stalls of the event loop from a watchdog thread, and dump the stacks."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from kenobot.core.stacks import StackDumps

_log = logging.getLogger(__name__)

_BEAT_SECONDS = 2.0
_CPU_SHARE = 0.2  # of a time in which this thread did not run either, that the process computed: it was not suspended


class Pulse:
    """Beats in the event loop and listens in a thread. `start` it in the loop, `stop` it at the end.

    pause: seconds without a beat after which the loop counts as standing still; 0 measures nothing. A process that was
    suspended as a whole has not stood still.
    """

    def __init__(self, dumps: StackDumps, pause: float, beat: float = _BEAT_SECONDS) -> None:
        self._dumps = dumps
        self._pause = pause
        self._beat = min(beat, pause / 3) if pause else beat
        self._beats = 0
        self._timer: asyncio.TimerHandle | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._longest = 0.0
        self.last_dump: Path | None = None

    def start(self) -> None:
        """Begin to beat and to listen, and dump on SIGUSR2."""
        self._guard(self._dumps.open)
        self._strike()
        self._thread = threading.Thread(target=self._listen, name="kenobot-pulse", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop both, without waiting for a thread that is writing."""
        self._over.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._thread is not None:
            self._thread.join(self._beat)
        self._dumps.close()

    async def dump(self, reason: str) -> Path:
        """Dump now; returns the file. Raises OSError."""
        return await asyncio.to_thread(self._dumps.dump, reason)

    def take_longest(self) -> float:
        """Return the longest pause since this was asked last, in seconds; 0 where none was too long."""
        longest, self._longest = self._longest, 0.0
        return longest

    def _strike(self) -> None:
        self._beats += 1
        self._timer = asyncio.get_running_loop().call_later(self._beat, self._strike)

    def _listen(self) -> None:
        heard, since, dumped = self._beats, time.monotonic(), False
        while not self._over.wait(0):
            before, computed = time.monotonic(), time.process_time()
            self._over.wait(self._beat)
            now = time.monotonic()
            slept = now - before - self._beat
            if slept > self._beat and time.process_time() - computed < _CPU_SHARE * slept:
                since += slept  # suspended: nothing of the process ran
            self._guard(lambda: self._dumps.dump_if_asked("asked for by SIGUSR2"))
            if self._beats != heard:
                if dumped:
                    _log.warning("the event loop stood still for %.1f seconds", now - since)
                heard, since, dumped = self._beats, now, False
            elif self._pause and now - since >= self._pause:
                self._longest = max(self._longest, now - since)
                if not dumped:
                    dumped = True
                    self._guard(self._dump_pause)

    def _dump_pause(self) -> None:
        self.last_dump = self._dumps.dump("the event loop stands still")
        _log.error("the event loop stands still; where it does is written to %s", self.last_dump)

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            _log.warning("stacks could not be written: %s", error)
