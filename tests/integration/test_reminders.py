"""Reminders in chat: set in plain words, told when they are due, changed by words and buttons, over a restart."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.channel import Capabilities
from kenobot_testing.clock import EagerClock
from tests.integration.memory.test_offline_voice import offline
from tests.scene import Scene

_MADRID = {"KENOBOT_BOT__TIMEZONE": "Europe/Madrid"}

Step = tuple[str, str]
"""What a person does, and a piece of what they read: words, `[a button]`, `+minutes`, `promises` or `restart`."""

DAY_EN: Sequence[Step] = (  # from Saturday, 14 February, 15:30
    ("remind me tomorrow at 8 to call Luis", "“call Luis”: tomorrow, Sunday 15 February, 8:00"),
    ("move it to Monday", "“call Luis”: Monday 16 February, 8:00"),
    ("remind me to buy bread", "When shall I remind you of “buy bread”?"),
    ("[In 1 hour]", "today, Saturday 14 February, 16:30"),
    ("+61", "⏰ buy bread"),
    ("[In 10 min]", "again of “buy bread”: today, Saturday 14 February, 16:41"),
    ("+11", "⏰ buy bread"),
    ("done", "Done: “buy bread”"),
    ("I promised to call Marta on Sunday", "I'll remember"),
    ("/settings morning 8:30", "what your day holds: 08:30"),
    ("restart", ""),
    ("what reminders do I have?", "Monday 16 February, 8:00: call Luis"),
    ("+951", "Good morning. This is your day:\n**Today, Sunday 15 February**\n- “I promised to call Marta on Sunday”"),
    ("+1415", "⏰ call Luis"),
    ("[Done]", "Done: “call Luis”"),
    ("+120", "Is it done? “I promised to call Marta on Sunday”"),
    ("[Done]", "is done"),
    ("/reminders", "nothing to remind you of"),
)
DAY_ES: Sequence[Step] = (
    ("recuérdame mañana a las 8 llamar a Luis", "«llamar a Luis»: mañana, domingo 15 de febrero, 8:00"),
    ("pásalo al lunes", "«llamar a Luis»: lunes 16 de febrero, 8:00"),
    ("recuérdame comprar pan", "¿Cuándo te recuerdo «comprar pan»?"),
    ("[En 1 hora]", "hoy, sábado 14 de febrero, 16:30"),
    ("+61", "⏰ comprar pan"),
    ("[En 10 min]", "otra vez «comprar pan»: hoy, sábado 14 de febrero, 16:41"),
    ("+11", "⏰ comprar pan"),
    ("hecho", "Hecho: «comprar pan»"),
    ("prometí llamar a Marta el domingo", "Lo recordaré"),
    ("/ajustes mañana 8:30", "lo que trae tu día: 08:30"),
    ("restart", ""),
    ("¿qué recordatorios tengo?", "lunes 16 de febrero, 8:00: llamar a Luis"),
    ("+951", "Buenos días. Este es tu día:\n**Hoy, domingo 15 de febrero**\n- «prometí llamar a Marta el domingo»"),
    ("+1415", "⏰ llamar a Luis"),
    ("[Hecho]", "Hecho: «llamar a Luis»"),
    ("+120", "¿Está hecho? «prometí llamar a Marta el domingo»"),
    ("[Hecho]", "está hecho"),
    ("/recordatorios", "No tengo nada que recordarte"),
)


def scene(folder: Path, clock: EagerClock, replies: Sequence[str] = (), **more: Any) -> Scene:
    """Make a bot in Madrid, without a model where it is given no replies."""
    provider = None if replies else offline(folder, clock)
    return Scene(folder, replies, provider=provider, clock=clock, environ=_MADRID, extraction=not replies, **more)


async def step(house: Scene, does: str) -> str:
    """Do what a step says; return what came of it."""
    before = len(house.texts)
    if does.startswith("+"):
        house.clock.advance(int(does[1:]) * 60)  # type: ignore[attr-defined]
        await house.app.reminders.tick()
        await house.app.build_overdue_asker().ask()
        await house.app.wait_drained()
        return "\n".join(house.texts[before:])
    return await (house.press(does[1:-1]) if does.startswith("[") else house.say(does))


def open_house(house: Scene) -> Scene:
    """Let the channel of a scene have buttons."""
    house.channel.capabilities = Capabilities(buttons=True, edits=True)
    return house


@pytest.mark.parametrize("day", [DAY_EN, DAY_ES], ids=["en", "es"])
async def test_a_day_with_reminders(tmp_path: Path, day: Sequence[Step]) -> None:
    """Set, moved, asked back, told, snoozed and done; a restart, the morning word, and a promise that comes due."""
    clock, number = EagerClock(), 0
    cut = [does for does, _ in day].index("restart")
    for steps in (day[:cut], day[cut + 1 :]):
        async with scene(tmp_path, clock) as house:
            open_house(house).channel.number = number
            for does, reads in steps:
                told = await step(house, does)
                assert reads in told, f"{does}: {told}"
            number = house.channel.number


async def test_an_order_makes_no_memory_and_asks_no_model(tmp_path: Path) -> None:
    """The command answers; other words with the same verb go to the model as ever."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        assert "8:00" in await house.say("remind me tomorrow at 8 to call Luis")
        assert house.requests == []
        assert await house.rows("SELECT count(*) FROM message") == [(0,)]
        assert await house.say("you remind me of my mother") == "Hm."
        assert await house.say("cancel the dinner on Friday") == "Hm."


async def test_of_two_that_fit_the_person_chooses(tmp_path: Path) -> None:
    """By its number or its own words, or by a button; without a channel's buttons as well."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        await house.say("remind me on Thursday at 10 about the dentist")
        await house.say("remind me on Friday at 12 about the dentist of Ana")
        asked = await house.say("cancel the dentist one")
        assert "1. Thursday 19 February, 10:00: the dentist\n2. Friday 20 February, 12:00: the dentist of Ana" in asked
        assert "“the dentist of Ana” any more" in await house.say("2")
        assert "10:00: the dentist" in await house.say("/reminders")
        assert "Friday 20 February, 9:00" in await house.say("move the dentist one to Friday at 9")
        assert "“the dentist” any more" in await house.say("cancel it")


async def test_a_reminder_is_named_by_its_number_in_the_list(tmp_path: Path) -> None:
    """To cancel, skip or move it, as `/reminders` shows the number; one that is not there is said to be none."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        await house.say("every Monday at 8 remind me of the bins")
        await house.say("remind me on Friday at 12 about the rent")
        assert "1. every Monday at 8:00 (next: Monday 16 February, 8:00): the bins" in await house.say("/reminders")
        assert "Monday 23 February" in await house.say("skip reminder 1")
        assert "viernes 20 de febrero, 9:00" in await house.say("mueve el recordatorio 1 a las 9")
        assert "“the rent” any more" in await house.say("Cancel reminder #1")
        assert "the bins" not in await house.say("cancel reminder 2")
        assert "the bins" in await house.say("/reminders")


async def test_a_reminder_is_named_by_its_ordinal(tmp_path: Path) -> None:
    """From the beginning of the list or its end, in orders and in answers; one that is not there is said to be none."""
    async with scene(tmp_path, EagerClock()) as house:
        for what, day in (("feed the hens", "Monday"), ("ring the vet", "Tuesday"), ("post the parcel", "Wednesday")):
            await house.say(f"remind me on {day} at 10 to {what}")
        assert "“ring the vet”: Friday" in await house.say("move the second reminder to Friday")
        assert "«ring the vet»" in await house.say("cancela el último recordatorio")
        assert "“feed the hens”" in await house.say("delete the first one")
        assert "no such reminder" in await house.say("cancel the fourth")
        await house.say("remind me to feed the hens on Sunday at 9")
        assert "1. " in await house.say("cancel my reminders")
        assert "“post the parcel”" in await house.say("the second one")


async def test_a_reminder_without_words_is_asked_for_them(tmp_path: Path) -> None:
    """The next message has them; a yes takes what was said last, a question or another fact is no answer."""
    async with scene(tmp_path, EagerClock()) as house:
        assert "What shall I remind you of (Friday 20 February)?" in await house.say("remind me on Friday")
        assert "“prune the vine”: Friday 20 February, 9:00" in await house.say("to prune the vine")
        await house.say("I must hand in the form")
        assert "Say yes if it is “I must hand in the form”" in await house.say("remind me tomorrow at 7")
        assert "“I must hand in the form”: tomorrow" in await house.say("yes")
        assert "¿Qué te recuerdo" in await house.say("recuérdame el martes a las 8")
        assert "Lo recordaré: «mi tía vive en Lugo»" in await house.say("mi tía vive en Lugo")
        await house.say("recuérdame el martes a las 8")
        assert "Lugo" in await house.say("¿dónde vive mi tía?")
        await house.say("recuérdame el martes a las 8")
        assert "lo dejo" in await house.say("no")
        assert "8:00" not in await house.say("/reminders")


async def test_all_are_cancelled_after_a_question(tmp_path: Path) -> None:
    """It shows them first, and each can be taken back."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        await house.say("recuérdame mañana a las 9 correr")
        await house.say("recuérdame mañana a las 10 leer")
        assert "¿Cuál quieres decir?" in await house.say("borra todos los recordatorios")
        assert "cancelados: 2" in await house.say("todos")
        assert "nada que recordarte" in await house.say("/recordatorios")


async def test_a_time_with_two_readings_is_asked_back(tmp_path: Path) -> None:
    """The half of the day, a number or a time settles it; a no leaves it."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        for answer, told in (("in the afternoon", "18:30"), ("1", "6:30"), ("at 7pm", "19:00"), ("no", "I leave it")):
            assert "Which do you mean" in await house.say("set an alarm for 6:30 tomorrow")
            assert told in await house.say(answer)
        assert "When shall I remind you" in await house.say("remind me to buy milk")
        assert "tomorrow, Sunday 15 February, 10:00" in await house.say("tomorrow at 10")


async def test_a_move_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    """A day keeps the hour, an hour the day and the half of it, a span both; also of what was just told."""
    clock = EagerClock()
    async with scene(tmp_path, clock, ["Hm."]) as house:
        await house.say("remind me tomorrow at 20:00 to sleep")
        assert "tomorrow, Sunday 15 February, 21:00" in await house.say("move it to 9")
        assert "Thursday 19 February, 21:00" in await house.say("move it to Thursday")
        assert "Thursday 19 February, 20:30" in await house.say("bring it forward half an hour")
        await house.say("remind me in 10 minutes to stretch")
        assert await step(house, "+11") == "⏰ stretch"
        assert "“stretch”: today, Saturday 14 February, 16:41" in await house.say("delay it by an hour")


async def test_every_change_can_be_taken_back(tmp_path: Path) -> None:
    """By the button below its confirmation."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        open_house(house)
        await house.say("remind me every Monday at 9 to take the bins out")
        assert "Monday 23 February" in await house.say("skip the next one")
        assert "Next: Monday 16 February" in await house.press("Undo")
        await house.say("cancel the bins one")
        assert "every Monday at 9:00" in await house.press("Undo")
        await house.say("remind me in 2 hours to stretch")
        assert "Undone" in await house.press("Undo")
        assert "stretch" not in await house.say("/reminders")


async def test_undo_takes_back_the_last_change_be_it_of_a_reminder_or_of_memory(tmp_path: Path) -> None:
    """Whichever is newer; a second time the one before."""
    clock = EagerClock()
    async with scene(tmp_path, clock, ["Hm."]) as house:
        await house.say("/remember I like tea")
        clock.advance(5)
        await house.say("remind me tomorrow at 8 to call Luis")
        await house.say("move it to Monday")
        assert "tomorrow, Sunday 15 February, 8:00" in await house.say("/undo")
        assert "I like tea" in await house.say("/undo")


async def test_an_edited_order_takes_the_place_of_the_first(tmp_path: Path) -> None:
    """One reminder stands, at the new hour."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        await house.say("remind me tomorrow at 8 to call Luis", platform_id="m1")
        told = await house.say("remind me tomorrow at 9 to call Luis", kind="edit", target="m1", platform_id="m1")
        assert "9:00" in told
        listed = await house.say("/reminders")
        assert ("9:00" in listed, "8:00" in listed) == (True, False)


async def test_a_reminder_of_a_group_names_who_asked(tmp_path: Path) -> None:
    """It is told there; another guest may not cancel it, the one who asked may. A guest's own are the guest's."""
    clock = EagerClock()
    group: dict[str, Any] = {"chat": "-7", "private": False}
    async with scene(tmp_path, clock, ["Hm."]) as house:
        told = await house.say("remind me in 10 minutes to call Bob", user="2", user_name="Bea", **group)
        assert told.startswith("Bea: I'll remind you of “call Bob”")
        assert "no such reminder" in await house.say("cancel the call Bob reminder", user="3", **group)
        assert "nothing to remind you of" in await house.say("/reminders")
        assert await step(house, "+11") == "⏰ Bea: call Bob"
        await house.say("remind me tomorrow at 8 to sleep", chat="2")
        assert "nothing to remind you of" in await house.say("/reminders")
        assert "sleep" in await house.say("/reminders", chat="2")


async def test_a_former_owner_is_told_nothing_any_more(tmp_path: Path) -> None:
    """Neither reminders nor the morning word: they wait until the present owner has written, and are told there."""
    clock = EagerClock()
    async with scene(tmp_path, clock, ["Hm."]) as house:
        await house.say("remind me in 10 minutes to call the clinic")
        await house.say("remind me every day at 16:00 to water the plants")
        await house.say("/settings morning 8:30")
    async with scene(tmp_path, clock, ["Hm."], owners=("2",)) as house:
        assert await step(house, "+11") == ""
        await house.say("hello", chat="2", user="2")
        before = len(house.channel.sent)
        told = await step(house, "+61")
        assert told.count("⏰") == 2 and "call the clinic\n(planned for 15:40; I could not tell you then)" in told
        assert "water the plants" in told
        await step(house, "+900")
        assert "Good morning" in await step(house, "+60")
        assert {each.chat for each in house.channel.sent[before:]} == {"2"}


@pytest.mark.parametrize("order", ["done", "remind me again in 20 minutes", "hecho"])
async def test_a_guest_of_a_group_cannot_settle_what_another_was_told(tmp_path: Path, order: str) -> None:
    """Neither by words nor as an order to be reminded again; who asked for it can, also when another's came behind."""
    clock = EagerClock()
    group: dict[str, Any] = {"chat": "-7", "private": False}
    async with scene(tmp_path, clock, ["Hm."]) as house:
        await house.say("remind me in 10 minutes to call Bob", user="2", user_name="Bea", **group)
        assert await step(house, "+11") == "⏰ Bea: call Bob"
        told = await house.say(order, user="3", user_name="Carl", **group)
        assert "call Bob" not in told
        assert await house.rows("SELECT state FROM occurrence") == [("sent",)]
        await house.say("remind me in 10 minutes to eat", user="3", user_name="Carl", **group)
        assert await step(house, "+11") == "⏰ Carl: eat"
        assert "call Bob" in await house.say(order, user="2", user_name="Bea", **group)
        (first, second) = await house.rows("SELECT state FROM occurrence WHERE told_at != '' ORDER BY id")
        assert first != ("sent",) and second == ("sent",)


async def test_a_forwarded_order_is_not_obeyed(tmp_path: Path) -> None:
    """It is something to read."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        assert await house.say("remind me tomorrow at 8 to pay", forwarded=True) == "Hm."
        assert "nothing to remind you of" in await house.say("/reminders")


async def test_a_standing_wish_is_told_once_a_day_and_three_times(tmp_path: Path) -> None:
    """When the owner's message has its words, in whatever form; it is listed and cancelled like a reminder."""
    clock = EagerClock()
    async with scene(tmp_path, clock, ["Hm."]) as house:
        assert "“call Marta”" in await house.say("when I mention the boiler, remind me to call Marta")
        assert "when you mention “the boiler”: call Marta" in await house.say("/reminders")
        for told in (True, False):
            assert ("call Marta" in await house.say("the boilers are loud again")) is told
        assert await house.say("the radiator is loud") == "Hm."
        for told in (True, True, False):
            clock.advance(25 * 3600)
            assert ("call Marta" in await house.say("that boiler!")) is told
        await house.say("si hablo de Lisboa, recuérdame el pasaporte")
        assert "Lisboa" in await house.say("cancela el del pasaporte")
        assert "solo lo puedo guardar para mi dueño" in await house.say("si hablo de Roma, recuérdame X", chat="2")


async def test_local_times_follow_the_owner_to_another_zone_on_a_yes(tmp_path: Path) -> None:
    """What was set to an hour moves, what was counted or is a guest's does not; the message is remembered."""
    async with scene(tmp_path, EagerClock()) as house:
        await house.say("recuérdame mañana a las 20 llamar a Luis")
        asked = await house.say("estoy en México hasta el 20")
        assert "Lo recordaré: «estoy en México hasta el 20»" in asked
        assert "las de México hasta el viernes 20 de febrero? Allí son las 8:30" in asked
        assert "America/Mexico_City" in await house.say("sí")
        assert "mañana, domingo 15 de febrero, 20:00" in await house.say("/recordatorios")
        due = await house.rows("SELECT next_due FROM job")
        assert due == [(datetime.fromisoformat("2026-02-16T02:00:00+00:00").isoformat(),)]
        guests = await house.say("recuérdame mañana a las 20 la basura", chat="2")
        assert "mañana, domingo 15 de febrero, 20:00." in guests and "Mexico" not in guests
        due = await house.rows("SELECT next_due FROM job WHERE person != 'owner'")
        assert due == [("2026-02-15T19:00:00+00:00",)]
        assert "Te guío" not in await house.say("estoy en casa")


async def test_an_order_among_sentences_adds_or_asks(tmp_path: Path) -> None:
    """Without a model: the message is remembered, and the day that it names belongs to the hour, if that is meant."""
    async with scene(tmp_path, EagerClock()) as house:
        told = await house.say("Mañana tengo dentista. Recuérdame llamar antes a las 9")
        assert "Lo recordaré" in told
        assert "1. Mañana, domingo 15 de febrero, 9:00\n2. Hoy, sábado 14 de febrero, 21:00" in told
        assert "«llamar antes»: mañana, domingo 15 de febrero, 9:00" in await house.say("1")
        assert "«Tengo que comprar pan»: hoy" in await house.say("Tengo que comprar pan. Recuérdamelo en 2 horas")


async def test_what_is_to_be_remembered_at_an_hour_is_offered_as_a_reminder(tmp_path: Path) -> None:
    """Without a model, beside the memory: a yes sets it, anything else leaves it."""
    async with scene(tmp_path, EagerClock()) as house:
        assert "«llamar a Luis»: mañana, domingo 15 de febrero, 8:00?" in await house.say(
            "recuerda llamar a Luis mañana a las 8"
        )
        assert "Te recordaré «llamar a Luis»" in await house.say("sí")
        assert "?" not in await house.say("recuerda que mañana tengo dentista a las 10")


@pytest.mark.parametrize(
    ("text", "offers"),
    [
        ("/recuerda mañana a las 8 llamar a Luis", True),
        ("/remember call Luis tomorrow at 8", True),
        ("/remember I like tea at 5", False),
        ("/recuerda mi mujer nació el lunes a las 8", False),
        ("/remember the code is 4471", False),
    ],
)
async def test_a_deed_that_is_kept_by_command_is_offered_as_a_reminder(tmp_path: Path, text: str, offers: bool) -> None:
    """It is kept as ever; what names no deed or no hour is not asked about."""
    async with scene(tmp_path, EagerClock(), ["Hm."]) as house:
        told = await house.say(text)
        assert told.startswith("✓")
        assert ("?" in told) is offers
        assert ("call Luis" in await house.say("yes")) is (offers and text.startswith("/remember"))
