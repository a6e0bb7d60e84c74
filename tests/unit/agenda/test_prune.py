"""What is over leaves the tables of the agenda after a while, and nothing else does."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.job import NewJob, Place
from kenobot.language.when.meaning import Recurrence
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START
from tests.samples import rows

_MADRID = ZoneInfo("Europe/Madrid")
_PLACE = Place("fake", "1", "", True, "en", "owner", "owner")
_WISH = "INSERT INTO wish (text, cue, scope, person, channel, chat, language, ends, created) VALUES "


async def test_what_is_over_is_dropped_in_time(database: Database) -> None:
    """Occurrences after ninety days, ended jobs and wishes after a year; what is to come stays."""
    daily = Recurrence("FREQ=DAILY", datetime.fromisoformat("2020-01-01T08:00"))

    def write(connection: Connection) -> None:
        new = NewJob("water", _PLACE, daily)
        jobs.cancel_job(connection, jobs.add_job(connection, new, _MADRID, START), START - timedelta(days=366))
        jobs.cancel_job(connection, jobs.add_job(connection, new, _MADRID, START), START - timedelta(days=364))
        job = jobs.add_job(connection, new, _MADRID, START)
        for days in (-91, -89):
            job_rows.put_occurrence(connection, job.id, START + timedelta(days=days), "sent")
        job_rows.put_occurrence(connection, job.id, START - timedelta(days=100), "due")
        for days in (-366, -364):
            ends = job_rows.stamp(START + timedelta(days=days))
            connection.execute(f"{_WISH}('a', 'b', 'owner', 'owner', 'fake', '1', 'en', ?, '')", (ends,))

    await database.write(write)
    await job_rows.prune(database, START)
    assert await rows(database, "SELECT id FROM job ORDER BY id") == [(2,), (3,)]
    assert await rows(database, "SELECT state FROM occurrence ORDER BY due") == [("due",), ("sent",)]
    assert await rows(database, "SELECT count(*) FROM wish") == [(1,)]
