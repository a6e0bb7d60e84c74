"""When to ask a failing server again. Pure: it says how long to wait, somebody else waits."""

from dataclasses import dataclass
from random import Random

from kenobot.ports.errors import CircuitOpen, RateLimited, RemoteError, TruncatedReply, Unavailable

_MOST_JITTER = 0.25


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient we are. All but `attempts` are seconds.

    attempts: how often to try in all, the first time included. base: the first pause; it doubles each time up to cap.
    longest_wait: when a server asks for more than this, giving up now is kinder than waiting.
    budget: no pause may end later than this after the first try began.
    """

    attempts: int = 3
    budget: float = 90.0
    base: float = 1.0
    cap: float = 30.0
    longest_wait: float = 60.0


def retry_delay(
    attempt: int, error: RemoteError, policy: RetryPolicy, jitter: Random | None = None, elapsed: float = 0.0
) -> float | None:
    """Seconds to wait after the `attempt`-th try (from 1) failed with `error`; None when it should not be repeated.

    elapsed: seconds since the first try began.

    A server's own wish wins over our pause when it is longer. `jitter` stretches the pause by up to a quarter, never
    shortens it: coming back before the server said so would count as a new offence.
    """
    if attempt >= policy.attempts or not isinstance(error, RateLimited | Unavailable | TruncatedReply):
        return None
    if isinstance(error, CircuitOpen):
        return None
    wait = min(policy.cap, policy.base * 2.0 ** min(attempt - 1, 64))
    asked = None if isinstance(error, TruncatedReply) else error.retry_after
    if asked is not None:
        if asked > policy.longest_wait:
            return None
        wait = max(wait, asked)
    if jitter is not None:
        wait *= 1 + jitter.uniform(0, _MOST_JITTER)
    return wait if elapsed + wait <= policy.budget else None
