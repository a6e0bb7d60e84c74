"""Questions for what is planned, was done or was said, answered by day and without a model."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.job import NewJob, Place
from kenobot.language.when import Moment, Recurrence
from kenobot.storage.connection import Connection
from kenobot_testing.clock import EagerClock
from tests.integration.memory.test_offline_voice import offline
from tests.scene import Scene

_PLACE = Place("t", "1", "", True, "en", "owner", "owner")


async def test_what_is_to_be_done_stands_by_day_with_what_is_overdue_first(tmp_path: Path) -> None:
    """Promises of the past tense among them; what has no day comes last, and nothing else is told."""
    clock = EagerClock()
    async with Scene(tmp_path, provider=offline(tmp_path, clock), clock=clock, extraction=True) as house:
        for told in ("My car is a blue Fiesta", "I promised Bea a cake", "I have to call Tom by Monday"):
            await house.say(told)
        await house.say("I have a dentist appointment on Thursday at 10")
        assert await house.say("what do I have to do?") == (
            "**Monday 16 February**\n- “I have to call Tom by Monday”\n"
            "**Thursday 19 February**\n- 10:00 “I have a dentist appointment on Thursday at 10”\n"
            "**Without a day**\n- “I promised Bea a cake”"
        )
        assert (await house.say("what's on Thursday?")).count("- ") == 1
        clock.advance(6 * 86_400)
        said = await house.say("¿qué tengo pendiente?")
        assert "dentist" not in said
        assert said.startswith("**Atrasado**\n- «I have to call Tom by Monday» (para el lunes 16 de febrero)\n")
        assert "(" not in said.split("\n", 2)[2]


async def test_a_day_that_is_over_is_told_by_what_was_written_and_noted_of_it(tmp_path: Path) -> None:
    """On that day or later, kept in memory or not; questions and other days are left out."""
    clock = EagerClock()
    async with Scene(tmp_path, provider=offline(tmp_path, clock), clock=clock, extraction=True) as house:
        await house.say("I went to the museum with Ana today")
        await house.say("what is on at the cinema?")
        await house.say("Fui al médico por la tarde")
        clock.advance(86_400)
        await house.say("yesterday I also painted the fence")
        await house.say("Ran ten miles this morning and was late for lunch")
        said = await house.say("what did I do yesterday?")
        assert said.splitlines()[0] == "**Yesterday, Saturday 14 February**"
        assert "museum" in said and "médico" in said and "painted the fence" in said
        assert "cinema" not in said and "miles" not in said
        assert "museum" in await house.say("¿qué pasó el 14 de febrero?")
        assert "miles" in await house.say("¿qué he hecho hoy?")


async def test_what_was_said_last_is_repeated_with_its_hour(tmp_path: Path) -> None:
    """A guest is told only of what they wrote themselves."""
    clock = EagerClock()
    async with Scene(tmp_path, provider=offline(tmp_path, clock), clock=clock, extraction=True) as house:
        await house.say("The plumber comes at nine")
        assert "“The plumber comes at nine”" in await house.say("What did I just say?")
        assert "no has escrito nada" in await house.say("¿qué te acabo de decir?", chat="2", user="2")
        assert "plumber" not in await house.say("what did I tell you today?", chat="2", user="2")


async def test_reminders_stand_among_what_is_to_be_done(tmp_path: Path) -> None:
    """At each of their times on the days asked about, of a long span at the next; a told one is part of its day."""
    clock = EagerClock()
    async with Scene(tmp_path, provider=offline(tmp_path, clock), clock=clock, extraction=True) as house:
        zone = ZoneInfo("UTC")

        def add(connection: Connection) -> None:
            at = clock.now()
            once = Moment(datetime.fromisoformat("2026-02-16T08:30"))
            daily = Recurrence("FREQ=DAILY", datetime.fromisoformat("2026-02-15T07:00"))
            jobs.add_job(connection, NewJob("water the plants", _PLACE, once), zone, at)
            jobs.add_job(connection, NewJob("take the pill", _PLACE, daily), zone, at)
            job_rows.note_told(connection, job_rows.put_occurrence(connection, 2, at, "sent"), None, "", at)

        await house.app.database.write(add)
        assert await house.say("what do I have on Monday?") == (
            "**Monday 16 February**\n- 7:00 take the pill (reminder, every day at 7:00)\n"
            "- 8:30 water the plants (reminder)"
        )
        assert (await house.say("what do I have to do?")).count("pill") == 1
        assert (await house.say("what do I have next week?")).count("pill") == 7
        assert "take the pill" in await house.say("what happened today?")


async def test_a_model_is_shown_what_answers_a_question_for_days(tmp_path: Path) -> None:
    """Beside the message that asks it, and beside no other."""
    async with Scene(tmp_path, ["Fine."], extraction=True) as house:
        await house.say("remember that I promised Bea a cake")
        await house.say("I painted the fence this morning")
        assert "What the agenda says" not in house.requests[-1]
        await house.say("what did I do today?")
        assert "What the agenda says\n**Today, Saturday 14 February**\n- " in house.requests[-1]
        assert house.requests[-1].count("painted the fence") >= 2


async def test_in_a_group_a_log_is_of_what_the_asker_wrote(tmp_path: Path) -> None:
    """What others did is theirs; without their names before it."""
    clock = EagerClock()
    async with Scene(tmp_path, provider=offline(tmp_path, clock), clock=clock, extraction=True) as house:
        for user, name, told in (("1", "Rob", "I painted the fence today"), ("2", "Ana", "I sold the old boat today")):
            await house.say(told, chat="-5", user=user, user_name=name, private=False)
        said = await house.say("what did I tell you today?", chat="-5", user="2", user_name="Ana", private=False)
        assert "“I sold the old boat today”" in said and "fence" not in said
