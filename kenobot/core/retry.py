"""How long to wait before a failing server is asked again. Pure: the caller does the waiting."""

from dataclasses import dataclass
from random import Random

from kenobot.ports.errors import CircuitOpen, RateLimited, RemoteError, TruncatedReply, Unavailable

_MOST_JITTER = 0.25


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses in seconds that grow by `factor` with every failure in a row.

    longest_asked: how much of a pause that a server asks for counts; one that asks for a day may be wrong.
    """

    first: float
    longest: float
    factor: float = 2.0
    longest_asked: float = 3600.0

    def pause(self, failures: int, error: Exception | None = None) -> float:
        """Seconds to wait after a failure that `failures` others came before, or longer when the server asks for it."""
        asked = error.retry_after if isinstance(error, RemoteError) else None
        own = min(self.longest, self.first * self.factor ** min(failures, 64))
        return max(own, min(asked or 0.0, self.longest_asked))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to retry. All but `attempts` are seconds.

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
    """Seconds to wait after the `attempt`-th call (from 1) failed with `error`; None: do not retry.

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
