"""A correction of few words that names only the day or the hour of an appointment, and what the agenda says then."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kenobot.agenda import jobs
from kenobot.agenda.job import NewJob, Place
from kenobot.cognitive.memory import AdmitContext, Promises
from kenobot.language.when import Moment
from kenobot.ports.channel import Capabilities
from kenobot.storage.connection import Connection
from tests.integration.memory.test_days_of_corrections import DAYS, home
from tests.scene import Scene

THURSDAY = {"en": "what do I have on Thursday?", "es": "¿qué tengo el jueves?"}
FRIDAY = {"en": "what do I have on Friday?", "es": "¿qué tengo el viernes?"}
MAYBE = {"en": "perhaps no longer so", "es": "quizá ya no"}
HEADS = {
    "en": ("**Thursday 19 February**", "**Friday 20 February**"),
    "es": ("**Jueves 19 de febrero**", "**Viernes 20 de febrero**"),
}
QUOTES = {"en": "“{}”", "es": "«{}»"}
ZONES = ["UTC", "America/Mexico_City", "Pacific/Auckland"]


def lines(language: str, *told: tuple[str, str, bool]) -> str:
    """Lines of an agenda: an hour, what was told, and whether it may be over."""
    found = []
    for hour, text, is_over in told:
        mark = f" ({MAYBE[language]})" if is_over else ""
        found.append(f"- {hour} {QUOTES[language].format(text)}{mark}".replace("-  ", "- "))
    return "\n".join(found)


HOURS = [
    ("es", "Tengo médico el jueves a las 10", "no, es a las 11", "11:00"),
    ("es", "Tengo médico el jueves a las 10", "perdón, a las 11 y media", "11:30"),
    ("es", "Tengo que ir al banco el jueves a las 9:15", "uy no, es a las 9:45", "9:45"),
    ("es", "El jueves tengo dentista a las 10 de la mañana", "mejor dicho, a las 6 de la tarde", "18:00"),
    ("en", "I have a dentist appointment on Thursday at 10", "no, it's at 11", "11:00"),
    ("en", "I have a dentist appointment on Thursday at 10", "no wait: at half past eleven", "11:30"),
    ("en", "I have to call the bank on Thursday at 9:15", "oops, it's at 9:45", "9:45"),
    ("en", "I have a meeting on Thursday at 10am", "sorry, 4pm", "16:00"),
]


@pytest.mark.parametrize(("language", "told", "correction", "hour"), HOURS)
@pytest.mark.parametrize("answer", ["", "yes", "no"])
async def test_another_hour_is_followed_by_the_agenda(
    tmp_path: Path, language: str, told: str, correction: str, hour: str, answer: str
) -> None:
    """Both are listed until it is answered, the hour of each before it; a yes leaves the right one alone."""
    zone = ZONES[HOURS.index((language, told, correction, hour)) % len(ZONES)]
    async with home(tmp_path, "2026-02-14T20:30", zone) as scene:
        await scene.say(told)
        former = (await scene.say(THURSDAY[language])).split("\n")[1].split(" ")[1]
        assert "Lo recordaré" in (said := await scene.say(correction)) or "I'll remember" in said
        assert "¿Sustituye" in said or "take the place" in said
        if answer:
            await scene.say({"yes": "sí", "no": "no"}[answer] if language == "es" else answer)
        joined = f"{told}. {correction}"
        old, new = (former, told, answer != "no"), (hour, joined, False)
        expected = [new] if answer == "yes" else [old, new]
        head = HEADS[language][0]
        assert await scene.say(THURSDAY[language]) == f"{head}\n{lines(language, *expected)}"


DAYS_MOVED = [
    ("es", "Tengo médico el jueves a las 10", "no espera, es el viernes"),
    ("es", "Tengo médico el jueves a las 10", "digo, el viernes"),
    ("es", "Tengo médico el jueves a las 10", "perdón, es el 20"),
    ("es", "Tengo médico el jueves a las 10", "no, es el viernes a las 10"),
    ("en", "I have a dentist appointment on Thursday at 10", "no wait, it's on Friday"),
    ("en", "I have a dentist appointment on Thursday at 10", "I meant Friday"),
    ("en", "I have a dentist appointment on Thursday at 10", "sorry, it's the 20th"),
    ("en", "I have a dentist appointment on Thursday at 10", "actually, it's on Friday at 10"),
]


@pytest.mark.parametrize(("language", "told", "correction"), DAYS_MOVED)
@pytest.mark.parametrize("answer", ["", "yes", "no"])
async def test_another_day_is_followed_by_the_agenda(
    tmp_path: Path, language: str, told: str, correction: str, answer: str
) -> None:
    """It stands on the day that is right, with the hour that nobody changed; the former day shows it beside the old."""
    zone = ZONES[DAYS_MOVED.index((language, told, correction)) % len(ZONES)]
    async with home(tmp_path, "2026-02-14T20:30", zone) as scene:
        await scene.say(told)
        said = await scene.say(correction)
        assert "¿Sustituye" in said or "take the place" in said
        if answer:
            await scene.say({"yes": "sí", "no": "no"}[answer] if language == "es" else answer)
        old_head, new_head = HEADS[language]
        moved = lines(language, ("10:00", f"{told}. {correction}", False))
        assert await scene.say(FRIDAY[language]) == f"{new_head}\n{moved}"
        shown = await scene.say(THURSDAY[language])
        if answer == "yes":
            assert told not in shown
        elif answer == "no":
            assert shown == f"{old_head}\n{lines(language, ('10:00', told, False))}"
        else:
            assert shown == f"{old_head}\n{lines(language, ('10:00', told, True))}\n{new_head}\n{moved}"


async def follow(scene: Scene, *said: str) -> dict[str, str]:
    """What is due when, after some messages."""
    for each in said:
        await scene.say(each)
    return {str(text): str(due) for text, due in await scene.rows(DAYS)}


@pytest.mark.parametrize(
    ("at", "zone", "told", "correction", "due"),
    [
        # told on a Saturday, of a Thursday the week after: the Friday behind it
        ("2026-02-14T14:30", "UTC", "Tengo médico el 26 de febrero a las 10", "no, es el viernes", "2026-02-27"),
        ("2026-02-14T14:30", "UTC", "I see the dentist on 26 February at 10", "no, it's on Wednesday", "2026-02-25"),
        # a weekday named on that weekday is never today
        ("2026-02-14T14:30", "UTC", "I have yoga tomorrow at 10", "no wait, it's on Saturday", "2026-02-21"),
        ("2026-02-15T02:00", "America/Mexico_City", "Tengo yoga mañana a las 10", "no, es el sábado", "2026-02-21"),
        ("2026-02-15T02:00", "America/Mexico_City", "Tengo yoga el lunes a las 10", "no, es mañana", "2026-02-15"),
        ("2026-02-14T16:00", "Asia/Tokyo", "I have yoga on Monday at 10", "no, it's tomorrow at 9", "2026-02-16"),
        # across the change of clocks
        ("2026-03-28T23:30", "Europe/Madrid", "Tengo médico el lunes a las 10", "no, es el martes", "2026-03-31"),
        ("2026-10-24T20:30", "Europe/Madrid", "Tengo médico mañana a las 10", "no, es a las 11", "2026-10-25"),
        # the correction says again how the day is called
        ("2026-02-14T14:30", "UTC", "I have to call Ana on Thursday", "no, on Friday", "2026-02-20"),
    ],
)
async def test_a_corrected_day_is_the_one_near_the_old(
    tmp_path: Path, at: str, zone: str, told: str, correction: str, due: str
) -> None:
    """Counted where the owner is; a mere day of the week is the one nearest to the day that it puts right."""
    async with home(tmp_path, at, zone) as scene:
        found = await follow(scene, told, correction)
        assert found[f"{told}. {correction}"] == due
        assert found[told] != "None"


async def test_a_corrected_promise_is_overdue_by_the_right_day(tmp_path: Path) -> None:
    """It goes on being a promise."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await follow(scene, "I have to call Ana on Thursday", "no, it's on Friday", "yes")
        scene.clock.advance(days=6)  # type: ignore[attr-defined]
        assert "Overdue" not in await scene.say("what do I have to do?")
        scene.clock.advance(days=1)  # type: ignore[attr-defined]
        assert "Overdue" in await scene.say("what do I have to do?")


async def test_a_second_correction_leaves_the_last_alone(tmp_path: Path) -> None:
    """Each is asked about, and a yes to the last ends those that its words begin with; one undo brings them back."""
    told, second, third = "Tengo médico el jueves a las 10", "no, es a las 11", "perdón, es a las 12"
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await follow(scene, told, second, third)
        assert (await scene.say(THURSDAY["es"])).count("\n- ") == 3
        await follow(scene, "no, es a las 15", "sí")
        whole = f"{told}. {second}. {third}. no, es a las 15"
        assert await scene.say(THURSDAY["es"]) == f"{HEADS['es'][0]}\n- 15:00 «{whole}»"
        await scene.say("/undo")
        assert (await scene.say(THURSDAY["es"])).count("\n- ") == 4


@pytest.mark.parametrize(
    ("told", "second", "third"),
    [
        ("The dentist is on Thursday at 10", "no, it's at 11", "no, it's at 12"),
        ("Tengo médico el jueves a las 10", "no, es a las 11", "perdón, es a las 12"),
        ("I have a dentist appointment on Thursday at 10", "no, it's at 11", "sorry, it's at 12"),
    ],
)
async def test_a_yes_ends_nothing_that_holds_beside_the_other(
    tmp_path: Path, told: str, second: str, third: str
) -> None:
    """Of the first two the person said that both stand: a yes about the second leaves the first."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        yes, no = ("sí", "no") if told.startswith("Tengo") else ("yes", "no")
        await follow(scene, told, second, no, third, yes)
        assert list(await follow(scene)) == [told, f"{told}. {second}. {third}"]


async def test_a_yes_leaves_a_longer_memory_that_holds_beside_it(tmp_path: Path) -> None:
    """Whole, although it begins with the words that are over."""
    told, second = "I have a dentist appointment on Thursday at 10", "no, it's at 11"
    said = "My dentist appointment on Thursday is cancelled"
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await follow(scene, told, second, "no", said)
        assert f"“{told}” is over" in await scene.say("yes")
        assert list(await follow(scene)) == [f"{told}. {second}", said]


async def test_a_day_with_enough_questions_keeps_the_correction(tmp_path: Path) -> None:
    """It is noted without a question, and both are listed."""
    async with home(tmp_path, "2026-02-14T14:30", asks=0) as scene:
        await scene.say("I have a dentist appointment on Thursday at 10")
        assert "take the place" not in await scene.say("no wait, it's at 11")
        said = await scene.say(THURSDAY["en"])
        assert "10:00 “I have" in said and "11:00 “I have" in said


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("I have 2 dogs", "no wait, it's Friday"),
        ("My sister is called Ana", "no, it's at 11"),
        ("I have a dentist appointment on Thursday at 10", "no, it's on Thursday"),
        ("I have a dentist appointment on Thursday at 10", "no, it's raining"),
        ("I have a dentist appointment on Thursday at 10", "is it at 11?"),
        ("Tengo médico el jueves a las 10", "no, es el jueves a las 10"),
        ("Tengo médico el jueves a las 10", "no, es broma"),
        ("Tengo médico el jueves a las 10", "el viernes"),
    ],
)
async def test_what_only_looks_like_a_correction_changes_nothing(tmp_path: Path, told: str, said: str) -> None:
    """The same day or hour, something without either, a question, and a day that nothing introduces."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await scene.say(told)
        reply = await scene.say(said)
        assert "Sustituye" not in reply and "take the place" not in reply
        assert not any(str(text).startswith(f"{told}. ") for text, _ in await scene.rows(DAYS))


async def test_what_may_have_replaced_an_appointment_is_listed_beside_it(tmp_path: Path) -> None:
    """In words of its own, without a day: until the person answers, neither of both is hidden."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await scene.say("I have a dentist appointment on Thursday at 10")
        assert "take the place" in await scene.say("they moved my dentist appointment, it's at 11 now")
        said = await scene.say(THURSDAY["en"])
        assert "10:00 “I have a dentist appointment" in said and "(perhaps no longer so)" in said
        assert "it's at 11 now" in said


BANK, MOVED = "I have to call the bank on Thursday at 10", "no, it's at 11"


@pytest.mark.parametrize("correction", [MOVED, "no, it's on Friday at 11"])
async def test_what_may_have_replaced_an_appointment_is_not_listed_once_it_is_done(
    tmp_path: Path, correction: str
) -> None:
    """On the same day or on another."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await follow(scene, BANK, correction)

        def resolve(connection: Connection) -> None:
            planned = Promises.list_planned(connection, "2026-02-19", "2026-02-20", ("owner",))
            [record] = [each for each in planned if each.text != BANK]
            occasion = AdmitContext(scene.clock.now(), "2026-02-15", "owner")
            Promises.resolve(connection, record, "2026-02-15", occasion, "said")

        await scene.app.database.write(resolve)
        assert await scene.say(THURSDAY["en"]) == f"{HEADS['en'][0]}\n{lines('en', ('10:00', BANK, True))}"


async def test_what_may_have_replaced_an_appointment_is_not_listed_beside_its_reminder(tmp_path: Path) -> None:
    """The reminder is its line."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await follow(scene, BANK, MOVED)

        def add(connection: Connection) -> None:
            [record] = connection.execute("SELECT id FROM record WHERE text = ?", (f"{BANK}. {MOVED}",)).fetchone()
            place = Place("t", "1", "", True, "en", "owner", "owner")
            once = Moment(datetime.fromisoformat("2026-02-19T11:00"))
            new = NewJob("call the bank", place, once, source_record=record)
            jobs.add_job(connection, new, ZoneInfo("UTC"), scene.clock.now())

        await scene.app.database.write(add)
        reminder = "- 11:00 call the bank (reminder)"
        assert await scene.say(THURSDAY["en"]) == f"{HEADS['en'][0]}\n{lines('en', ('10:00', BANK, True))}\n{reminder}"


async def test_after_a_reminder_a_correction_is_not_taken_for_one_of_a_memory(tmp_path: Path) -> None:
    """It may be about the reminder: nothing is noted behind the memory."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await follow(scene, "Tengo médico el jueves a las 10", "recuérdame llamar a Ana el viernes a las 10:30")
        found = await follow(scene, "no, es a las 11")
        assert not any(text.startswith("Tengo médico el jueves a las 10.") for text in found)


async def test_of_two_things_told_at_once_the_one_with_a_time_is_put_right(tmp_path: Path) -> None:
    """Whatever was told behind it in the same message."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        found = await follow(scene, "I have a dentist appointment on Thursday at 10. I like tea", "no, it's at 11")
        assert found["I have a dentist appointment on Thursday at 10. no, it's at 11"] == "2026-02-19"


async def test_a_late_yes_leaves_a_further_correction_whole(tmp_path: Path) -> None:
    """What it puts right goes on standing before it: else it would be about nothing."""
    told, second, third = "I have a dentist appointment on Thursday at 10", "no, it's at 11", "sorry, it's at 12"
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        scene.channel.capabilities = Capabilities(buttons=True, edits=True)
        await follow(scene, told, second)
        below, pressed = scene.channel.sent[-1], scene.buttons["Yes, it does"]
        await follow(scene, third)
        assert "is over" in await scene.say("", kind="action", target=str(below.id), value=pressed)
        assert list(await follow(scene)) == [f"{told}. {second}", f"{told}. {second}. {third}"]


@pytest.mark.parametrize(("told", "correction"), [(HOURS[0][1], HOURS[0][2]), (DAYS_MOVED[4][1], DAYS_MOVED[4][2])])
async def test_a_guest_is_asked_nothing_and_shown_both(tmp_path: Path, told: str, correction: str) -> None:
    """In their own memory; the owner's agenda has neither."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await scene.say(told, chat="2", user="2")
        said = await scene.say(correction, chat="2", user="2")
        assert "Sustituye" not in said and "take the place" not in said
        shown = await scene.say(THURSDAY["es"], chat="2", user="2")
        assert f"{told}»" in shown or f"{told}”" in shown
        assert correction in shown
        assert correction not in await scene.say(THURSDAY["es"])
