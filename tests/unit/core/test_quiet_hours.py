"""Hours of the day in which the bot says nothing of its own accord."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.core.quiet_hours import QuietHours

MADRID = ZoneInfo("Europe/Madrid")


def at(text: str, zone: ZoneInfo = MADRID) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


@pytest.mark.parametrize(
    ("hours", "now", "over"),
    [
        ("22:30-08:00", "2026-02-14 22:29", None),
        ("22:30-08:00", "2026-02-14 22:30", "2026-02-15 08:00"),
        ("22:30-08:00", "2026-02-15 03:00", "2026-02-15 08:00"),
        ("22:30-08:00", "2026-02-15 08:00", None),
        ("14:00 - 16:00", "2026-02-14 15:00", "2026-02-14 16:00"),
        ("14:00-16:00", "2026-02-14 23:00", None),
        ("9:00-9:00", "2026-02-14 09:00", None),
        ("22:00-08:00", "2026-03-29 01:00", "2026-03-29 08:00"),  # the clock goes forward at 2
        ("22:00-08:00", "2026-10-25 01:00", "2026-10-25 08:00"),  # and back at 3
    ],
)
def test_the_end_is_told_by_the_clock_on_the_wall(hours: str, now: str, over: str | None) -> None:
    """Across midnight and on days that are longer or shorter than others."""
    quiet = QuietHours.parse(hours, MADRID)
    assert quiet is not None
    assert quiet.find_end(at(now)) == (at(over) if over else None)


@pytest.mark.parametrize("text", ["22:30", "25:00-08:00", "22:60-8:00", "at night", "22:30-08:00-09:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """With an example of what is one."""
    with pytest.raises(ValueError, match="22:30-08:00"):
        QuietHours.parse(text, MADRID)


def test_nothing_means_none() -> None:
    """No quiet hours at all."""
    assert QuietHours.parse("", MADRID) is None


@given(
    st.times(),
    st.times(),
    st.integers(0, 87_600),
    st.sampled_from(["Europe/Madrid", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"]),
)
def test_quiet_is_over_when_it_is_over(begin: time, end: time, hours: int, zone: str) -> None:
    """Within a day and two hours, later than now, and not followed by itself."""
    quiet = QuietHours(begin, end, ZoneInfo(zone))
    moment = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    if (over := quiet.find_end(moment)) is not None:
        assert moment < over <= moment + timedelta(hours=26)
