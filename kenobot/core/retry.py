"""Decide when to call a failing server again: growing pauses, retries of a call, and a circuit breaker.

Pure: the caller does the waiting.
"""

from random import Random
from typing import Literal

from kenobot.ports.clock import Clock
from kenobot.ports.errors import CircuitOpen, RateLimited, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.frozen import dataclass

_MOST_JITTER = 0.25
MAX_RETRY_AFTER = 3600.0  # seconds that a server's own wish counts; one that asks for a day may be wrong, or well again


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses in seconds that grow by `factor` with every failure in a row.

    longest_asked: how much of a pause that a server asks for counts.
    """

    first: float
    longest: float
    factor: float = 2.0
    longest_asked: float = MAX_RETRY_AFTER

    def pause(self, failures: int, error: Exception | None = None) -> float:
        """Return seconds to wait after `failures` failures and one more, or as long as the server asks for."""
        asked = error.retry_after if isinstance(error, RemoteError) else None
        own = min(self.longest, self.first * self.factor ** min(failures, 64))
        return max(own, min(asked or 0.0, self.longest_asked))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of retries. All but `attempts` are seconds.

    attempts: calls in all, the first one included.
    budget: no pause may end later than this after the first call began.
    base: the first pause; it doubles each time up to `cap`.
    longest_wait: when a server asks for more than this, giving up now is kinder than waiting.
    """

    attempts: int = 3
    budget: float = 90.0
    base: float = 1.0
    cap: float = 30.0
    longest_wait: float = 60.0


def retry_delay(
    attempt: int, error: RemoteError, policy: RetryPolicy, jitter: Random | None = None, elapsed: float = 0.0
) -> float | None:
    """Return seconds to wait after the `attempt`-th call (from 1) failed with `error`; None: do not retry.

    elapsed: seconds since the first call began. `jitter` stretches the pause by up to a quarter and never shortens it:
    coming back before the server said so would count as a new offence.
    """
    if attempt >= policy.attempts or not isinstance(error, RateLimited | Unavailable | TruncatedReply):
        return None
    if isinstance(error, CircuitOpen) or (error.retry_after or 0.0) > policy.longest_wait:
        return None
    wait = Backoff(policy.base, policy.cap).pause(attempt - 1, error)
    if jitter is not None:
        wait *= 1 + jitter.uniform(0, _MOST_JITTER)
    return wait if elapsed + wait <= policy.budget else None


CircuitState = Literal["CLOSED", "OPEN", "HALF_OPEN"]
"""CLOSED: calls go through. OPEN: none does. HALF_OPEN: one is under way to find out."""


class CircuitBreaker:
    """Open after `threshold` failures in a row; after `cooldown` seconds let exactly one probe through.

    first: the seconds before the first probe, for a fault that is soon over; they double with each probe that fails,
    up to `cooldown`. None: `cooldown` from the first.
    Every call that `allows_request` let through must end in `record_success`, `record_failure` or `release_probe`. A
    refusal of one request (a bad key, a prompt too long) says nothing about the server's health: `release_probe`.
    """

    def __init__(self, clock: Clock, threshold: int = 5, cooldown: float = 30.0, first: float | None = None) -> None:
        self._clock = clock
        self._threshold = threshold
        self._pauses = Backoff(cooldown if first is None else first, cooldown)
        self._openings = 0  # in a row
        self.state: CircuitState = "CLOSED"
        self.failures = 0  # in a row so far
        self.refusals = 0  # in a row, of single requests
        self._opened_at = 0.0
        self._silent_until = 0.0

    @property
    def seconds_until_probe(self) -> float:
        """Seconds until a probe may go through; 0 when calls go through already or a probe is under way."""
        if self.state != "OPEN":
            return 0.0
        pause = self._pauses.pause(max(0, self._openings - 1))
        return max(0.0, self._opened_at + pause - self._clock.monotonic())

    @property
    def retry_after(self) -> float:
        """Seconds left of the pause that the server asked for."""
        return max(0.0, self._silent_until - self._clock.monotonic())

    def allows_request(self) -> bool:
        """Return whether a call may be made now. True while OPEN and cooled down makes the caller the probe."""
        if self.retry_after:
            return False
        if self.state == "OPEN" and self.seconds_until_probe == 0:
            self.state = "HALF_OPEN"
            return True
        return self.state == "CLOSED"

    def record_success(self) -> None:
        """Close after a call that got through."""
        self.state = "CLOSED"
        self.failures = self.refusals = self._openings = 0
        self._silent_until = 0.0

    def record_failure(self, retry_after: float | None = None) -> None:
        """Count a failure of the server. retry_after: the pause that it asked for, in seconds; an hour counts."""
        if retry_after is not None:
            self._silent_until = max(self._silent_until, self._clock.monotonic() + min(retry_after, MAX_RETRY_AFTER))
        if self.state == "OPEN":
            return  # a straggler from before; what it tells is known, and it must not prolong the pause
        self.failures += 1
        if self.state == "HALF_OPEN" or self.failures >= self._threshold:
            self.state = "OPEN"
            self._openings += 1
            self._opened_at = self._clock.monotonic()

    @property
    def unanswered(self) -> int:
        """Return how many calls in a row came to nothing."""
        return self.failures + self.refusals

    def record_refusal(self) -> None:
        """Count the refusal of one request, which by itself says nothing about the server."""
        self.refusals += 1

    def release_probe(self) -> None:
        """Let the next call probe: this one was cancelled, or refused on its own account."""
        if self.state == "HALF_OPEN":
            self.state = "OPEN"
