"""The day on which something is due: counted from the day of its person, and kept by what puts other words right."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kenobot.cognitive.memory import AdmitContext, Promises
from kenobot.ports.provider import Provider
from kenobot.storage.connection import Connection
from kenobot_testing.clock import EagerClock
from tests.integration.memory.test_offline_voice import offline
from tests.scene import Scene
from tests.unit.cognitive.background.extraction_talk import Minds, facts, tick

DAYS = (
    "SELECT text, json_extract(attributes, '$.due') FROM record "
    "WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id"
)
NEW_DAY = "I have a dentist appointment on Thursday at 10"


def home(folder: Path, at: str, zone: str = "UTC", provider: Provider | None = None, asks: int = 5) -> Scene:
    """A bot of an owner in a zone. at: the moment, in UTC. asks: questions of a day."""
    clock = EagerClock(datetime.fromisoformat(at).replace(tzinfo=UTC))
    who = provider or offline(folder, clock)
    environ = {"KENOBOT_BOT__TIMEZONE": zone, "KENOBOT_MEMORY__ASK_CHANGES": asks}
    return Scene(folder, provider=who, clock=clock, extraction=True, environ=environ)


@pytest.mark.parametrize(
    ("zone", "at", "text", "due"),
    [
        ("America/Mexico_City", "2026-02-15T02:00", "Call the bank tomorrow", "2026-02-15"),
        ("America/Mexico_City", "2026-02-15T02:00", "Llamar al banco mañana", "2026-02-15"),
        ("Pacific/Honolulu", "2026-02-14T09:30", "Llamar al banco el sábado", "2026-02-14"),
        ("Asia/Tokyo", "2026-02-14T16:00", "Call the bank tomorrow", "2026-02-16"),
        ("Pacific/Auckland", "2026-02-14T14:30", "Llamar al banco el domingo", "2026-02-22"),
        ("Europe/Madrid", "2026-03-28T23:30", "Llamar al banco mañana", "2026-03-30"),
        ("America/New_York", "2026-11-02T03:30", "Call the bank tomorrow", "2026-11-02"),
        ("UTC", "2026-02-14T14:30", "Call the bank on Friday", "2026-02-20"),
    ],
)
async def test_a_day_is_counted_from_the_day_where_the_owner_is(
    tmp_path: Path, zone: str, at: str, text: str, due: str
) -> None:
    """A promise that a model read without its day has the one that its words name there, whatever day it is in UTC."""
    minds = Minds(lambda _: facts({"text": text, "category": "commitment", "confidence": 0.95}))
    async with home(tmp_path, at, zone, minds) as scene:
        await scene.say(f"I must {text}")
        scene.clock.advance(3600)  # type: ignore[attr-defined]
        await tick(scene)
        assert (text, due) in await scene.rows(DAYS)


@pytest.mark.parametrize(
    ("zone", "told", "put_right"),
    [
        ("UTC", "I have to call Ana on Friday", "I have to call Ana López on Friday"),
        ("America/Mexico_City", "I have to call Ana tomorrow", "I have to call Ana López tomorrow"),
        ("Pacific/Auckland", "Tengo que llamar a Ana el viernes", "Tengo que llamar a Ana López el viernes"),
        ("Asia/Tokyo", "Tengo que llamar a Ana pasado mañana", "Tengo que llamar a Ana López pasado mañana"),
        ("America/Los_Angeles", "Tengo médico el jueves a las 10", "Tengo médico con Ruiz a las 10"),
        ("Europe/Madrid", NEW_DAY, "dentist appointment at 6 with Dr Ruiz"),
    ],
)
@pytest.mark.parametrize("door", ["command", "log", "record file"])
async def test_other_words_keep_the_day(tmp_path: Path, zone: str, told: str, put_right: str, door: str) -> None:
    """Put right six days later, in the same words for the day or in none, it is due when it was."""
    async with home(tmp_path, "2026-02-14T20:30", zone) as scene:
        await scene.say(told)
        [(_, due)] = await scene.rows(DAYS)
        assert due is not None
        scene.clock.advance(days=6)  # type: ignore[attr-defined]
        if door == "command":
            await scene.say(f"/correct 1 {put_right}")
        else:
            await scene.app.memory_files.wait_caught_up()
            files = scene.home.memory.glob("2026-*.md" if door == "log" else "facts/2026-*/*.md")
            [file] = [each for each in files if told in each.read_text("utf-8")]
            file.write_text(file.read_text("utf-8").replace(told, put_right), "utf-8")
            await scene.app.memory_files.sync_in()
        assert await scene.rows(DAYS) == [(put_right, due)]


@pytest.mark.parametrize(
    ("told", "later", "put_right", "due"),
    [
        (NEW_DAY, 0, "I have a dentist appointment on Friday at 10", "2026-02-20"),
        ("I have to call Ana on Friday", 5, "I have to call Ana on Monday", "2026-02-23"),
        ("I have to call Ana on Friday", 1, "I have to call Ana tomorrow", "2026-02-16"),
        ("Tengo médico el jueves a las 10", 3, "Tengo médico pasado mañana a las 10", "2026-02-19"),
        ("Tengo médico el jueves a las 10", 0, "Tengo médico el 3 de marzo a las 10", "2026-03-03"),
        ("I promised Bea a cake", 2, "I promised Bea a cake for tomorrow", "2026-02-17"),
        ("My dentist appointment is soon", 0, "My dentist appointment is on Friday", "2026-02-20"),
        ("The meeting moved from Thursday to Friday", 0, "The meeting is on Thursday", "2026-02-19"),
        ("Tengo médico el jueves a las 10", 0, "Tengo médico el jueves, y el lunes me dijeron que fuera", "2026-02-19"),
        ("My sister was born on Friday 3 May 1985", 1, "My sister Ana was born on Friday 3 May 1985", None),
    ],
)
async def test_another_day_in_a_correction_is_the_new_one(
    tmp_path: Path, told: str, later: int, put_right: str, due: str | None
) -> None:
    """It is counted from the day of the correction, and the day that is not named any more goes with its words."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await scene.say(told)
        scene.clock.advance(days=later)  # type: ignore[attr-defined]
        await scene.say(f"/correct 1 {put_right}")
        assert await scene.rows(DAYS) == [(put_right, due)]


@pytest.mark.parametrize("zone", ["America/Mexico_City", "Asia/Tokyo"])
async def test_the_agenda_goes_on_listing_what_was_put_right(tmp_path: Path, zone: str) -> None:
    """On its day, in the new words."""
    async with home(tmp_path, "2026-02-14T14:30", zone) as scene:
        await scene.say("Tengo médico el jueves a las 10")
        await scene.say("/correct 1 médico a las 18:30 con el doctor Ruiz")
        assert await scene.say("¿qué tengo el jueves?") == (
            "**Jueves 19 de febrero**\n- «médico a las 18:30 con el doctor Ruiz»"
        )


async def test_what_is_done_stays_done_when_it_is_put_right(tmp_path: Path) -> None:
    """Other words for it do not open it again."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await scene.say("I have to call Ana on Friday")

        def resolve(connection: Connection) -> None:
            [record] = Promises.list_planned(connection, "2026-02-20", "2026-02-20", ("owner",))
            occasion = AdmitContext(scene.clock.now(), "2026-02-15", "owner")
            Promises.resolve(connection, record, "2026-02-15", occasion, "said")

        await scene.app.database.write(resolve)
        assert "Ana" not in await scene.say("what do I have to do?")
        await scene.say("/correct 1 I have to call Ana López")
        assert "Ana" not in await scene.say("what do I have to do?")


@pytest.mark.parametrize(
    ("told", "edited", "later", "due"),
    [
        ("Tengo médico el jueves a las 10", "Tengo médico el jueves a las 11", 5.5, "2026-02-19"),
        ("I have to call Ana on Friday", "I have to call Ana López on Friday", 6, "2026-02-20"),
        ("I have to call Ana tomorrow", "I have to call Ana López tomorrow", 3, "2026-02-15"),
        ("Tengo que llamar a Ana el viernes", "Tengo que llamar a Ana mañana", 3, "2026-02-18"),
        ("The heating oil comes on Friday", "The fuel oil comes on Friday", 6, "2026-02-20"),
    ],
)
async def test_an_edited_message_keeps_its_day(tmp_path: Path, told: str, edited: str, later: float, due: str) -> None:
    """Of the words that stay; those for another day count from the day of the edit."""
    async with home(tmp_path, "2026-02-14T14:30") as scene:
        await scene.say(told, platform_id="10")
        await scene.say("hello", platform_id="11")
        scene.clock.advance(days=later)  # type: ignore[attr-defined]
        await scene.say(edited, kind="edit", target="10", platform_id="10")
        assert await scene.rows(DAYS) == [(edited, due)]
