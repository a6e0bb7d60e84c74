"""`/status` and `/sleep` tell in plain words how the bot is, and have memory tidied."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.agent.loop import ChatActivity
from kenobot.ports.channel import Capabilities
from kenobot.ports.messages import MessagePart
from kenobot.ports.signals import HEALTH_DEGRADED
from kenobot.storage import outbox
from kenobot.storage.mail_counts import count_mail
from kenobot.storage.outbox import Destination
from tests.scene import Scene


async def test_all_is_well(tmp_path: Path) -> None:
    """In either language, and without a model."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember likes tea")
        told = await scene.say("/status")
        assert told.startswith("I am up, and all is well.")
        assert "- I remember 1 note." in told
        assert "- I have not tidied my memory yet." in told
        assert "last answer" not in told
        await scene.say("hello there, my friend")
        scene.clock.advance(3 * 3600)  # type: ignore[attr-defined]
        assert "My last answer here: 3 hours ago." in await scene.say("/status")
        assert "Estoy en marcha y todo va bien." in await scene.say("/estado", chat="7")
        assert len(scene.requests) == 1


async def test_what_went_wrong_is_told_to_the_owner_alone(tmp_path: Path) -> None:
    """Of the last hour, each once, with what waits."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        for _ in range(2):
            await scene.app.bus.emit(HEALTH_DEGRADED, "fake", "", reason="the moon is in the way")
        await scene.app.bus.drain()
        await scene.app.audit.flush()
        await scene.app.inbox.dead_letter("fake", "9", "{}", "odd")
        told = await scene.say("/status")
        status, _, alert = told.partition("\nSince ")  # which waited for the owner to write
        assert status.count("the moon is in the way") == alert.count("the moon is in the way") == 1
        assert "Messages that I gave up: 1" in told
        assert "moon" not in await scene.say("/status", chat="2")
        scene.clock.advance(3700)  # type: ignore[attr-defined]
        assert "moon" not in await scene.say("/status")


async def test_what_waits_for_the_morning_is_no_trouble(tmp_path: Path) -> None:
    """An alert that quiet hours hold back counts as on its way only once they are over."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        now = scene.clock.now()
        later = Destination("telegram", "1", not_before=now + timedelta(hours=8))
        await scene.app.database.write(lambda c: outbox.enqueue(c, later, [MessagePart("good morning")], now))
        assert (await scene.say("/status")).startswith("I am up, and all is well.")
        morning = now + timedelta(hours=9)
        assert (await scene.app.database.read(lambda c: count_mail(c, morning))).undelivered == 1


async def test_memory_is_tidied_when_the_owner_says_so(tmp_path: Path) -> None:
    """Also where no night is scheduled; then it tells when that was, and a guest may not."""
    async with Scene(tmp_path, ["Hm."], environ={"KENOBOT_SLEEP__ENABLED": "false"}) as scene:
        scene.channel.capabilities = Capabilities(buttons=True, edits=True)
        await scene.say("/remember likes tea")
        assert "not tidied" in await scene.say("/sleep")
        assert "I begin to tidy" in await scene.press("Tidy it now")
        await scene.app.background.sleep_worker.wait_idle()
        await scene.app.background.sleep_worker.wait_requested()
        assert "I last tidied my memory" in await scene.say("/sleep")
        assert await scene.rows("SELECT cause, state FROM sleep_run") == [("request", "finished")]
        assert await scene.say("/sleep now", chat="2") == "Hm."
        assert await scene.rows("SELECT count(*) FROM sleep_run") == [(1,)]


@pytest.mark.parametrize("wish", ["now", "ahora"])
async def test_a_night_that_was_asked_for_outlives_a_restart(tmp_path: Path, wish: str) -> None:
    """It begins with the first look of the next run, once."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.app.background.sleep_worker.note_command = lambda changes: None  # type: ignore[method-assign]
        await scene.say(f"/sleep {wish}")
        number = scene.channel.number
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.channel.number = number
        for _ in range(2):
            await scene.app.background.sleep_worker.tick()
            await scene.app.background.sleep_worker.wait_idle()
        assert await scene.rows("SELECT cause, state FROM sleep_run") == [("request", "finished")]


async def test_a_guest_learns_of_their_own_chat_alone(tmp_path: Path) -> None:
    """Neither what is wrong, nor how many messages of others wait; the owner sees which chat is at what."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("hello there, my friend", chat="2")
        later = Destination("telegram", "1")
        now = scene.clock.now()
        scene.app.delivery.sweep = lambda: asyncio.sleep(0)  # type: ignore[method-assign]
        await scene.app.database.write(lambda c: outbox.enqueue(c, later, [MessagePart("stuck")], now))
        thinking = ChatActivity("telegram-9", "thinking", now - timedelta(minutes=12), 3)
        scene.app.loop.activity = lambda: [thinking]  # type: ignore[method-assign]
        told = await scene.say("/status", chat="2")
        assert told.startswith("I am up, and all is well.")
        assert "telegram-9" not in told
        assert "- It took 0.0 s: waiting 0.0, memory 0.0, model 0.0, delivery 0.0." in told
        told = await scene.say("/status")
        assert "In telegram-9 I have been thinking for 12 minutes; messages behind that one: 3." in told
        assert not told.startswith("I am up, and all is well.")
