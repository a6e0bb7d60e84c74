"""Limits of requests: exact, by caller, and bounded themselves."""

from hypothesis import given
from hypothesis import strategies as st

from kenobot_http import rate_limit
from kenobot_http.rate_limit import RateLimiter, peer_address
from kenobot_testing.clock import ManualClock


def test_so_many_requests_are_allowed_at_once_and_no_more() -> None:
    """The next is told how long to wait, and is allowed after that."""
    clock = ManualClock()
    limiter = RateLimiter(clock, 3, 60)
    assert [limiter.pause("a") for _ in range(3)] == [0, 0, 0]
    assert limiter.pause("a") == 20
    assert limiter.pause("b") == 0
    clock.advance(20)
    assert [limiter.pause("a") > 0, limiter.pause("a") > 0] == [False, True]


@given(st.integers(1, 20), st.lists(st.floats(0, 30), min_size=1, max_size=60))
def test_no_minute_has_more_than_twice_the_limit(limit: int, pauses: list[float]) -> None:
    """However requests are spread: those at once, and those that were earned meanwhile."""
    clock = ManualClock()
    limiter = RateLimiter(clock, limit, 60)
    allowed: list[float] = []
    for pause in pauses:
        clock.advance(pause)
        if not limiter.pause("a"):
            allowed.append(clock.monotonic())
    assert all(sum(at <= each < at + 60 for each in allowed) <= 2 * limit for at in allowed)


def test_a_limiter_knows_so_many_callers() -> None:
    """Whoever comes from ever new addresses fills nothing."""
    limiter = RateLimiter(ManualClock(), 3)
    for number in range(rate_limit._CALLERS + 100):
        limiter.pause(str(number))
    assert len(limiter._left) == rate_limit._CALLERS


def test_the_address_is_that_of_the_connection() -> None:
    """One without is unknown."""
    assert peer_address(("192.168.1.1", 40_000)) == "192.168.1.1"
    assert peer_address(None) == "unknown"
