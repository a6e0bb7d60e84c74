"""Put work off until nothing has asked for any for a moment, so that a burst of requests is one round of work."""

import asyncio
from collections.abc import Callable

from kenobot.core.pacing import current_rank

_LONGEST_SECONDS = 5.0


class QuietSpell:
    """Begin the work that was asked for, each piece once, after `seconds` without a request; 0: at once.

    longest: seconds after the first request, when it begins although requests go on. What work behind the turns asks
    for puts nothing off.
    """

    def __init__(self, seconds: float = 0.0, longest: float = _LONGEST_SECONDS) -> None:
        self.seconds = seconds
        self._longest = longest
        self._due: dict[Callable[[], object], None] = {}  # bounded: the pieces of work there are; turn
        self._first = self._last = 0.0

    def begin_after(self, work: Callable[[], object]) -> None:
        """Ask for `work`, which only begins something and returns at once."""
        if not self.seconds:
            work()
            return
        loop = asyncio.get_running_loop()
        if not self._due or not current_rank():
            self._last = loop.time()
        if not self._due:
            self._first = self._last
            loop.call_later(self.seconds, self._look, loop)
        self._due[work] = None

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin what is due, or look again when the spell would be over."""
        ends = min(self._last + self.seconds, self._first + self._longest)
        if loop.time() < ends:
            loop.call_at(ends, self._look, loop)
            return
        due, self._due = self._due, {}
        for work in due:
            try:
                work()
            except Exception as error:  # the others are due all the same
                loop.call_exception_handler({"message": "work of a quiet spell cannot begin", "exception": error})
