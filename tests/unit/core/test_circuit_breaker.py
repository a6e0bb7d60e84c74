"""The circuit breaker, on a clock that moves only when told to."""

import json

import pytest

from kenobot.core.retry import CircuitBreaker
from kenobot_testing.clock import ManualClock
from tests.conformance.adapters.conversation.provider import play_breaker
from tests.recorded import CONFORMANCE

_CASES = CONFORMANCE / "kenobot.jsonl"


def _broken(clock: ManualClock, threshold: int = 3, cooldown: float = 1) -> CircuitBreaker:
    breaker = CircuitBreaker(clock, threshold, cooldown)
    for _ in range(threshold):
        assert breaker.allows_request()
        breaker.record_failure()
    return breaker


@pytest.mark.skipif(not _CASES.exists(), reason="the conformance cases are not beside this repository")
def test_the_states_are_those_of_the_original() -> None:
    """Every recorded sequence of calls and pauses gives the same results, states and counts."""
    rows = [json.loads(line) for line in _CASES.read_text("utf-8").splitlines()]
    cases = [row for row in rows if row["area"] == "provider.circuit_breaker"]
    assert len(cases) == 4
    for case in cases:
        assert play_breaker(case["input"]) == case["expected"]


def test_an_open_breaker_says_for_how_long() -> None:
    """The wait counts down to zero, and is zero while all is well."""
    clock = ManualClock()
    assert CircuitBreaker(clock).seconds_until_probe == 0
    breaker = _broken(clock, cooldown=30)
    clock.advance(10)
    assert not breaker.allows_request()
    assert breaker.seconds_until_probe == pytest.approx(20)


def test_after_the_cooldown_exactly_one_probe_goes_through() -> None:
    """The first caller becomes the probe; everybody else waits for what it finds."""
    clock = ManualClock()
    breaker = _broken(clock)
    clock.advance(1)
    assert [breaker.allows_request() for _ in range(3)] == [True, False, False]
    assert breaker.state == "HALF_OPEN"


def test_a_probe_that_fails_opens_it_for_another_cooldown() -> None:
    """The pause starts anew from the probe's failure."""
    clock = ManualClock()
    breaker = _broken(clock)
    clock.advance(1)
    assert breaker.allows_request()
    breaker.record_failure()
    assert breaker.state == "OPEN"
    clock.advance(0.9)
    assert not breaker.allows_request()
    clock.advance(0.1)
    assert breaker.allows_request()


def test_a_probe_that_succeeds_closes_it_with_a_clean_slate() -> None:
    """The count starts at zero, so that one later failure does not open it again."""
    clock = ManualClock()
    breaker = _broken(clock)
    clock.advance(1)
    assert breaker.allows_request()
    breaker.record_success()
    breaker.record_failure()
    assert (breaker.state, breaker.failures) == ("CLOSED", 1)


def test_a_call_without_a_verdict_does_not_count() -> None:
    """A refused or cancelled call neither adds to the row of failures nor breaks it."""
    breaker = CircuitBreaker(ManualClock(), threshold=2)
    breaker.record_failure()
    breaker.release_probe()
    assert (breaker.state, breaker.failures) == ("CLOSED", 1)
    breaker.record_failure()
    assert breaker.state == "OPEN"


def test_a_probe_without_a_verdict_gives_its_turn_back() -> None:
    """When the probe was cancelled the next caller probes, without another cooldown."""
    clock = ManualClock()
    breaker = _broken(clock)
    clock.advance(1)
    assert breaker.allows_request()
    breaker.release_probe()
    assert breaker.state == "OPEN"
    assert breaker.allows_request()


def test_stragglers_do_not_prolong_the_pause() -> None:
    """Calls that began before it opened and fail after it did tell nothing new."""
    clock = ManualClock()
    breaker = _broken(clock)
    clock.advance(0.9)
    breaker.record_failure()
    clock.advance(0.1)
    assert breaker.allows_request()


def test_the_first_probes_come_soon() -> None:
    """A fault of some seconds is over then; while it lasts the pauses double, up to the longest, until it is over."""
    clock = ManualClock()
    breaker = CircuitBreaker(clock, threshold=1, cooldown=10, first=2)
    pauses = []
    for _ in range(5):
        breaker.record_failure()
        pauses.append(breaker.seconds_until_probe)
        clock.advance(pauses[-1])
        assert breaker.allows_request()
    assert pauses == [2, 4, 8, 10, 10]
    breaker.record_success()
    breaker.record_failure()
    assert breaker.seconds_until_probe == 2
