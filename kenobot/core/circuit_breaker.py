"""Circuit breaker: after failures in a row, refuse calls for a while, then let one probe through.

No call goes through before the server's own pause is over, however few the failures.
"""

from enum import StrEnum

from kenobot.ports.clock import Clock

MAX_RETRY_AFTER = 3600.0  # seconds that a server's own wish counts; one that asks for a day may be wrong, or well again


class CircuitState(StrEnum):
    """CLOSED: calls go through. OPEN: none does. HALF_OPEN: one is under way to find out."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


class CircuitBreaker:
    """Open after `threshold` failures in a row; after `cooldown` seconds let exactly one probe through.

    Every call that `allows_request` let through must end in `record_success`, `record_failure` or `release_probe`. A
    refusal of one request (a bad key, a prompt too long) says nothing about the server's health: `release_probe`.
    """

    def __init__(self, clock: Clock, threshold: int = 5, cooldown: float = 30.0) -> None:
        self._clock = clock
        self._threshold = threshold
        self._cooldown = cooldown
        self._state = CircuitState.CLOSED
        self._failures = 0
        self._opened_at = 0.0
        self._silent_until = 0.0

    @property
    def state(self) -> CircuitState:
        return self._state

    @property
    def failures(self) -> int:
        """Failures in a row so far."""
        return self._failures

    @property
    def seconds_until_probe(self) -> float:
        """Seconds until a probe may go through; 0 when calls go through already or a probe is under way."""
        if self._state is not CircuitState.OPEN:
            return 0.0
        return max(0.0, self._opened_at + self._cooldown - self._clock.monotonic())

    @property
    def retry_after(self) -> float:
        """Seconds left of the pause that the server asked for."""
        return max(0.0, self._silent_until - self._clock.monotonic())

    def allows_request(self) -> bool:
        """Whether a call may be made now. True while OPEN and cooled down makes the caller the probe."""
        if self.retry_after:
            return False
        if self._state is CircuitState.OPEN and self.seconds_until_probe == 0:
            self._state = CircuitState.HALF_OPEN
            return True
        return self._state is CircuitState.CLOSED

    def record_success(self) -> None:
        """Close after a call that got through."""
        self._state = CircuitState.CLOSED
        self._failures = 0
        self._silent_until = 0.0

    def record_failure(self, retry_after: float | None = None) -> None:
        """Count a failure of the server. retry_after: the pause that it asked for, in seconds; an hour counts."""
        if retry_after is not None:
            self._silent_until = max(self._silent_until, self._clock.monotonic() + min(retry_after, MAX_RETRY_AFTER))
        if self._state is CircuitState.OPEN:
            return  # a straggler from before; what it tells is known, and it must not prolong the pause
        self._failures += 1
        if self._state is CircuitState.HALF_OPEN or self._failures >= self._threshold:
            self._state = CircuitState.OPEN
            self._opened_at = self._clock.monotonic()

    def release_probe(self) -> None:
        """Let the next call probe: this one was cancelled, or refused on its own account."""
        if self._state is CircuitState.HALF_OPEN:
            self._state = CircuitState.OPEN
