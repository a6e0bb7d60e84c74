"""A message's age is measured by one clock, Telegram's, when this machine's is ahead."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kenobot.channels.telegram.clock_offset import clock_ahead, clock_problem, correct_sent_at
from kenobot_testing.clock import START
from tests.samples import inbound

AGES = st.timedeltas(timedelta(), timedelta(days=30))
AHEAD = st.timedeltas(timedelta(minutes=2), timedelta(days=3650))


def sent(at: datetime, ahead: timedelta) -> datetime:
    """The date of a message that Telegram dates `at`, when it is START there."""
    now = START + ahead
    message = inbound("hi", sent_at=at)
    return correct_sent_at(message, clock_ahead(now, START), now).sent_at


@given(AHEAD, AGES)
def test_a_clock_that_is_ahead_makes_no_message_older(ahead: timedelta, age: timedelta) -> None:
    """However far: what waited an hour waited an hour."""
    assert START + ahead - sent(START - age, ahead) == age


@given(st.timedeltas(-timedelta(days=3650), timedelta(seconds=59)), AGES)
def test_a_clock_that_is_right_or_behind_changes_no_date(ahead: timedelta, age: timedelta) -> None:
    """Nor does a server that tells no time."""
    assert sent(START - age, ahead) == START - age
    assert clock_ahead(START + ahead, None) == timedelta()


def test_a_date_beyond_the_servers_own_clock_stays() -> None:
    """It was not read off that clock."""
    assert sent(START + timedelta(hours=2), timedelta(days=3)) == START + timedelta(hours=2)


def test_the_owner_is_told_of_hours_not_of_minutes() -> None:
    """A few minutes are corrected in silence."""
    assert clock_problem(timedelta(minutes=59)) == ""
    assert "49 hours ahead" in clock_problem(timedelta(hours=49))
