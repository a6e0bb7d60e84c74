"""Limit requests by what no header can change: the key they authenticate with, or the address they come from."""

from collections import OrderedDict

from kenobot.ports.clock import Clock

_CALLERS = 10_000


class RateLimiter:
    """Count requests of callers: `limit` at once, and as many again within `seconds`."""

    def __init__(self, clock: Clock, limit: int, seconds: float = 60.0) -> None:
        self._clock = clock
        self._limit = limit
        self._seconds = seconds
        # bounded: 10,000 callers; test_a_limiter_knows_so_many_callers
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def pause(self, caller: str) -> float:
        """Count a request; return the seconds after which `caller` may come again, 0 when this one is allowed."""
        left = self._available(caller)
        allowed = left >= 1
        self._left[caller] = (left - 1 if allowed else left, self._clock.monotonic())
        self._left.move_to_end(caller)
        while len(self._left) > _CALLERS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) * self._seconds / self._limit

    def _available(self, caller: str) -> float:
        now = self._clock.monotonic()
        left, at = self._left.get(caller, (float(self._limit), now))
        return min(self._limit, left + (now - at) * self._limit / self._seconds)


def peer_address(scope_client: tuple[str, int] | None) -> str:
    """Return the address at the other end of the connection. Headers such as X-Forwarded-For are not asked."""
    return scope_client[0] if scope_client is not None else "unknown"
