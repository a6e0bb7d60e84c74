"""HourlyOnce: at most one notice a subject and hour."""

from collections import OrderedDict
from collections.abc import Hashable

from kenobot.ports.clock import Clock

HOUR = 3600.0


class HourlyOnce:
    """The subjects of the last hour, in this run: at most `most`."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._most = most
        # bounded: 20 subjects, 200 chats and 500 strangers an hour; test_notices_of_an_hour_are_limited
        self._seen: OrderedDict[Hashable, float] = OrderedDict()

    def is_news(self, subject: Hashable) -> bool:
        """Whether the subject is new within the hour, and there is room; then it counts as seen."""
        now = self._clock.monotonic()
        while self._seen and now - next(iter(self._seen.values())) >= HOUR:
            self._seen.popitem(last=False)
        if subject in self._seen or len(self._seen) >= self._most:
            return False
        self._seen[subject] = now
        return True

    def forget(self, subject: Hashable) -> None:
        """Make a subject news again."""
        self._seen.pop(subject, None)
