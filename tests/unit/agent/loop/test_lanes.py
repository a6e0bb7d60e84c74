"""AgentLoop: order, parallelism, back-pressure."""

import asyncio
from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from kenobot.ports import sentences
from kenobot.ports.messages import Inbound
from kenobot.ports.signals import HEALTH_DEGRADED, MESSAGE_IN, Envelope
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from tests.samples import inbound
from tests.unit.agent.loop.house import House
from tests.waiting import until


async def test_a_message_gets_its_turn(house: House) -> None:
    """It is stored, rung for and handed over as it was written, with its trace."""
    heard: list[Envelope] = []

    async def receiver(envelope: Envelope) -> None:
        heard.append(envelope)

    house.bus.subscribe(MESSAGE_IN, receiver)
    assert await house.say("hello", 1)
    await house.loop.wait_idle()
    [turn] = house.turns
    assert turn.inbound == inbound("hello", 1)
    assert [(told.trace, told.payload["id"], told.payload["text"]) for told in heard] == [
        (turn.trace, turn.id, "hello")
    ]
    assert (house.loop.idle, house.loop.unfinished_count, await house.open_messages()) == (True, 0, 0)


async def test_a_message_is_stored_while_it_is_read_beforehand_and_queued_then(house: House) -> None:
    """What takes long to read is safe meanwhile, and its turn begins with it read; an error of that holds up none."""
    read = asyncio.Event()

    async def read_slowly() -> None:
        await read.wait()
        raise ValueError

    house.readings.append(read_slowly())
    said = asyncio.create_task(house.say("remind me", 1))
    async with asyncio.timeout(60):
        while not await house.open_messages():
            pass
    assert (house.turns, said.done()) == ([], False)
    read.set()
    assert await said
    await house.loop.wait_idle()
    assert house.texts() == ["remind me"]


async def test_held_turns_begin_at_the_start(house: House) -> None:
    """What lay there and what comes in meanwhile is stored and waits; then each message has one turn, in order."""
    assert await house.inbox.store(inbound("before", 1), "t") is not None
    await house.loop.hold()
    assert await house.say("during", 2)
    assert await house.say("during too", 3)
    await house.loop.sweep()
    assert (house.turns, await house.open_messages()) == ([], 3)
    await house.loop.start()
    await house.loop.wait_idle()
    assert [turn.inbound.text for turn in house.turns] == ["before", "during", "during too"]
    assert (house.loop.unfinished_count, await house.open_messages()) == (0, 0)


async def test_a_repeat_gets_no_second_turn(house: House) -> None:
    """The sink says so, and nothing is counted as waiting."""
    results = await asyncio.gather(*(house.say("hello", 1) for _ in range(5)))
    assert sorted(results) == [False] * 4 + [True]
    assert not await house.say("hello", 1)
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.unfinished_count) == (["hello"], 0)


async def test_another_message_under_a_known_id_is_taken_in_and_told(house: House) -> None:
    """As with the numbers of another bot in the same home; each of the two that comes again is recognised."""
    told: list[str] = []
    house.bus.wake_on(HEALTH_DEGRADED, lambda envelope: told.append(str(envelope.payload["reason"])))
    for words in ("one", "two", "one", "two", "three", "two"):
        await house.loop(inbound(words, 7))
    await house.loop.wait_idle()
    assert [pending.inbound.text for pending in house.turns] == ["one", "two", "three"]
    assert len(told) == 2
    assert all("another bot's token" in reason for reason in told)
    assert sentences.render(told[0], "es") != told[0]


async def test_a_message_that_a_newer_version_reads_otherwise_is_a_repeat(house: House) -> None:
    """A platform brings the last messages again after an update, of which this version reads more of the words.

    Another message has another id on the platform, writer, place or time.
    """
    told: list[str] = []
    house.bus.wake_on(HEALTH_DEGRADED, lambda envelope: told.append(str(envelope.payload["reason"])))
    before = replace(inbound("see here", 7), platform_id="40")
    now = replace(before, text="see here (https://example.org)")
    later = before.sent_at + timedelta(seconds=1)
    others = [
        replace(now, platform_id="41"),
        replace(now, user="2"),
        replace(now, thread="3"),
        replace(now, sent_at=later),
        replace(now, kind="edit"),
    ]
    taken = [await house.loop(each) for each in (before, now, before, now)]
    assert (taken, told) == ([True, False, False, False], [])
    assert all([await house.loop(other) for other in others])
    await house.loop.wait_idle()
    assert len(told) == len(others)


async def test_a_channel_that_names_the_turn_gives_each_id_once(house: House) -> None:
    """Another message under one is a repeat, and no sign of another bot."""
    told: list[str] = []
    house.bus.wake_on(HEALTH_DEGRADED, lambda envelope: told.append(str(envelope.payload["reason"])))
    taken = [await house.loop(replace(inbound(words, 7), trace=words)) for words in ("one", "two", "one")]
    await house.loop.wait_idle()
    assert (taken, house.texts(), told) == ([True, False, False], ["one"], [])


@pytest.mark.parametrize("seed", range(6))
async def test_a_chat_is_answered_in_strict_order_under_load(database: Database, seed: int) -> None:
    """Every message once, in the order it was stored, one at a time within its chat, however turns and arrivals mix."""
    house = House(database, parallel=4)
    rng = Random(seed)

    async def during(pending: PendingMessage) -> None:
        for _ in range(rng.choice([0, 0, 1, 5, 40])):
            await asyncio.sleep(0)
        if rng.random() < 0.2:
            await database.read(lambda connection: connection.execute("SELECT 1").fetchone())

    house.during = during

    async def person(chat: str) -> None:
        for number in range(60):
            await house.say(str(number), f"{chat} {number}", chat)
            for _ in range(rng.choice([0, 0, 0, 3, 30])):
                await asyncio.sleep(0)

    async def crowd(chat: str) -> None:
        await asyncio.gather(*(house.say(str(number), f"{chat} {number}", chat) for number in range(60)))

    await asyncio.gather(*(person(str(chat)) for chat in range(5)), crowd("crowd"))
    await house.loop.wait_idle()
    seen = defaultdict(list)
    for pending in house.turns:
        seen[pending.session].append(pending.id)
    assert all(ids == sorted(set(ids)) and len(ids) == 60 for ids in seen.values())
    assert len(seen) == 6
    assert (house.most_in_a_chat, house.most_at_once <= 4, house.loop.unfinished_count) == (1, True, 0)
    assert await house.open_messages() == 0
    await house.loop.stop(1)
    await house.bus.close()


async def test_chats_run_in_parallel_up_to_the_limit(database: Database) -> None:
    """A slow chat does not slow others, and no more turns than allowed run at once."""
    house = House(database, parallel=3)
    release = asyncio.Event()

    async def during(pending: PendingMessage) -> None:
        await release.wait()

    house.during = during
    for chat in range(5):
        await house.say("hello", chat, str(chat))
    await until(lambda: house.at_work.total() == 3)
    await house.bus.drain()
    assert house.most_at_once == 3
    release.set()
    await house.loop.wait_idle()
    assert (len(house.turns), house.most_at_once) == (5, 3)
    await house.bus.close()


async def test_what_comes_while_the_inbox_is_read_keeps_its_place(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that arrives during the read gets neither ahead of older ones nor answered twice nor lost."""
    for number in range(1, 4):
        await house.inbox.store(inbound(str(number), number), "trace")
    original, reads = house.inbox.load_pending_after, 0

    async def slow(session: str, after: int, limit: int) -> list[PendingMessage]:
        nonlocal reads
        reads += 1
        if reads == 1:
            await house.say("4", 4)
            await house.bus.drain()
        found = await original(session, after, limit)
        if reads == 1:
            await house.say("5", 5)
            await house.bus.drain()
        return found

    monkeypatch.setattr(house.inbox, "load_pending_after", slow)
    await house.loop.start()
    await house.loop.wait_idle()
    assert house.texts() == ["1", "2", "3", "4", "5"]
    assert (await house.open_messages(), house.loop.unfinished_count) == (0, 0)


async def test_what_comes_while_an_empty_inbox_is_read_is_not_lost(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lane looks again before it ends."""
    original, reads = house.inbox.load_pending_after, 0

    async def nothing_at_first(session: str, after: int, limit: int) -> list[PendingMessage]:
        nonlocal reads
        reads += 1
        if reads > 1:
            return await original(session, after, limit)
        found = await original(session, after, limit)
        await house.say("late", 1)
        await house.bus.drain()
        return found

    monkeypatch.setattr(house.inbox, "load_pending_after", nothing_at_first)
    house.loop._lanes.put("fake-1")
    await house.loop.wait_idle()
    assert house.texts() == ["late"]


async def test_what_was_read_before_its_doorbell_rang_gets_one_turn(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lane may find a message in the inbox that `accept` is still about to ring for."""
    stored, ring = asyncio.Event(), asyncio.Event()
    original = house.inbox.store

    async def late(message: Inbound, trace: str, **more: Any) -> PendingMessage | None:
        pending = await original(message, trace, **more)
        if message.text == "second":
            stored.set()
            await ring.wait()
        return pending

    async def during(pending: PendingMessage) -> None:
        if pending.inbound.text == "first":
            await stored.wait()
            house.loop._lanes.put("fake-1")
        if pending.inbound.text == "second":
            ring.set()
            await sending

    monkeypatch.setattr(house.inbox, "store", lambda *each, **more: asyncio.ensure_future(late(*each, **more)))
    house.during = during
    await house.say("first", 1)
    sending = asyncio.create_task(house.say("second", 2))
    await sending
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.unfinished_count) == (["first", "second"], 0)


async def test_a_long_row_is_worked_off_in_order(house: House) -> None:
    """What does not fit into memory waits in the inbox and keeps its place."""
    release = asyncio.Event()

    async def during(pending: PendingMessage) -> None:
        await release.wait()

    house.during = during
    for number in range(200):
        await house.say(str(number), number)
    await house.bus.drain()
    [lane] = house.loop._lanes._lines.values()
    assert len(lane.ready) <= 16
    release.set()
    await house.loop.wait_idle()
    assert house.texts() == [str(number) for number in range(200)]


async def test_a_full_backlog_makes_the_channel_wait(database: Database) -> None:
    """No more than the limit is ever taken in, however many channels push, and nothing is refused."""
    house = House(database, parallel=1, backlog=5)
    release, most = asyncio.Semaphore(0), 0

    async def during(pending: PendingMessage) -> None:
        nonlocal most
        most = max(most, await house.open_messages())
        await release.acquire()

    house.during = during
    sending = [asyncio.create_task(house.say("hello", number, str(number))) for number in range(20)]
    await until(lambda: house.loop.unfinished_count == 5 and bool(house.turns))
    for _ in range(50):
        await asyncio.sleep(0)
    assert (house.loop.unfinished_count, await house.open_messages()) == (5, 5)
    assert sum(task.done() for task in sending) <= 5
    for _ in range(20):
        release.release()
    assert all(await asyncio.gather(*sending))
    await house.loop.wait_idle()
    assert (len(house.turns), house.loop.unfinished_count) == (20, 0)
    assert most <= 5
    await house.bus.close()


async def test_nothing_stays_in_memory(house: House) -> None:
    """When all is answered the loop holds no lanes, no messages and no tasks."""
    before = asyncio.all_tasks()
    for number in range(100):
        await house.say("hello", number, str(number % 30))
    await house.loop.wait_idle()
    await until(lambda: len(asyncio.all_tasks()) <= len(before))
    assert (house.loop._lanes.idle, house.loop._deferrals, house.loop._taking) == (True, {}, set())


async def test_a_sink_is_what_channels_expect(house: House) -> None:
    """The loop can be called as `kenobot.ports.channel.Sink`, with an Inbound of any chat."""
    sent: Inbound = inbound("hello", 1, chat="../../etc/passwd")
    assert await house.loop(sent)
    await house.loop.wait_idle()
    assert house.turns[0].session == sent.session


async def test_a_burst_is_answered_chat_by_chat_and_in_the_order_of_each(database: Database) -> None:
    """However the turns give way to what comes in: no chat has its third answer before every chat has its first."""
    house = House(database, parallel=4)
    chats, each = 20, 5
    said = [house.say(f"{number}", f"{chat}:{number}", str(chat)) for number in range(each) for chat in range(chats)]
    assert all(await asyncio.gather(*said))
    await house.loop.wait_idle()
    for chat in range(chats):
        assert house.texts(str(chat)) == [str(number) for number in range(each)]
    order = [turn.inbound.text for turn in house.turns]
    assert max(place for place, text in enumerate(order) if text == "0") < order.index("2")
    await house.bus.close()
