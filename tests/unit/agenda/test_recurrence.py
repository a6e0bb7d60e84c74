"""Recurrences come at the local times they name, once each, also in the nights when the clocks change."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from kenobot.agenda.recurrence import (
    RuleError,
    check_rule,
    is_cron_line,
    latest_instance,
    list_moments_between,
    next_due,
    to_utc,
)
from kenobot.core import texts

MADRID, MEXICO, LORD_HOWE = (ZoneInfo(name) for name in ("Europe/Madrid", "America/Mexico_City", "Australia/Lord_Howe"))


def local(text: str) -> datetime:
    return datetime.fromisoformat(text)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("rule", ["FREQ=DAILY", "cron:30 2 * * *"])
@pytest.mark.parametrize(
    ("night", "moments"),
    [
        ("2027-03-27T12:00", ["2027-03-28T01:00", "2027-03-29T00:30"]),
        ("2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),
    ],
    ids=["spring", "autumn"],
)
def test_a_time_of_a_night_of_changed_clocks_comes_once(rule: str, night: str, moments: list[str]) -> None:
    """In spring after the gap, in autumn the first time."""
    found = list_moments_between(
        rule, local("2026-10-01T02:30"), MADRID, moment(night), moment(night) + timedelta(days=2)
    )
    assert found == [moment(each) for each in moments]


@pytest.mark.parametrize("rule", ["FREQ=HOURLY", "cron:0 * * * *", "FREQ=MINUTELY;INTERVAL=60"])
@pytest.mark.parametrize("night", ["2027-03-27T12:00", "2026-10-24T12:00"])
def test_every_hour_comes_every_hour_in_those_nights(rule: str, night: str) -> None:
    """What counts hours counts the one that comes twice, and none that is skipped."""
    found = list_moments_between(
        rule, local("2026-10-01T00:00"), MADRID, moment(night), moment(night) + timedelta(days=1)
    )
    assert len(found) == 24
    assert {after - before for before, after in pairwise(found)} == {timedelta(hours=1)}


def test_a_gap_of_half_an_hour_ends_where_it_ends() -> None:
    """Lord Howe moves its clocks by thirty minutes."""
    assert to_utc(local("2026-10-04T02:10"), LORD_HOWE) == moment("2026-10-03T15:30")


@pytest.mark.parametrize(
    ("rule", "start", "after", "expected"),
    [
        ("", "2026-11-30T08:00", "2026-11-29T00:00", "2026-11-30T07:00"),
        ("", "2026-11-30T08:00", "2026-11-30T07:00", None),
        ("FREQ=MONTHLY;BYDAY=-1FR", "2026-11-01T09:00", "2026-11-29T00:00", "2026-12-25T08:00"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "2026-11-01T09:00", "2026-11-29T00:00", "2026-11-30T08:00"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "2016-11-04T09:00", "2026-11-29T00:00", "2026-12-04T08:00"),
        ("FREQ=DAILY;COUNT=3", "2026-11-28T09:00", "2026-11-30T09:00", None),
        ("FREQ=DAILY;UNTIL=20261130T080000Z", "2026-11-28T09:00", "2026-11-29T09:00", "2026-11-30T08:00"),
        ("FREQ=DAILY;UNTIL=20261130", "2026-11-28T09:00", "2026-11-29T09:00", "2026-11-30T08:00"),
        ("FREQ=YEARLY", "2024-02-29T09:00", "2026-11-29T00:00", "2028-02-29T08:00"),
        ("FREQ=MINUTELY;INTERVAL=90", "2006-01-01T00:00", "2026-11-29T00:00", "2026-11-29T00:30"),
        ("FREQ=HOURLY;INTERVAL=2;BYHOUR=8,10,12,14,16,18", "2026-11-28T08:00", "2026-11-28T18:00", "2026-11-29T07:00"),
        ("cron:0 9 * * 5L", "2026-11-01T00:00", "2026-11-29T00:00", "2026-12-25T08:00"),
        ("cron:0 9 13 * 5", "2026-11-01T00:00", "2026-11-29T00:00", "2026-12-04T08:00"),
    ],
)
def test_the_next_moment_of_a_rule(rule: str, start: str, after: str, expected: str | None) -> None:
    """Whether once, by RRULE or by cron."""
    found = next_due(rule, local(start), MADRID, moment(after))
    assert found == (None if expected is None else moment(expected))


@pytest.mark.parametrize("start", ["2006-01-01T00:00", "2026-11-28T21:00"])
@pytest.mark.parametrize(
    "rule", ["FREQ=MINUTELY", "FREQ=HOURLY;INTERVAL=3", "FREQ=DAILY", "FREQ=WEEKLY;INTERVAL=2", "cron:0 9 1 * *"]
)
def test_the_latest_instance_is_the_one_before_the_next(rule: str, start: str) -> None:
    """However long ago the rule began."""
    now = moment("2026-11-29T10:00:30")
    found = latest_instance(rule, local(start), MEXICO, now)
    if found is not None:
        following = next_due(rule, local(start), MEXICO, found[1])
        assert found[1] <= now
        assert following is not None and following > now
    else:
        assert next_due(rule, local(start), MEXICO, moment("2000-01-01")) > now  # type: ignore[operator]


@pytest.mark.parametrize(
    "rule",
    """FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30
    FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=31
    FREQ=HOURLY;BYHOUR=25
    FREQ=MINUTELY;INTERVAL=1440;BYHOUR=3
    FREQ=SECONDLY
    FREQ=DAILY;INTERVAL=0
    FREQ=DAILY;BYEASTER=1
    FREQ=DAILY;UNTIL=yesterday
    FREQ=DAILY;UNTIL=20200101
    FREQ=DAILY;BYDAY=XX
    FREQ=DAILY;;COUNT=
    every day
    cron:0 0 31 2 *
    cron:5-1 * * * *
    cron:* * * * * *
    cron:@daily
    cron:""".split("\n"),
)
def test_a_rule_that_cannot_be_read_or_never_comes_is_refused(rule: str) -> None:
    """Before it is stored."""
    with pytest.raises(RuleError):
        check_rule(rule.strip(), local("2026-11-29T09:00"), MADRID)


@pytest.mark.parametrize(
    ("rule", "english", "spanish"),
    [
        ("cron:x", "a cron line has five fields", "una línea de cron tiene cinco campos"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR has to lie between 0 and 23", "BYHOUR tiene que estar entre 0 y 23"),
    ],
)
def test_what_is_wrong_with_a_rule_is_told_in_both_languages(rule: str, english: str, spanish: str) -> None:
    """Within the refusal of a reminder."""
    with pytest.raises(RuleError) as refused:
        check_rule(rule, local("2026-11-29T09:00"), MADRID)
    assert english in texts.REMINDER_RULE("en", rule=rule, why=str(refused.value))
    assert spanish in texts.REMINDER_RULE("es", rule=rule, why=str(refused.value))


def test_a_cron_line_has_five_fields() -> None:
    """As cronsim reads them."""
    assert is_cron_line("*/5 9-17 * * MON-FRI")
    assert not is_cron_line("0 9 * *")
