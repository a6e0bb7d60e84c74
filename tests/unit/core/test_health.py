"""Causes begin and end only once that is certain, and together make a state."""

from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kenobot.core.health import CHECKS, Cause, HealthTracker, Reading, state_of
from kenobot.core.i18n import Language
from kenobot_testing.clock import START
from tests.cases import each

SICK, WELL = Reading("queue", 1.5), Reading("queue", 0.1)


def looks(tracker: HealthTracker, *readings: Reading) -> list[str]:
    """The states after each of these looks."""
    states: list[str] = []
    for number, reading in enumerate(readings):
        tracker.look([reading], START + timedelta(minutes=number))
        states.append(tracker.state)
    return states


def test_a_cause_begins_with_the_second_look_and_ends_with_the_third_without_it() -> None:
    """It dates from the first."""
    tracker = HealthTracker()
    assert looks(tracker, SICK, WELL, SICK, SICK) == ["healthy", "healthy", "healthy", "degraded"]
    assert tracker.causes[0].since == START + timedelta(minutes=2)
    assert looks(tracker, WELL, WELL, SICK, WELL, WELL, WELL) == [*["degraded"] * 5, "healthy"]


def test_what_lies_at_its_limit_does_not_come_and_go() -> None:
    """Below the limit, but not by a fifth, a cause that has begun goes on."""
    tracker = HealthTracker()
    looks(tracker, SICK, SICK)
    assert looks(tracker, *[Reading("queue", 0.9)] * 10) == ["degraded"] * 10
    assert looks(HealthTracker(), *[Reading("queue", 0.9)] * 10) == ["healthy"] * 10


def test_what_is_sudden_counts_at_once_and_gets_worse_at_once() -> None:
    """From its critical load on the bot is unhealthy, until that is over by a fifth."""
    tracker = HealthTracker()
    assert looks(tracker, Reading("disk", 1, critical=10, sudden=True)) == ["degraded"]
    assert looks(tracker, Reading("disk", 10, critical=10)) == ["unhealthy"]
    assert looks(tracker, Reading("disk", 9, critical=10)) == ["unhealthy"]
    assert looks(tracker, Reading("disk", 7, critical=10)) == ["degraded"]


def test_a_check_that_cannot_measure_changes_nothing() -> None:
    """A cause neither begins nor ends by it; one whose subject is gone ends."""
    tracker = HealthTracker()
    looks(tracker, SICK, SICK)
    for _ in range(5):
        tracker.look([], START, unknown={"queue"})
    assert tracker.causes
    for _ in range(3):
        tracker.look([], START)
    assert not tracker.causes


def test_a_cause_that_ended_leaves_nothing() -> None:
    """However many subjects there were."""
    tracker = HealthTracker()
    for number in range(1000):
        tracker.look([Reading("poll", 2, f"channel-{number}", sudden=True)], START)
    for _ in range(3):
        tracker.look([], START)
    assert tracker.causes == ()
    assert tracker._tracks == {}


@given(st.lists(st.floats(0, 20), max_size=60))
def test_the_state_changes_at_most_every_second_look(loads: list[float]) -> None:
    """Between healthy and not, whatever is measured."""
    tracker, states = HealthTracker(), ["healthy"]
    for load in loads:
        tracker.look([Reading("queue", load)], START)
        states.append("healthy" if tracker.state == "healthy" else "sick")
    changes = [at for at in range(1, len(states)) if states[at] != states[at - 1]]
    assert all(later - earlier >= 2 for earlier, later in pairwise(changes))


@each("check", CHECKS)
@each("language", ["en", "es"])
def test_every_cause_has_words_and_outlives_a_restart(check: object, language: Language) -> None:
    """Those of its beginning, in both languages, and of its end; one of another version is named."""
    cause = Cause(check, "x", "unhealthy", START, {"minutes": 3})  # type: ignore[arg-type]
    assert Cause.load(cause.encode()) == cause
    assert cause.text(language)
    assert cause.over_text(language)
    assert Cause.load({**cause.encode(), "check": "moon"}) is None
    assert Cause.load({**cause.encode(), "since": 7}) is None


def test_the_worst_makes_the_state() -> None:
    """Nothing wrong is healthy."""
    assert state_of([]) == "healthy"
    assert state_of([None, "degraded", None]) == "degraded"
    assert state_of(["degraded", "unhealthy"]) == "unhealthy"
