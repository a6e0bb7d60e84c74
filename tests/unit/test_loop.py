"""AgentLoop: order, parallelism, back-pressure, recovery."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from kenobot import inbox as mail
from kenobot.bus import Bus
from kenobot.db import Database
from kenobot.errors import StoreError
from kenobot.inbox import Inbox, Pending
from kenobot.loop import AgentLoop, Gate
from kenobot.ports import Inbound
from kenobot.signals import MESSAGE_IN, Envelope
from kenobot.testing.clock import START, EagerClock
from tests.samples import inbound, rows, scalar


class House:
    """A loop with real mail around it, whose turns do what `during` says and are then answered."""

    def __init__(
        self, database: Database, *, parallel: int = 32, backlog: int = 1000, chat_backlog: int = 1000
    ) -> None:
        self.database = database
        self.clock = EagerClock()
        self.bus = Bus(self.clock)
        self.inbox = Inbox(database, self.clock)
        self.during: Callable[[Pending], Awaitable[None]] | None = None
        self.turns: list[Pending] = []
        self.at_work: Counter[str] = Counter()
        self.most_at_once = 0
        self.most_in_a_chat = 0
        self.parked: list[int] = []
        self._traces = 0
        self.out_of_reach: set[str] = set()
        self.back = asyncio.Event()
        self.waits: list[float] = []
        self.turned_away: list[str] = []
        self.barred: set[str] = set()
        gate = Gate(self._admits, self._turn_away, backlog, chat_backlog)
        self.loop = AgentLoop(
            self.inbox, self.bus, self.clock, self._turn, self._until_back, self._trace, gate, parallel=parallel
        )
        self.bus.bell(MESSAGE_IN, self.loop.on_message_in)

    def _trace(self) -> str:
        self._traces += 1
        return f"trace {self._traces}"

    async def _admits(self, message: Inbound) -> bool:
        return message.user not in self.barred

    async def _turn_away(self, message: Inbound) -> None:
        self.turned_away.append(message.chat)

    async def _until_back(self, longest: float) -> None:
        self.waits.append(longest)
        await self.back.wait()

    async def _turn(self, pending: Pending) -> bool:
        self.turns.append(pending)
        self.at_work[pending.session] += 1
        self.most_at_once = max(self.most_at_once, self.at_work.total())
        self.most_in_a_chat = max(self.most_in_a_chat, self.at_work[pending.session])
        attempt = 0
        try:
            attempt = pending.attempts if pending.claimed else await self.inbox.claim(pending.id)
            if self.during is not None:
                await self.during(pending)
            if pending.inbound.text in self.out_of_reach:
                await self.database.write(lambda c: mail.park(c, pending.id, attempt))
                return False
            await self.database.write(lambda c: mail.finish(c, pending.id, attempt, "answered", START))
            return True
        except asyncio.CancelledError:
            self.parked.append(pending.id)
            await self.inbox.release(pending.id, attempt)
            raise
        finally:
            self.at_work[pending.session] -= 1

    async def say(self, text: str, number: int | str, chat: str = "1") -> bool:
        return await self.loop(inbound(text, number, chat=chat))

    def texts(self, chat: str = "1") -> list[str]:
        return [pending.inbound.text for pending in self.turns if pending.inbound.chat == chat]

    async def open_messages(self) -> int:
        return int(str(await scalar(self.database, "SELECT count(*) FROM inbox WHERE done_at IS NULL")))


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    """A loop with room for everything."""
    made = House(database)
    yield made
    await made.loop.stop(1)
    await made.bus.close()


async def _until(happy: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happy():
            await asyncio.sleep(0)


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
    assert (house.loop.idle, house.loop.waiting, await house.open_messages()) == (True, 0, 0)


async def test_a_repeat_gets_no_second_turn(house: House) -> None:
    """The sink says so, and nothing is counted as waiting."""
    results = await asyncio.gather(*(house.say("hello", 1) for _ in range(5)))
    assert sorted(results) == [False] * 4 + [True]
    assert not await house.say("hello again", 1)
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.waiting) == (["hello"], 0)


@pytest.mark.parametrize("seed", range(6))
async def test_a_chat_is_answered_in_strict_order_under_load(database: Database, seed: int) -> None:
    """Every message once, in the order it was stored, one at a time within its chat, however turns and arrivals mix."""
    house = House(database, parallel=4)
    random = Random(seed)

    async def during(pending: Pending) -> None:
        for _ in range(random.choice([0, 0, 1, 5, 40])):
            await asyncio.sleep(0)
        if random.random() < 0.2:
            await database.read(lambda connection: connection.execute("SELECT 1").fetchone())

    house.during = during

    async def person(chat: str) -> None:
        for number in range(60):
            await house.say(str(number), f"{chat} {number}", chat)
            for _ in range(random.choice([0, 0, 0, 3, 30])):
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
    assert (house.most_in_a_chat, house.most_at_once <= 4, house.loop.waiting) == (1, True, 0)
    assert await house.open_messages() == 0
    await house.loop.stop(1)
    await house.bus.close()


async def test_chats_run_in_parallel_up_to_the_limit(database: Database) -> None:
    """A slow chat does not slow others, and no more turns than allowed run at once."""
    house = House(database, parallel=3)
    release = asyncio.Event()

    async def during(pending: Pending) -> None:
        await release.wait()

    house.during = during
    for chat in range(5):
        await house.say("hello", chat, str(chat))
    await _until(lambda: house.at_work.total() == 3)
    await house.bus.settle()
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
        await house.inbox.accept(inbound(str(number), number), "trace")
    original, reads = house.inbox.waiting, 0

    async def slow(session: str, after: int, limit: int) -> list[Pending]:
        nonlocal reads
        reads += 1
        if reads == 1:
            await house.say("4", 4)
            await house.bus.settle()
        found = await original(session, after, limit)
        if reads == 1:
            await house.say("5", 5)
            await house.bus.settle()
        return found

    monkeypatch.setattr(house.inbox, "waiting", slow)
    await house.loop.start()
    await house.loop.wait_idle()
    assert house.texts() == ["1", "2", "3", "4", "5"]
    assert (await house.open_messages(), house.loop.waiting) == (0, 0)


async def test_what_comes_while_an_empty_inbox_is_read_is_not_lost(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lane looks again before it ends."""
    original, reads = house.inbox.waiting, 0

    async def nothing_at_first(session: str, after: int, limit: int) -> list[Pending]:
        nonlocal reads
        reads += 1
        if reads > 1:
            return await original(session, after, limit)
        found = await original(session, after, limit)
        await house.say("late", 1)
        await house.bus.settle()
        return found

    monkeypatch.setattr(house.inbox, "waiting", nothing_at_first)
    house.loop._wake("fake-1", None)
    await house.loop.wait_idle()
    assert house.texts() == ["late"]


async def test_what_was_read_before_its_doorbell_rang_gets_one_turn(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lane may find a message in the inbox that `accept` is still about to ring for."""
    stored, ring = asyncio.Event(), asyncio.Event()
    original = house.inbox.accept

    async def late(message: Inbound, trace: str, **more: Any) -> Pending | None:
        pending = await original(message, trace, **more)
        if message.text == "second":
            stored.set()
            await ring.wait()
        return pending

    async def during(pending: Pending) -> None:
        if pending.inbound.text == "first":
            await stored.wait()
            house.loop._wake("fake-1", None)
        if pending.inbound.text == "second":
            ring.set()
            await sending

    monkeypatch.setattr(house.inbox, "accept", late)
    house.during = during
    await house.say("first", 1)
    sending = asyncio.create_task(house.say("second", 2))
    await sending
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.waiting) == (["first", "second"], 0)


async def test_a_long_row_is_worked_off_in_order(house: House) -> None:
    """What does not fit into memory waits in the inbox and keeps its place."""
    release = asyncio.Event()

    async def during(pending: Pending) -> None:
        await release.wait()

    house.during = during
    for number in range(200):
        await house.say(str(number), number)
    await house.bus.settle()
    [lane] = house.loop._lanes.values()
    assert len(lane.ready) <= 16
    release.set()
    await house.loop.wait_idle()
    assert house.texts() == [str(number) for number in range(200)]


async def test_a_full_backlog_makes_the_channel_wait(database: Database) -> None:
    """No more than the limit is ever taken in, however many channels push, and nothing is refused."""
    house = House(database, parallel=1, backlog=5)
    release, most = asyncio.Semaphore(0), 0

    async def during(pending: Pending) -> None:
        nonlocal most
        most = max(most, await house.open_messages())
        await release.acquire()

    house.during = during
    sending = [asyncio.create_task(house.say("hello", number, str(number))) for number in range(20)]
    await _until(lambda: house.loop.waiting == 5 and bool(house.turns))
    for _ in range(50):
        await asyncio.sleep(0)
    assert (house.loop.waiting, await house.open_messages()) == (5, 5)
    assert sum(task.done() for task in sending) <= 5
    for _ in range(20):
        release.release()
    assert all(await asyncio.gather(*sending))
    await house.loop.wait_idle()
    assert (len(house.turns), house.loop.waiting) == (20, 0)
    assert most <= 5
    await house.bus.close()


async def test_a_message_that_cannot_be_stored_is_not_taken(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The channel hears of it and does not acknowledge; it leaves no trace in the backlog."""

    async def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(house.inbox, "accept", full)
        with pytest.raises(StoreError):
            await house.say("hello", 1)
    assert house.loop.waiting == 0
    assert await house.say("hello", 1)


async def test_a_lost_signal_loses_nothing(database: Database) -> None:
    """What was stored but never rung for is found at the next start, in order."""
    first = House(database)
    for number in range(1, 40):
        await first.inbox.accept(inbound(str(number), number, chat=str(number % 3)), "trace")
    second = House(database)
    await second.loop.start()
    await second.loop.wait_idle()
    for chat in range(3):
        assert second.texts(str(chat)) == [str(number) for number in range(1, 40) if number % 3 == chat]
    assert (second.loop.waiting, await second.open_messages()) == (0, 0)
    for house in (first, second):
        await house.bus.close()


async def test_what_the_process_may_have_died_of_is_tried_alone_and_after_a_pause(database: Database) -> None:
    """Messages whose turns were cut short twice follow one another; what was cut short once has its turn at once."""
    first = House(database)
    chats = ("1", "2", "3")
    for number, chat in enumerate(chats):
        pending = await first.inbox.accept(inbound(f"suspect of {chat}", number, chat=chat), "t")
        assert pending is not None
        await first.inbox.claim(pending.id)
        await first.inbox.claim(pending.id)
    for number, chat in enumerate(("4", "5"), start=10):
        await first.inbox.accept(inbound(f"bystander of {chat}", number, chat=chat), "t", claimed=True)
    house = House(database)
    together: list[set[str]] = []
    at_work: set[str] = set()
    bystanders = asyncio.Barrier(2)

    async def during(pending: Pending) -> None:
        at_work.add(pending.inbound.chat)
        if pending.inbound.chat not in chats:
            async with asyncio.timeout(10):
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
    await _until(lambda: bool(house.turns))
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.waiting) == (["hello"], 0)
    assert not await house.say("hello", 1)


@pytest.mark.parametrize("kind", [ValueError, asyncio.CancelledError])
async def test_a_broken_turn_does_not_stop_its_lane(
    house: House, kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it raises is logged, and the next message gets its turn."""

    async def during(pending: Pending) -> None:
        if pending.inbound.text == "poison":
            raise kind

    house.during = during
    for number, text in enumerate(["one", "poison", "two"]):
        await house.say(text, number)
    await house.loop.wait_idle()
    assert (house.texts(), house.loop.waiting) == (["one", "poison", "two"], 0)
    assert "a turn of fake-1 broke" in caplog.text
    assert await house.open_messages() == 1


async def test_an_inbox_that_cannot_be_read_is_read_again(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A failing disk delays a lane and does not end it."""
    await house.inbox.accept(inbound("hello", 1), "trace")
    original, failures = house.inbox.waiting, [StoreError("down"), StoreError("still down")]

    async def failing(session: str, after: int, limit: int) -> list[Pending]:
        if failures:
            raise failures.pop()
        return await original(session, after, limit)

    monkeypatch.setattr(house.inbox, "waiting", failing)
    await house.loop.start()
    await house.loop.wait_idle()
    assert house.texts() == ["hello"]
    assert len(house.clock.slept) == 2
    assert "cannot be read" in caplog.text


async def test_stop_parks_what_is_under_way(database: Database) -> None:
    """Turns get their grace, are then cancelled, nothing new begins, and the next start does it all."""
    house = House(database, parallel=2)

    async def during(pending: Pending) -> None:
        await asyncio.Event().wait()

    house.during = during
    for number in range(6):
        await house.say(str(number), number, str(number % 3))
    await _until(lambda: house.at_work.total() == 2)
    await house.loop.stop(0)
    assert sorted(house.parked) == sorted(pending.id for pending in house.turns)
    assert len(house.turns) == 2
    assert await house.say("late", 99)
    await house.bus.settle()
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

    async def during(pending: Pending) -> None:
        await release.wait()

    house.during = during
    await house.say("hello", 1)
    await _until(lambda: bool(house.turns))
    stopping = asyncio.create_task(house.loop.stop(10))
    await asyncio.sleep(0)
    release.set()
    await stopping
    assert (house.parked, await house.open_messages()) == ([], 0)


async def test_middleware_may_enrich_what_is_stored(house: House) -> None:
    """The enriched text is what gets its turn and what the inbox holds; other changes do not move the message."""

    async def enrich(envelope: Envelope) -> Envelope:
        text = f"{envelope.payload['text']} [seen]"
        return replace(envelope, payload={**envelope.payload, "text": text, "session": "fake-elsewhere"})

    house.bus.use(enrich)
    for number in range(3):
        await house.say(str(number), number)
    await house.loop.wait_idle()
    assert house.texts() == ["0 [seen]", "1 [seen]", "2 [seen]"]
    assert {pending.session for pending in house.turns} == {"fake-1"}
    assert house.most_in_a_chat == 1


async def test_middleware_that_drops_the_payload_costs_nothing(house: House) -> None:
    """The message is stored as it was written."""

    async def careless(envelope: Envelope) -> Envelope:
        return replace(envelope, payload={})

    house.bus.use(careless)
    assert await house.say("hello", 1)
    await house.loop.wait_idle()
    assert house.texts() == ["hello"]


async def test_middleware_may_stop_a_message(house: House) -> None:
    """It gets no turn, and is known when it comes again."""

    async def stop(envelope: Envelope) -> None:
        return None

    house.bus.use(stop)
    assert await house.say("spam", 1)
    assert not await house.say("spam", 1)
    await house.loop.wait_idle()
    assert (house.turns, house.loop.waiting) == ([], 0)
    assert await rows(house.database, "SELECT state, reason FROM inbox") == [("dropped", "stopped by middleware")]


async def test_nothing_stays_in_memory(house: House) -> None:
    """When all is answered the loop holds no lanes, no messages and no tasks."""
    before = asyncio.all_tasks()
    for number in range(100):
        await house.say("hello", number, str(number % 30))
    await house.loop.wait_idle()
    await _until(lambda: len(asyncio.all_tasks()) <= len(before) + 1)  # the receiver of message:in stays
    assert (house.loop._lanes, house.loop._handed, house.loop._taking) == ({}, {}, set())


async def test_what_cannot_be_understood_is_set_aside(house: House) -> None:
    """It lies in the dead-letter box and costs no turn."""
    await house.loop.set_aside("fake", "7", "{broken", "not a message")
    await house.loop.start()
    await house.loop.wait_idle()
    assert (house.turns, house.loop.waiting) == ([], 0)
    assert await rows(house.database, "SELECT state, reason FROM inbox") == [("dead", "not a message")]


async def test_a_sink_is_what_channels_expect(house: House) -> None:
    """The loop can be called as `kenobot.ports.Sink`, with an Inbound of any chat."""
    sent: Inbound = inbound("hello", 1, chat="../../etc/passwd")
    assert await house.loop(sent)
    await house.loop.wait_idle()
    assert house.turns[0].session == sent.session
