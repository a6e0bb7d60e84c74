"""When it is time to sleep: twenty hours after the last night, from the owner's hour on, made up for once."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.sleep.due import is_due

POLICY = SleepPolicy()
MADRID = ZoneInfo("Europe/Madrid")


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """A moment in Madrid in February 2026."""
    return datetime(2026, 2, day, hour, minute, tzinfo=MADRID)


@pytest.mark.parametrize(("hours", "due"), [(0, False), (19.9, False), (20, True), (500, True)])
def test_a_night_is_due_twenty_hours_after_the_last(hours: float, due: bool) -> None:
    """At any hour, when none is set."""
    assert is_due(at(14, 12), at(14, 12) - timedelta(hours=hours), POLICY, MADRID) is due


def test_the_first_night_is_due_at_once() -> None:
    """There is nothing to wait for, unless the owner named an hour."""
    assert is_due(at(14, 12), None, POLICY, MADRID)
    assert not is_due(at(14, 2), None, POLICY, MADRID, hour=3, first_event=at(13, 20))
    assert is_due(at(14, 3), None, POLICY, MADRID, hour=3, first_event=at(13, 20))


def test_an_hour_is_kept_day_after_day() -> None:
    """A look each hour for a week: one night a day, always in that hour, though twenty hours are over by evening."""
    last: datetime | None = at(1, 3)
    nights = []
    for hour in range(1, 24 * 7):
        now = at(1, 3, 20) + timedelta(hours=hour)
        if is_due(now, last, POLICY, MADRID, hour=3):
            nights.append((now.day, now.hour))
            last = now
    assert nights == [(day, 3) for day in range(2, 8)]


def test_the_hour_is_the_owners() -> None:
    """Three in the morning is theirs, not UTC's: in Madrid it comes an hour earlier."""
    last = at(13, 3)
    assert not is_due(at(14, 2, 59), last, POLICY, MADRID, hour=3)
    assert is_due(at(14, 3), last, POLICY, MADRID, hour=3)
    assert not is_due(at(14, 3), last, POLICY, ZoneInfo("UTC"), hour=3)


def test_a_missed_night_is_made_up_for() -> None:
    """A machine that is off when the hour comes sleeps when it is on, a day late."""
    assert not is_due(at(14, 9), at(13, 9), POLICY, MADRID, hour=22)
    assert is_due(at(15, 9), at(13, 9), POLICY, MADRID, hour=22)
    assert is_due(at(15, 9), None, POLICY, MADRID, hour=22, first_event=at(10, 9))
    assert is_due(at(14, 10), at(10, 3), POLICY, MADRID, hour=3)


def test_a_night_in_the_future_counts_as_none() -> None:
    """The clock was ahead then, and has been set right."""
    assert is_due(at(14, 12), at(20, 12), POLICY, MADRID)


@pytest.mark.parametrize("day", [29, 25])
def test_the_hour_comes_also_when_clocks_change(day: int) -> None:
    """Spring skips two to three, autumn repeats it: one night all the same."""
    month = 3 if day == 29 else 10
    nights = 0
    last = datetime(2026, month, day - 1, 2, tzinfo=MADRID)
    for hour in range(1, 25):
        now = last.astimezone(ZoneInfo("UTC")) + timedelta(hours=hour)
        if nights == 0 and is_due(now, last, POLICY, MADRID, hour=2):
            nights += 1
            assert now.astimezone(MADRID).hour in (2, 3)
    assert nights == 1
