"""AgentLoop: what fails, breaks or is stopped, and how it goes on."""

import asyncio

import pytest

from kenobot.ports.errors import StoreError
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from tests.samples import inbound, rows
from tests.unit.agent.loop.house import House
from tests.waiting import until


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_message_that_cannot_be_stored_is_not_taken(
    house: House, monkeypatch: pytest.MonkeyPatch, *, at_once: bool
) -> None:
    """The channel hears of it and does not acknowledge; it leaves no trace in the backlog."""

    def full(*_: object, **__: object) -> asyncio.Future[None]:
        error = StoreError("the disk is full")
        if at_once:
            raise error
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(failed.set_exception, error)
        return failed

    with monkeypatch.context() as patch:
        patch.setattr(house.inbox, "store", full)
        with pytest.raises(StoreError):
            await house.say("hello", 1)
    assert house.loop.unfinished_count == 0
    assert await house.say("hello", 1)


async def test_a_channel_that_goes_while_its_message_is_stored_loses_nothing(house: House) -> None:
    """The message has its turn, though its channel was cancelled before it could hear of it."""
    sending = asyncio.create_task(house.say("hello", 1))
    await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    await until(lambda: house.texts() == ["hello"] and house.loop.idle)
    assert house.loop.unfinished_count == 0


async def test_a_lost_signal_loses_nothing(database: Database) -> None:
    """What was stored but never rung for is found at the next start, in order."""
    first = House(database)
    for number in range(1, 40):
        await first.inbox.store(inbound(str(number), number, chat=str(number % 3)), "trace")
    second = House(database)
    await second.loop.start()
    await second.loop.wait_idle()
    for chat in range(3):
        assert second.texts(str(chat)) == [str(number) for number in range(1, 40) if number % 3 == chat]
    assert (second.loop.unfinished_count, await second.open_messages()) == (0, 0)
    for house in (first, second):
        await house.bus.close()


async def test_what_the_process_may_have_died_of_is_tried_alone_and_after_a_pause(database: Database) -> None:
    """Messages whose turns were cut short twice follow one another; what was cut short once has its turn at once."""
    first = House(database)
    chats = ("1", "2", "3")
    for number, chat in enumerate(chats):
        pending = await first.inbox.store(inbound(f"suspect of {chat}", number, chat=chat), "t")
        assert pending is not None
        await first.inbox.claim(pending.id)
        await first.inbox.claim(pending.id)
    for number, chat in enumerate(("4", "5"), start=10):
        await first.inbox.store(inbound(f"bystander of {chat}", number, chat=chat), "t", claimed=True)
    house = House(database)
    together: list[set[str]] = []
    at_work: set[str] = set()
    bystanders = asyncio.Barrier(2)

    async def during(pending: PendingMessage) -> None:
        at_work.add(pending.inbound.chat)
        if pending.inbound.chat not in chats:
            async with asyncio.timeout(60):
                await bystanders.wait()  # neither ends before the other has begun
        for _ in range(20):
            await asyncio.sleep(0)
            together.append(set(at_work))
        at_work.discard(pending.inbound.chat)

    house.during = during
    await house.loop.start()
    await house.loop.wait_idle()
    await house.bus.close()
    assert await house.open_messages() == 0
    assert all(len(chats_at_work & set(chats)) <= 1 for chats_at_work in together)
    assert any({"4", "5"} <= chats_at_work for chats_at_work in together)
    assert len(house.clock.slept) == len(chats)


async def test_a_channel_that_is_cancelled_loses_no_ring(house: House) -> None:
    """The message is stored all the same, so it must get its turn now, not at the next start."""
    sending = asyncio.create_task(house.say("hello", 1))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    await until(lambda: bool(house.turns))
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.unfinished_count) == (["hello"], 0)
    assert not await house.say("hello", 1)


@pytest.mark.parametrize("kind", [ValueError, asyncio.CancelledError])
async def test_a_broken_turn_does_not_stop_its_lane(
    house: House, kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it raises is logged, and the next message gets its turn."""

    async def during(pending: PendingMessage) -> None:
        if pending.inbound.text == "poison":
            raise kind

    house.during = during
    for number, text in enumerate(["one", "poison", "two"]):
        await house.say(text, number)
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.unfinished_count) == (["one", "poison", "two"], 0)
    assert "a turn of fake-1 broke" in caplog.text
    assert await house.open_messages() == 1


async def test_an_inbox_that_cannot_be_read_is_read_again(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A failing disk delays a lane and does not end it."""
    await house.inbox.store(inbound("hello", 1), "trace")
    original, failures = house.inbox.load_pending_after, [StoreError("down"), StoreError("still down")]

    async def failing(session: str, after: int, limit: int) -> list[PendingMessage]:
        if failures:
            raise failures.pop()
        return await original(session, after, limit)

    monkeypatch.setattr(house.inbox, "load_pending_after", failing)
    await house.loop.start()
    await house.loop.wait_idle()
    assert house.texts() == ["hello"]
    assert len(house.clock.slept) == 2
    assert "inbox cannot be used" in caplog.text


async def test_stop_parks_what_is_under_way(database: Database) -> None:
    """Turns get their grace, are then cancelled, nothing new begins, and the next start does it all."""
    house = House(database, parallel=2)

    async def during(pending: PendingMessage) -> None:
        await asyncio.Event().wait()

    house.during = during
    for number in range(6):
        await house.say(str(number), number, str(number % 3))
    await until(lambda: house.at_work.total() == 2)
    await house.loop.stop(0)
    assert sorted(house.deferred) == sorted(pending.id for pending in house.turns)
    assert len(house.turns) == 2
    assert await house.say("late", 99)
    await house.bus.drain()
    assert (len(house.turns), house.loop.idle) == (2, True)
    await house.bus.close()
    again = House(database)
    await again.loop.start()
    await again.loop.wait_idle()
    assert [again.texts(str(chat)) for chat in range(3)] == [["0", "3"], ["1", "4", "late"], ["2", "5"]]
    assert await again.open_messages() == 0
    await again.bus.close()


async def test_turns_that_end_within_the_grace_are_not_cancelled(house: House) -> None:
    """A stop waits for what is nearly done."""
    release = asyncio.Event()

    async def during(pending: PendingMessage) -> None:
        await release.wait()

    house.during = during
    await house.say("hello", 1)
    await until(lambda: bool(house.turns))
    stopping = asyncio.create_task(house.loop.stop(10))
    await asyncio.sleep(0)
    release.set()
    await stopping
    assert (house.deferred, await house.open_messages()) == ([], 0)


async def test_what_cannot_be_understood_is_set_aside(house: House) -> None:
    """It lies in the dead-letter box and costs no turn."""
    await house.loop.dead_letter("fake", "7", "{broken", "not a message")
    await house.loop.start()
    await house.loop.wait_idle()
    assert (house.turns, house.loop.unfinished_count) == ([], 0)
    assert await rows(house.database, "SELECT state, reason FROM inbox") == [("dead", "not a message")]
