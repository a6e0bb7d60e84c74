"""`/settings`: each person's own language and drafts, which hold for what the bot says to them in private."""

from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.core.i18n import Language
from kenobot.gateway import personal_settings
from kenobot.gateway.personal_settings import PersonSettings
from kenobot.ports.channel import Capabilities
from kenobot.ports.signals import HEALTH_DEGRADED
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from tests.scene import Scene


async def test_a_person_chooses_the_language_of_the_bot(tmp_path: Path) -> None:
    """By a button or by words; it holds for commands, alerts and failures, whatever they write, and after a restart."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.channel.capabilities = Capabilities(buttons=True, edits=True)
        told = await scene.say("/settings")
        assert "- the language I speak to you: as you write" in told
        assert "- el idioma en que te hablo: español" in await scene.press("Spanish")
        assert "inglés" in scene.buttons
        assert "He aprendido que" in await scene.say("/remember I like tea with milk")
        await scene.app.bus.emit(HEALTH_DEGRADED, "fake", "", reason="the moon is in the way")
        await scene.app.wait_drained()
        assert scene.texts[-1].startswith("Échale un vistazo")
        number = scene.channel.number
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.channel.number = number
        assert "Estoy en marcha" in await scene.say("/status")
        assert "as you write" in (await scene.say("/settings language auto")) + (await scene.say("/settings"))
        assert "I am up" in await scene.say("/status and how are you doing")


async def test_the_owner_sets_quiet_hours(tmp_path: Path) -> None:
    """What the bot says of its own accord waits until they are over; answers do not. A guest is told nothing anyway."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("hello there, how are you?")
        now = scene.clock.now()
        hours = f"{now:%H:%M}-{now + timedelta(hours=2):%H:%M}"
        assert f"by myself: {hours}" in await scene.say(f"/settings quiet {hours}")
        await scene.app.bus.emit(HEALTH_DEGRADED, "fake", "", reason="the moon is in the way")
        await scene.app.bus.drain()
        await scene.app.owner_alerts.under_way.wait_idle()
        assert "moon" not in "".join(scene.texts)
        assert await scene.say("are you there?") == "Hm."
        assert "by myself: off" in await scene.say("/settings quiet off")
        await scene.app.bus.emit(HEALTH_DEGRADED, "fake", "", reason="the sun is in the way")
        await scene.app.wait_drained()
        assert "sun" in scene.texts[-1]
        assert "Write `/settings" in await scene.say("/settings quiet at night")
        assert "Write `/settings" in await scene.say("/settings quiet off", chat="2")
        assert "as configured" in await scene.say("/settings quiet auto")


async def test_it_is_nobody_elses_language(tmp_path: Path) -> None:
    """Neither another person's, nor that of a group in which they write."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/ajustes idioma es")
        assert "I am up" in await scene.say("/status", chat="2")
        assert "I am up" in await scene.say("/status", chat="-7", user="1", private=False)
        assert "Estoy en marcha" in await scene.say("/status")


async def test_drafts_are_shown_to_whoever_wants_them(tmp_path: Path) -> None:
    """What cannot be understood changes nothing."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        assert "Write `/settings language" in await scene.say("/settings colour blue")
        assert "while I write them: off" in await scene.say("/settings drafts off")
        assert scene.app.personal.of(scene.inbounds[-1]).drafts is False
        assert "while I write them: on" in await scene.say("/settings drafts on")
        assert await scene.rows("SELECT value FROM key_value WHERE key = 'settings:people'") == [("{}",)]


async def test_the_settings_of_many_take_a_bounded_place(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a group that is open to everybody anybody may set theirs; the newest stay."""
    monkeypatch.setattr(personal_settings, "_MOST", 3)

    def save(connection: Connection) -> list[Language | None]:
        for number in range(5):
            personal_settings.save_settings_of(connection, ("telegram", str(number)), PersonSettings("es"))
        return [
            personal_settings.load_settings_of(connection, ("telegram", str(number))).language for number in range(5)
        ]

    assert await database.write(save) == [None, None, "es", "es", "es"]


async def test_damaged_settings_are_those_of_everybody(tmp_path: Path) -> None:
    """They stop no start."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        damaged = '{"telegram 1": {"language": "xx"}, "telegram 2": 7}'
        await scene.app.database.write(
            lambda c: c.execute("INSERT INTO key_value VALUES ('settings:people', ?)", (damaged,))
        )
    async with Scene(tmp_path, ["Hm."]) as scene:
        assert "as you write" in await scene.say("/settings")
