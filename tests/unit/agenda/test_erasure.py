"""A purge takes reminders and standing wishes with it, and names those that it may not take."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.job import NewJob, Place
from kenobot.language.when.meaning import Moment
from kenobot.storage import erasure
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES

_NOW = datetime(2026, 11, 29, 9, 0, tzinfo=UTC)
_ONCE = Moment(datetime.fromisoformat("2026-11-30T08:00"))
_WISH = "INSERT INTO wish (text, cue, scope, person, channel, chat, language, ends, created) VALUES "


def test_a_purge_takes_reminders_of_its_words_and_turns(connection: Connection) -> None:
    """With their occurrences; what others are reminded of stays, and is told."""

    def add(text: str, scope: str = "owner", origin: int | None = None) -> int:
        place = Place("fake", "1", "", True, "en", scope, scope)
        return jobs.add_job(connection, NewJob(text, place, _ONCE, origin=origin), ZoneInfo("UTC"), _NOW).id

    add("ask Ana about the clinic")
    told = add("buy flowers", origin=7)
    job_rows.put_occurrence(connection, told, _NOW - timedelta(days=1), "sent")
    kept, other = add("water the plants"), add("the clinic opens at nine", scope="user:fake-2")
    connection.execute(f"{_WISH}('call', 'the clinic', 'owner', 'owner', 'fake', '1', 'en', '2027', '')")
    erased = erasure.erase_turns(connection, [7], ["the clinic"], "owner")
    assert erased.letters == 3
    assert {job.id for job in jobs.find_jobs(connection, ALL_SCOPES)} == {kept, other}
    assert connection.execute("SELECT count(*) FROM occurrence").fetchone() == (0,)
    assert erasure.find_residue(connection, ["the clinic"]) == [f"reminder {other}"]
