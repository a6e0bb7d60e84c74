"""Jobs are rows: of whom they are, when they come, and what people change about them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.job import Job, JobError, NewJob, Place
from kenobot.language.when.meaning import Moment, Recurrence
from kenobot.ports.identity import Trust
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from tests.samples import plan

MADRID, MEXICO = ZoneInfo("Europe/Madrid"), ZoneInfo("America/Mexico_City")
NOW = datetime(2026, 11, 29, 9, 0, tzinfo=UTC)  # a Sunday, 10:00 in Madrid
PLACE = Place("fake", "1", "", True, "en", "owner", "owner")
GUEST = Place("fake", "2", "", True, "es", "fake:2", "user:fake-2")
MINE = ("owner",)
ONCE = Moment(datetime.fromisoformat("2026-11-30T08:00"))
DAILY = Recurrence("FREQ=DAILY", datetime.fromisoformat("2026-11-29T08:00"))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def add(
    connection: Connection,
    meaning: Moment | Recurrence = ONCE,
    *,
    text: str = "call Luis",
    place: Place = PLACE,
    zone: str = "",
    trust: Trust = "owner",
    at: datetime = NOW,
) -> Job:
    return jobs.add_job(connection, NewJob(text, place, meaning, zone=zone, trust=trust), MADRID, at)


def tell(connection: Connection, job: Job, at: datetime) -> int:
    """Settle the planned instance, as its delivery does; return its occurrence."""
    assert job.planned_due is not None
    number = job_rows.put_occurrence(
        connection, job.id, job.planned_due, "sent", jobs.instance_key(job, datetime.fromisoformat(job.planned))
    )
    job_rows.note_told(connection, number, None, "", at)
    jobs.advance(connection, job, datetime.fromisoformat(job.planned), job.planned_due, MADRID, at)
    return number


def reload(connection: Connection, job: Job) -> Job:
    found = jobs.load_job(connection, job.id, ALL_SCOPES)
    assert found is not None
    return found


def test_a_job_comes_back_as_it_went_in(connection: Connection) -> None:
    """With its place, and with the moment at which it is due."""
    job = add(connection, text="  llamar a Luis 🍵  ")
    assert (job.text, job.place, job.state) == ("llamar a Luis 🍵", PLACE, "active")
    assert (job.next_due, job.start_local, job.created) == (utc("2026-11-30T07:00"), ONCE.at, NOW)
    assert reload(connection, job) == job


def test_nobody_sees_the_jobs_of_others(connection: Connection) -> None:
    """Neither in a list nor by their ids."""
    mine, theirs = add(connection), add(connection, place=GUEST)
    assert jobs.find_jobs(connection, MINE) == [mine]
    assert jobs.find_jobs(connection, (GUEST.scope, "chat:fake-2")) == [theirs]
    assert jobs.find_jobs(connection, ()) == []
    assert jobs.load_job(connection, theirs.id, MINE) is None
    told = tell(connection, theirs, NOW)
    assert jobs.load_occurrence(connection, told, MINE) is None
    assert jobs.load_occurrence(connection, told, (GUEST.scope,)) is not None
    assert len(jobs.find_jobs(connection, ALL_SCOPES, states=("active", "done"))) == 2


def test_what_comes_first_is_listed_first(connection: Connection) -> None:
    """And what is due by a day can be asked for alone."""
    later = add(connection, Moment(datetime.fromisoformat("2026-12-24T20:00")))
    sooner = add(connection)
    assert jobs.find_jobs(connection, MINE) == [sooner, later]
    assert jobs.find_jobs(connection, MINE, until=utc("2026-12-01T00:00")) == [sooner]


@pytest.mark.parametrize(
    ("meaning", "zone", "due"),
    [
        (Moment(datetime.fromisoformat("2026-11-30T08:00")), "America/Mexico_City", "2026-11-30T14:00"),
        (Moment(datetime.fromisoformat("2026-11-30T00:00"), has_time=False), "", "2026-11-30T08:00"),
        (Moment(datetime.fromisoformat("2026-11-29T00:00"), has_time=False), "", "2026-11-29T17:00"),
        (Moment(datetime.fromisoformat("2026-11-29T10:20"), exact=True), "", "2026-11-29T09:20"),
        (Recurrence("FREQ=DAILY", datetime.fromisoformat("2026-11-29T00:00"), has_time=False), "", "2026-11-30T08:00"),
        (DAILY, "", "2026-11-30T07:00"),
        (Recurrence("cron:*/15 * * * *", datetime.fromisoformat("2026-11-29T00:00")), "", "2026-11-29T09:15"),
    ],
)
def test_when_a_job_is_due(connection: Connection, meaning: Moment | Recurrence, zone: str, due: str) -> None:
    """In its zone or the owner's; at nine, or at six, where no hour was given."""
    assert add(connection, meaning, zone=zone).next_due == utc(due)


def test_what_is_counted_in_hours_passes_the_night_of_changed_clocks(connection: Connection) -> None:
    """In three hours is in three hours, though the clock shows four."""
    before = utc("2027-03-28T00:30")  # 01:30 in Madrid
    job = add(connection, Moment(datetime.fromisoformat("2027-03-28T04:30"), exact=True), at=before)
    assert job.next_due == before + timedelta(hours=3)


@pytest.mark.parametrize(
    ("text", "meaning", "zone", "sentence"),
    [
        (" ", ONCE, "", "Tell me what"),
        ("x" * 1001, ONCE, "", "too long"),
        ("x", Moment(datetime.fromisoformat("2026-11-29T09:59")), "", "has passed"),
        ("x", Moment(datetime.fromisoformat("2026-11-28T00:00"), has_time=False), "", "has passed"),
        ("x", Moment(datetime.fromisoformat("9999-12-31T00:00")), "", "too far"),
        ("x", Moment(datetime.fromisoformat("0001-01-01T00:00")), "", "too far"),
        ("x", Recurrence("FREQ=DAILY", datetime.fromisoformat("0001-01-01T00:00")), "", "too far"),
        ("x", Recurrence("every day", ONCE.at), "", "recurrence “every day”"),
        ("x", Recurrence("", ONCE.at), "", "recurrence “”"),
        ("x", ONCE, "Mars/Olympus", "no time zone “Mars/Olympus”"),
        ("x", ONCE, "../../etc/passwd", "no time zone"),
    ],
)
def test_what_cannot_be_a_job_is_refused(
    connection: Connection, text: str, meaning: Moment | Recurrence, zone: str, sentence: str
) -> None:
    """With a sentence that says what to do, in both languages."""
    with pytest.raises(JobError) as caught:
        add(connection, meaning, text=text, zone=zone)
    assert sentence in caught.value.words("en") == str(caught.value)
    assert caught.value.words("es") != caught.value.words("en")
    assert jobs.find_jobs(connection, ALL_SCOPES) == []


def test_a_person_has_a_bounded_number_of_jobs(connection: Connection) -> None:
    """A guest's do not count for the owner."""
    for _ in range(100):
        job = add(connection, place=GUEST)
    with pytest.raises(JobError, match="100 open reminders"):
        add(connection, place=GUEST)
    add(connection)
    jobs.cancel_job(connection, job, NOW)
    add(connection, place=GUEST)


def test_a_job_from_untrusted_words_waits_for_a_yes(connection: Connection) -> None:
    """Until then it is neither listed nor due."""
    job = add(connection, trust="forward")
    assert job.state == "proposed"
    assert jobs.find_jobs(connection, MINE) == []
    assert job_rows.due_jobs(connection, utc("2027-01-01"), ("fake",), 9) == []
    assert jobs.resume_job(connection, job, MADRID, NOW).state == "active"


def test_a_told_job_for_once_is_done(connection: Connection) -> None:
    """A recurring one goes on."""
    once, daily = add(connection), add(connection, DAILY)
    tell(connection, once, utc("2026-11-30T07:00"))
    tell(connection, daily, utc("2026-11-30T07:00"))
    assert reload(connection, once).state == "done"
    assert reload(connection, daily).next_due == utc("2026-12-01T07:00")


def test_a_snoozed_job_comes_again_and_keeps_its_recurrence(connection: Connection) -> None:
    """A job for once opens again for it."""
    once, daily = add(connection), add(connection, DAILY)
    at = utc("2026-11-30T07:01")
    for job in (once, daily):
        told = tell(connection, job, at)
        again = jobs.snooze(connection, told, at + timedelta(minutes=10), at)
        assert (again.state, again.next_due) == ("active", at + timedelta(minutes=10))
        found = jobs.load_occurrence(connection, told, MINE)
        assert found is not None and found[0].state == "snoozed"
    assert reload(connection, daily).planned_due == utc("2026-12-01T07:00")
    with pytest.raises(JobError, match="has passed"):
        jobs.snooze(connection, told, at, at)


def test_a_second_snooze_takes_the_place_of_the_first(connection: Connection) -> None:
    """And what is done in the end is not told again."""
    job, at = add(connection, DAILY), utc("2026-11-30T07:01")
    told = tell(connection, job, at)
    jobs.snooze(connection, told, at + timedelta(minutes=10), at)
    assert jobs.snooze(connection, told, at + timedelta(hours=1), at).next_due == at + timedelta(hours=1)
    assert jobs.mark_done(connection, told, at).next_due == utc("2026-12-01T07:00")


def test_the_next_instance_can_be_skipped(connection: Connection) -> None:
    """Once, and it can be taken back."""
    job = add(connection, DAILY)
    skipped = jobs.skip_next(connection, job, MADRID, NOW)
    assert skipped.next_due == utc("2026-12-01T07:00")
    assert jobs.undo_job(connection, reload(connection, job), MADRID, NOW).next_due == utc("2026-11-30T07:00")
    with pytest.raises(JobError, match="is over"):
        jobs.skip_next(connection, jobs.cancel_job(connection, job, NOW), MADRID, NOW)


def test_a_job_moves(connection: Connection) -> None:
    """One that was told already, too; and back again."""
    job = add(connection)
    tell(connection, job, utc("2026-11-30T07:00"))
    at = utc("2026-11-30T08:00")
    friday = Moment(datetime.fromisoformat("2026-12-04T08:00"))
    moved = jobs.move_job(connection, reload(connection, job), friday, MADRID, at)
    assert (moved.state, moved.next_due) == ("active", utc("2026-12-04T07:00"))
    with pytest.raises(JobError, match="has passed"):
        jobs.move_job(connection, moved, ONCE, MADRID, at)
    other = add(connection)
    jobs.move_job(connection, other, friday, MADRID, NOW)
    assert jobs.undo_job(connection, reload(connection, other), MADRID, NOW).next_due == utc("2026-11-30T07:00")


def test_of_a_recurring_job_a_moment_moves_the_next_instance_alone(connection: Connection) -> None:
    """And a recurrence moves them all."""
    job = add(connection, DAILY)
    moved = jobs.move_job(connection, job, Moment(datetime.fromisoformat("2026-11-30T12:00")), MADRID, NOW)
    assert (moved.next_due, moved.planned_due) == (utc("2026-11-30T11:00"), utc("2026-12-01T07:00"))
    assert jobs.undo_job(connection, moved, MADRID, NOW).next_due == utc("2026-11-30T07:00")
    weekly = Recurrence("FREQ=WEEKLY;BYDAY=MO", datetime.fromisoformat("2026-12-01T09:00"))
    assert jobs.move_job(connection, moved, weekly, MADRID, NOW).next_due == utc("2026-12-07T08:00")


def test_a_paused_job_leaves_out_what_it_missed(connection: Connection) -> None:
    """It is listed, and not due."""
    job = jobs.pause_job(connection, add(connection, DAILY), NOW)
    assert [each.state for each in jobs.find_jobs(connection, MINE)] == ["paused"]
    assert job_rows.due_jobs(connection, utc("2027-01-01"), ("fake",), 9) == []
    resumed = jobs.resume_job(connection, job, MADRID, utc("2026-12-05T12:00"))
    assert resumed.next_due == utc("2026-12-06T07:00")


def test_what_is_done_ends_a_job_for_once(connection: Connection) -> None:
    """Before it is due, and after; a recurring one goes on."""
    once, daily = add(connection), add(connection, DAILY)
    assert jobs.mark_done(connection, once, NOW).state == "done"
    assert jobs.undo_job(connection, reload(connection, once), MADRID, NOW).state == "active"
    told = tell(connection, daily, utc("2026-11-30T07:00"))
    assert jobs.mark_done(connection, told, utc("2026-11-30T07:05")).state == "active"
    with pytest.raises(JobError):
        jobs.mark_done(connection, 999, NOW)


def test_a_cancelled_job_ends_and_comes_back_by_undo(connection: Connection) -> None:
    """So does one that was only just added end by it."""
    job = add(connection)
    cancelled = jobs.cancel_job(connection, job, NOW)
    assert (cancelled.state, cancelled.next_due) == ("cancelled", None)
    assert jobs.find_jobs(connection, MINE) == []
    back = jobs.undo_job(connection, cancelled, MADRID, NOW)
    assert (back.state, back.next_due) == ("active", job.next_due)
    with pytest.raises(JobError, match="nothing to take back"):
        jobs.undo_job(connection, back, MADRID, NOW)
    other = add(connection)
    assert jobs.undo_job(connection, other, MADRID, NOW).state == "cancelled"


def test_local_times_follow_the_owner(connection: Connection) -> None:
    """What has a zone of its own, or is counted from now, stays where it is."""
    following, fixed = add(connection), add(connection, zone="Europe/Madrid")
    exact = add(connection, Moment(datetime.fromisoformat("2026-11-30T08:00"), exact=True))
    assert jobs.change_zone(connection, MEXICO, NOW) == 1
    assert reload(connection, following).next_due == utc("2026-11-30T14:00")
    assert reload(connection, fixed).next_due == reload(connection, exact).next_due == utc("2026-11-30T07:00")


def test_a_guests_times_stay_where_they_were_said(connection: Connection) -> None:
    """Wherever the owner is; after a move too."""
    soon = Moment(datetime.fromisoformat("2026-11-29T10:20"), exact=True)
    job, counted = add(connection, place=GUEST), add(connection, soon, place=GUEST)
    moved = jobs.move_job(connection, counted, ONCE, MADRID, NOW)
    assert jobs.change_zone(connection, MEXICO, NOW) == 0
    assert reload(connection, job).next_due == reload(connection, moved).next_due == utc("2026-11-30T07:00")


def test_a_day_that_was_told_is_not_told_again_further_west(connection: Connection) -> None:
    """Eight o'clock comes twice that day; the reminder once."""
    job = add(connection, DAILY)
    tell(connection, job, utc("2026-11-30T07:00"))
    jobs.change_zone(connection, MEXICO, utc("2026-11-30T09:00"))
    assert reload(connection, job).next_due == utc("2026-12-01T14:00")


def test_an_hour_that_a_journey_skips_is_told_on_arrival(connection: Connection) -> None:
    """At eight in the evening, for one who flies from Mexico to Madrid in the afternoon."""
    evening = Recurrence("FREQ=DAILY", datetime.fromisoformat("2026-11-29T20:00"))
    job = jobs.add_job(connection, NewJob("pill", PLACE, evening), MEXICO, utc("2026-11-29T16:00"))
    jobs.change_zone(connection, MADRID, utc("2026-11-29T23:00"))
    assert reload(connection, job).next_due == utc("2026-11-29T19:00")


def test_a_clock_set_back_finds_again_what_a_wrong_time_settled(connection: Connection) -> None:
    """And does not repeat what was told."""
    job = add(connection, DAILY)
    tell(connection, job, utc("2026-11-30T07:00"))
    a_year_on = utc("2027-11-30T12:00")
    planned = reload(connection, job)
    told = datetime.fromisoformat("2027-11-30T08:00")
    jobs.advance(connection, planned, told, utc("2027-11-30T07:00"), MADRID, a_year_on)
    assert reload(connection, job).next_due == utc("2027-12-01T07:00")
    jobs.rewind(connection, MADRID, utc("2026-11-30T06:00"))
    assert reload(connection, job).next_due == utc("2026-12-01T07:00")


def test_an_agenda_has_every_instance_of_its_days(connection: Connection) -> None:
    """Those of recurring jobs too, in order, without what is skipped."""
    daily, once = add(connection, DAILY), add(connection)
    jobs.skip_next(connection, daily, MADRID, NOW)
    found = jobs.occurrences_between(connection, MINE, NOW, utc("2026-12-03T00:00"), MADRID)
    assert [(job.id, f"{due:%d %H}") for job, due in found] == [
        (once.id, "30 07"),
        (daily.id, "01 07"),
        (daily.id, "02 07"),
    ]


def test_what_is_due_is_found_by_an_index(connection: Connection) -> None:
    """However many jobs there are."""
    due = "state = 'active' AND next_due != '' AND next_due <= ? AND channel IN ('fake')"
    found = plan(connection, f"SELECT id FROM job WHERE {due} ORDER BY next_due, id LIMIT 9", "x")
    assert "SEARCH job USING INDEX job_next_due" in found and "TEMP" not in found
