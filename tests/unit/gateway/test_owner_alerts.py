"""What needs the owner's eye reaches them: in their private chat and language, once an hour, disk or no disk."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest

from kenobot.core.bus import Bus
from kenobot.core.i18n import Language
from kenobot.core.quiet_hours import QuietHours
from kenobot.core.redaction import Redactor
from kenobot.gateway.access import Access, Roster
from kenobot.gateway.bot_messages import BotMessenger
from kenobot.gateway.delivery import Delivery
from kenobot.gateway.kept_notices import KeptNotice, keep_notice, load_notices
from kenobot.gateway.owner_alerts import OwnerAlerts
from kenobot.gateway.personal_settings import PersonalSettings
from kenobot.ports.channel import Capabilities
from kenobot.ports.errors import Rejected, StoreError
from kenobot.ports.messages import Inbound, MessagePart
from kenobot.ports.sentences import Sentence
from kenobot.ports.signals import (
    BUDGET_NEAR,
    HEALTH_DEGRADED,
    MESSAGE_DEAD_LETTERED,
    MESSAGE_FAILED,
    MESSAGE_IN,
    MESSAGE_QUARANTINED,
    MESSAGE_STORE_FAILED,
    PAIRING_REQUESTED,
    PayloadValue,
    Signal,
)
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.outbox import Destination, Outbox, enqueue
from kenobot_testing.clock import START, EagerClock
from kenobot_testing.fake_channel import FakeChannel
from tests.samples import inbound, rows
from tests.scene import Scene

SECRET = "very-secret-value-1"


class House:
    """Notices with a real outbox and delivery; `tell` fires a signal and returns what was sent because of it."""

    def __init__(
        self,
        database: Database,
        language: Language | None = None,
        clock: EagerClock | None = None,
        quiet: QuietHours | None = None,
    ) -> None:
        self.database = database
        self.clock = clock or EagerClock()
        self.bus = Bus(self.clock)
        self.channel, self.other = FakeChannel(), FakeChannel("other")
        channels = {channel.name: channel for channel in (self.channel, self.other)}
        self.inbox = Inbox(database, self.clock)
        self.delivery = Delivery(channels, Outbox(database, self.clock), self.bus, self.clock, Random(1))
        self.notices = OwnerAlerts(
            database,
            self.clock,
            BotMessenger(database, self.clock, channels, self.delivery),
            Access({name: Roster.of(["owner"]) for name in channels}),
            Redactor([SECRET]),
            language,
            personal=PersonalSettings(database, quiet=quiet),
        )
        self.notices.attach(self.bus)
        self._number = 0

    async def hear(self, text: str, **more: object) -> None:
        """Somebody writes; the owner in private, unless told otherwise."""
        self._number += 1
        self.clock.advance(1)
        given: dict[str, object] = {"user": "owner", "chat": "home"} | more
        message: Inbound = inbound(text, f"n{self._number}", **given)  # type: ignore[arg-type]
        await self.inbox.store(message, "t")

    async def tell(self, signal: Signal, **payload: PayloadValue) -> list[str]:
        before = len(self.channel.sent)
        await self.bus.emit(signal, "test", "t", **payload)
        await self.settle()
        return self.channel.texts[before:]

    async def settle(self) -> None:
        await self.bus.drain()
        await self.notices.under_way.wait_idle()
        await self.delivery.queue.wait_idle()

    async def close(self) -> None:
        await self.notices.under_way.stop()
        await self.delivery.queue.stop(1)
        await self.bus.close()


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    """A house whose owner has written in private, in English."""
    made = House(database)
    await made.hear("hello, what is the time?")
    yield made
    await made.close()


async def test_in_quiet_hours_an_alert_waits_until_they_are_over(database: Database) -> None:
    """Also across a restart; an answer to the same chat does not wait behind it."""
    begin = START.time()
    quiet = QuietHours(begin, (START + timedelta(hours=8)).time(), ZoneInfo("UTC"))
    house = House(database, quiet=quiet)
    await house.hear("hello")
    assert await house.tell(MESSAGE_QUARANTINED, channel="telegram", reason="no") == []
    letter = Destination(house.channel.name, "home", "t")
    write = partial(enqueue, letter=letter, parts=[MessagePart("an answer")], at=house.clock.now())
    house.delivery.dispatch(await database.write(write))
    await house.settle()
    assert house.channel.texts == ["an answer"]
    await house.delivery.sweep()
    await house.settle()
    assert house.channel.texts == ["an answer"]
    await house.close()
    house.clock.advance(8 * 3600)
    later = House(database, clock=house.clock, quiet=quiet)
    await later.delivery.sweep()
    await later.settle()
    assert len(later.channel.texts) == 1
    await later.close()


async def test_a_budget_names_its_purpose_in_the_owners_language(database: Database) -> None:
    """In words, as `/cost` does."""
    of: dict[str, PayloadValue] = {"when": "2026-02-14", "spent": "$0.80", "budget": "$1.00", "percent": 80}
    house = House(database, "es")
    await house.hear("hello")
    (told,) = await house.tell(BUDGET_NEAR, **of, purpose="queries")
    assert "presupuesto para modelos de 2026-02-14 (más consultas a la memoria)" in told
    (told,) = await house.tell(BUDGET_NEAR, **of, purpose="")
    assert "2026-02-14:" in told
    await house.close()


def fill(connection: Connection) -> None:
    """Leave no room for another page."""
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}").fetchall()


def _put(key: str, value: str, connection: Connection) -> None:
    connection.execute("INSERT INTO key_value VALUES (?, ?)", (key, value))


@contextlib.asynccontextmanager
async def full(database: Database) -> AsyncIterator[None]:
    """A disk without room: SQLite's own refusal, at the very next write."""
    await database.write(fill)
    for size in (100_000, 2000, 500, 100, 50, 20):  # use up what is free in the last pages
        for number in range(20):
            with contextlib.suppress(StoreError):
                await database.write(partial(_put, f"filler {size} {number}", "x" * size))
    yield
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchall())


CASES: list[tuple[Signal, dict[str, PayloadValue], str, str]] = [
    (
        HEALTH_DEGRADED,
        {"reason": Sentence("channels.keeps_failing", name="fake")},
        "channel fake keeps failing",
        "falla una y otra vez",
    ),
    (MESSAGE_QUARANTINED, {"channel": "fake", "reason": "odd"}, "cannot read (fake)", "no puedo leer (fake)"),
    (MESSAGE_DEAD_LETTERED, {"channel": "fake", "chat": "2"}, "have stopped trying", "he dejado de intentarlo"),
    (MESSAGE_FAILED, {"channel": "fake", "chat": "2", "part": 1}, "could not be delivered", "No se ha podido entregar"),
    (PAIRING_REQUESTED, {"channel": "fake", "user": "9", "name": "Ana"}, "Ana would like", "Ana quiere hablar"),
    (
        MESSAGE_STORE_FAILED,
        {"channel": "other", "chat": "2", "session": "x"},
        "I cannot save anything",
        "No puedo guardar",
    ),
]


@pytest.mark.parametrize(("signal", "payload", "english", "spanish"), CASES, ids=[case[0].name for case in CASES])
async def test_the_owner_is_told_in_their_language(
    database: Database, signal: Signal, payload: dict[str, PayloadValue], english: str, spanish: str
) -> None:
    """In the private chat in which they wrote last; the next hour may tell again."""
    house = House(database)
    await house.hear("what is the time, please?")
    [text] = await house.tell(signal, **payload)
    assert english in text
    assert house.channel.sent[-1].chat == "home"
    for word in ("¿qué hora es?", "gracias"):
        await house.hear(word, chat="casa")
    assert await house.tell(signal, **payload) == []
    house.clock.advance(3601)
    [text] = await house.tell(signal, **payload)
    assert spanish in text
    assert house.channel.sent[-1].chat == "casa"
    await house.close()


async def test_reactions_and_presses_are_of_no_language(database: Database) -> None:
    """A row of them leaves the owner's language what it is."""
    house = House(database)
    await house.hear("¿qué hora es?")
    pressed = inbound("", "", user="owner", chat="home")
    for number in range(3):
        await house.inbox.store(replace(pressed, kind="reaction", external_id=f"r{number}"), "t")
        await house.inbox.store(replace(pressed, kind="action", external_id=f"a{number}"), "t")
    [text] = await house.tell(MESSAGE_DEAD_LETTERED, channel="fake", chat="2")
    assert "he dejado de intentarlo" in text
    await house.close()


async def test_a_restart_does_not_tell_it_again(house: House) -> None:
    """What was said within the hour stands in the database."""
    assert len(await house.tell(MESSAGE_DEAD_LETTERED)) == 1
    house.clock.advance(600)
    again = House(house.database, clock=house.clock)
    assert await again.tell(MESSAGE_DEAD_LETTERED) == []
    assert len(await again.tell(HEALTH_DEGRADED, reason="another thing")) == 1
    await again.close()


async def test_a_clock_that_went_back_silences_nobody(house: House) -> None:
    """What was told in the future does not count."""
    house.clock.advance(days=400)
    await house.tell(MESSAGE_DEAD_LETTERED)
    back = House(house.database, clock=EagerClock(START))
    assert len(await back.tell(MESSAGE_DEAD_LETTERED)) == 1
    await back.close()


async def test_a_storm_of_different_problems_is_a_few_notices(house: House) -> None:
    """Twenty an hour, then silence until the hour is over."""
    for number in range(60):
        await house.bus.emit(HEALTH_DEGRADED, "test", "", reason=f"problem {number}")
    await house.settle()
    assert len(house.channel.sent) == 20
    [(kept,)] = await rows(house.database, "SELECT value FROM key_value WHERE key = 'notices:told'")
    assert len(json.loads(str(kept))) == 20
    house.clock.advance(3601)
    assert len(await house.tell(HEALTH_DEGRADED, reason="problem 0")) == 1
    [(kept,)] = await rows(house.database, "SELECT value FROM key_value WHERE key = 'notices:told'")
    assert len(json.loads(str(kept))) == 1


async def test_only_the_owners_own_private_words_say_where_they_are(house: House) -> None:
    """Not a group, not a guest, not what they forwarded, not what was turned away at the door."""
    await house.hear("hola a todos", chat="group", private=False)
    await house.hear("hola, soy otro", chat="guest", user="guest")
    await house.hear("hola, esto es de otro", forwarded=True, chat="elsewhere")
    await house.inbox.store(inbound("hola", "dropped", chat="dropped", user="owner"), "t", drop_reason="no room")
    [text] = await house.tell(MESSAGE_DEAD_LETTERED)
    assert (house.channel.sent[-1].chat, "could not answer" in text) == ("home", True)


async def test_the_owner_is_found_after_their_messages_have_left_the_inbox(house: House) -> None:
    """Housekeeping keeps the chat and the language, and forgets them when the account is not the owner's any more."""
    await house.hear("¿qué hora es, por favor?", chat="casa")
    await house.notices.save_owner_chat()
    await house.database.write(lambda connection: connection.execute("DELETE FROM inbox"))
    again = House(house.database, clock=house.clock)
    [text] = await again.tell(MESSAGE_DEAD_LETTERED)
    assert ("No he podido" in text, again.channel.sent[-1].chat) == (True, "casa")
    again.clock.advance(3601)
    again.notices._access = Access({})
    assert await again.tell(MESSAGE_DEAD_LETTERED) == []
    await again.close()


@pytest.mark.parametrize("value", ["{", "[]", '{"fake": 3}', '{"fake": {"chat": 1}}', '"x"', "null"])
async def test_damaged_notes_harm_nobody(house: House, value: str) -> None:
    """They are read as if there were none."""
    await house.database.write(
        lambda connection: connection.executemany(
            "INSERT INTO key_value VALUES (?, ?)", [("notices:told", value), ("notices:homes", value)]
        )
    )
    assert len(await house.tell(MESSAGE_DEAD_LETTERED)) == 1


async def test_an_alert_waits_for_an_owner_who_wrote_nowhere(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Also across a restart: they are told all of it in its order, with its time, once, when they first write."""
    house = House(database)
    assert await house.tell(MESSAGE_QUARANTINED, channel="other", reason="no") == []
    assert "kept until the owner writes in private" in caplog.text
    await house.close()
    house = House(database)
    await house.notices.send_kept()
    assert await house.tell(PAIRING_REQUESTED, channel="telegram", user="9", name="Bo", code="1234", chat="9") == []
    await house.hear("hello?", user="bob", chat="bobs")
    await house.bus.emit(MESSAGE_IN, "test", "t", channel="fake", user="bob")
    await house.hear("hola, ¿qué tal estás hoy?")
    assert [text[:19] for text in await house.tell(MESSAGE_IN, channel="fake", user="owner")] == [
        "Desde el 2026-02-14",
        "Desde el 2026-02-14",
    ]
    assert "Bo" in house.channel.texts[1]
    assert await house.tell(MESSAGE_IN, channel="fake", user="owner") == []
    assert not (await house.tell(MESSAGE_DEAD_LETTERED))[0].startswith("Desde")
    await house.close()


async def test_few_alerts_wait_the_newest_of_a_subject(database: Database) -> None:
    """However long the owner does not write; what cannot be read is left out."""
    house = House(database)
    for number in range(30):
        at = START + timedelta(minutes=number)
        notice = KeptNotice(f"s{number % 25}", MESSAGE_DEAD_LETTERED, {"channel": str(number)}, "t", at)
        await database.write(partial(keep_notice, notice=notice))
    kept = await database.read(load_notices)
    assert [each.payload["channel"] for each in kept] == [*map(str, range(10, 30))]
    damaged = json.dumps([1, {}, {"subject": "a", "signal": "none", "payload": {}, "trace": "", "at": "x"}])
    await database.write(lambda c: c.execute("UPDATE key_value SET value = ? WHERE key = 'notices:kept'", (damaged,)))
    assert await database.read(load_notices) == []
    await house.close()


async def test_a_channel_of_programs_is_the_last_place_to_alert_in(database: Database) -> None:
    """Where people write comes first, unless it is broken; the chat that such a channel names comes before others."""
    house = House(database)
    house.other.capabilities = Capabilities(keeps_answers=True)
    await house.hear("run the report", channel="other", chat="cron")
    await house.tell(MESSAGE_QUARANTINED, channel="a", reason="no")
    assert house.notices.find_language() == "en"
    assert await database.read(lambda connection: house.notices.reach_owner(connection, START)) is None
    house.other.capabilities = Capabilities(keeps_answers=True, owner_chat="window")
    await house.tell(MESSAGE_QUARANTINED, channel="b", reason="no")
    found = await database.read(lambda connection: house.notices.reach_owner(connection, START))
    assert found is not None
    assert found.chat == "window"
    await house.hear("hello")
    await house.hear("run it again", channel="other", chat="cron")
    await house.tell(MESSAGE_QUARANTINED, channel="c", reason="no")
    await house.tell(MESSAGE_QUARANTINED, channel="fake", reason="no")
    assert [part.chat for part in house.other.sent] == ["cron", "window", "window"]
    assert [part.chat for part in house.channel.sent] == ["home"]
    await house.close()


async def test_the_language_that_was_set_wins(database: Database) -> None:
    """Whatever the owner writes in."""
    house = House(database, language="es")
    await house.hear("what is the time, please?")
    [text] = await house.tell(MESSAGE_DEAD_LETTERED)
    assert "No he podido responder" in text
    await house.close()


async def test_a_notice_that_cannot_reach_the_owner_is_no_reason_for_another(house: House) -> None:
    """A part for the owner's own chat that failed is left to `kenobot deadletter`."""
    house.channel.fail_next(Rejected("blocked"))
    assert await house.tell(MESSAGE_DEAD_LETTERED) == []
    assert await house.tell(MESSAGE_FAILED, channel="fake", chat="home", part=1) == []
    assert await rows(house.database, "SELECT state FROM outbox") == [("dead",)]


@pytest.mark.parametrize("name", ["[Ana](https://evil.example) ", "Ana\n\nhttps://evil.example", f"Ana {SECRET}"])
async def test_what_a_stranger_calls_themselves_carries_nothing(house: House, name: str) -> None:
    """No address to tap, no formatting, no lines of their own."""
    [text] = await house.tell(PAIRING_REQUESTED, channel="fake", user="9", name=name)
    assert "Ana" in text
    assert "://" not in text and "](" not in text and "\n" not in text


async def test_no_secret_leaves_by_a_notice(house: House) -> None:
    """What a plugin reports is looked through like everything else."""
    [text] = await house.tell(HEALTH_DEGRADED, reason=f"key {SECRET}\nwas refused" + "x" * 1000)
    assert SECRET not in text and "[secret] was refused" in text
    assert len(text) < 500


# ── a disk that fails ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_full_disk_is_told_without_the_disk(house: House) -> None:
    """The chat whose message waits and the owner, each once an hour; nothing goes by the outbox."""
    await house.notices.save_owner_chat()
    told: dict[str, PayloadValue] = {"channel": "other", "chat": "2", "session": "other-2"}
    async with full(house.database):
        with pytest.raises(StoreError):
            await house.hear("x" * 10_000)
        assert "I cannot save anything" in (await house.tell(MESSAGE_STORE_FAILED, **told))[0]
        assert await house.tell(MESSAGE_STORE_FAILED, **told) == []
        assert [(sent.chat, sent.part.text[:26]) for sent in house.other.sent] == [("2", "I cannot save your message")]
        house.clock.advance(3601)
        await house.tell(MESSAGE_STORE_FAILED, **told)
        assert (len(house.channel.sent), len(house.other.sent)) == (2, 2)
    assert await rows(house.database, "SELECT * FROM outbox") == []
    assert len(await house.tell(MESSAGE_DEAD_LETTERED)) == 1


async def test_the_owners_own_chat_hears_of_the_disk_once(house: House) -> None:
    """Who is told that their message waits need not be told why in another message."""
    async with full(house.database):
        assert len(await house.tell(MESSAGE_STORE_FAILED, channel="fake", chat="home", session="fake-home")) == 1


async def test_where_the_owner_is_can_be_kept_later(house: House) -> None:
    """A full disk does not stop housekeeping, nor the start that begins with it."""
    async with full(house.database):
        await house.notices.save_owner_chat()
    assert await rows(house.database, "SELECT 1 FROM key_value WHERE key = 'notices:homes'") == []
    await house.notices.save_owner_chat()
    assert await rows(house.database, "SELECT 1 FROM key_value WHERE key = 'notices:homes'") == [(1,)]


async def test_a_database_that_cannot_even_be_read_still_lets_the_owner_be_told(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what was known of them last."""
    await house.notices.save_owner_chat()

    async def fail(*_: object, **__: object) -> None:
        raise StoreError("gone")

    monkeypatch.setattr(house.database, "read", fail)
    monkeypatch.setattr(house.database, "write", fail)
    assert len(await house.tell(MESSAGE_DEAD_LETTERED)) == 1


async def test_a_channel_that_cannot_send_either_is_only_logged(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Notices never raise and never hang."""
    house.channel.fail_next(Rejected("blocked"))
    async with full(house.database):
        assert await house.tell(MESSAGE_DEAD_LETTERED) == []
        [text] = await house.tell(MESSAGE_STORE_FAILED, channel="unknown", chat="1", session="unknown-1")
        assert "I cannot save anything" in text
    assert "could not be sent: Rejected" in caplog.text


# ── the whole house ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_full_disk_under_a_whole_bot(tmp_path: Path) -> None:
    """It says so, keeps running, and when there is room again the platform's next try is answered."""
    async with Scene(tmp_path, ["Hi!"]) as scene:
        await scene.say("hola, ¿qué tal?")
        async with full(scene.app.database):
            with pytest.raises(StoreError):
                await scene.put("¿me oyes? " + "x" * 20_000)
            await scene.app.wait_drained()
        assert "no puedo guardar tu mensaje" in scene.texts[-1]
        assert await scene.app.loop(scene.inbounds[-1])
        await scene.app.wait_drained()
        assert scene.texts[-1] == "Hi!"


async def test_a_report_of_a_channel_reaches_the_owner_once_an_hour(tmp_path: Path) -> None:
    """From the sink of every channel, through the outbox, outside the conversation that the model sees."""
    async with Scene(tmp_path, ["Hi!"]) as scene:
        await scene.say("hello, what is the time?")
        for _ in range(3):
            await scene.app.loop.report("telegram", "Another program reads this bot's messages")
        await scene.app.wait_drained()
        assert [text for text in scene.texts if "Another program" in text] == scene.texts[1:]
        assert len(scene.texts) == 2
        await scene.say("and now?")
        assert "Another program" not in scene.requests[-1]


async def test_what_a_channel_cannot_read_is_told_with_the_place_to_look(tmp_path: Path) -> None:
    """A hundred of them are one notice, and none of what they said is in it."""
    async with Scene(tmp_path, ["Hi!"]) as scene:
        await scene.say("hello, what is the time?")
        for number in range(100):
            await scene.app.loop.dead_letter("telegram", f"odd-{number}", '{"text": "their words"}', "no valid chat")
        await scene.app.wait_drained()
        [notice] = scene.texts[1:]
        assert "cannot read (telegram). `kenobot deadletter list`" in notice
        assert await scene.rows("SELECT count(*) FROM inbox WHERE state = 'dead'") == [(100,)]


async def test_notices_stop_with_the_house(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs at a dead platform does not hold up the end."""
    begun = asyncio.Event()

    async def hang(*_: object) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    monkeypatch.setattr(house.channel, "send", hang)
    async with full(house.database):
        await house.bus.emit(MESSAGE_STORE_FAILED, "test", "", channel="fake", chat="2", session="fake-2")
        async with asyncio.timeout(60):
            await begun.wait()
            await house.notices.under_way.stop()
