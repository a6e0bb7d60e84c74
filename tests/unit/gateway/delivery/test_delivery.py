"""Delivery: order within a chat, patience, and a record before the next part."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from kenobot.ports import sentences
from kenobot.ports.channel import Capabilities
from kenobot.ports.errors import RateLimited, Rejected, RemoteError, StoreError, TruncatedReply, Unavailable
from kenobot.ports.messages import Outbound
from kenobot.storage.database import Database
from kenobot.storage.outbox import SentPart
from kenobot_testing.clock import EagerClock, ManualClock
from tests.samples import rows
from tests.unit.gateway.delivery.house import House
from tests.waiting import until


async def test_a_part_reaches_its_channel(house: House) -> None:
    """As it was committed; then it is marked as sent, with the platform's id, and announced."""
    [part] = await house.commit("hello")
    house.delivery.dispatch([part])
    await house.delivery.queue.wait_idle()
    assert house.channel.sent == [part]
    assert await rows(house.database, "SELECT state, platform_id FROM outbox") == [("sent", "fake 1")]
    assert house.announced == [("message:sent", None)]
    assert house.delivery.queue.idle


async def test_parts_leave_in_order_within_a_chat(house: House) -> None:
    """Parts of a reply, and replies one after another, whatever fails in between."""
    house.channel.fail_next(Unavailable("down"), None, Unavailable("down"), RateLimited("slow", 3))
    for number in range(20):
        await house.answer(f"{number}a", f"{number}b")
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == [f"{number}{half}" for number in range(20) for half in "ab"]


async def test_a_sending_that_was_broken_off_is_tried_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel whose own request is cancelled under it has failed for now; a stop is a stop."""
    send, broken = house.channel.send, [True, True]

    async def breaking(outbound: Outbound) -> str:
        if broken:
            broken.pop()
            raise asyncio.CancelledError
        return await send(outbound)

    monkeypatch.setattr(house.channel, "send", breaking)
    await house.answer("one", "two")
    await house.delivery.queue.wait_idle()
    assert await house.states() == [("one", "sent", 3), ("two", "sent", 1)]


async def test_a_chat_that_waits_does_not_hold_up_others(database: Database) -> None:
    """While one chat is told to slow down, others and other channels are served."""
    house = House(database, ManualClock())
    house.channel.fail_next(RateLimited("slow", 30))
    await house.answer("slow", chat="1")
    await until(lambda: bool(house.clock.pending_sleeps))
    await house.answer("quick", chat="2")
    await house.answer("elsewhere", channel="other")
    await until(lambda: bool(house.channel.sent) and bool(house.other.sent))
    assert (house.channel.texts, house.other.texts) == (["quick"], ["elsewhere"])
    house.clock.advance(30)
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["quick", "slow"]
    await house.bus.close()


@pytest.mark.parametrize(
    ("error", "least", "most"),
    [
        (RateLimited("slow", 17), 17, 17),
        (Unavailable("down", 5), 5, 5),
        (RateLimited("slow"), 1, 1.25),
        (Unavailable("down"), 1, 1.25),
        (TruncatedReply("cut"), 1, 1.25),
        (TimeoutError(), 1, 1.25),
    ],
)
async def test_the_platforms_wish_is_obeyed(house: House, error: Exception, least: float, most: float) -> None:
    """It waits exactly as long as it was told, or a little when it was not told."""
    house.channel.fail_next(error)
    await house.answer("hello")
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["hello"]
    assert isinstance(house.clock, EagerClock)
    [pause] = house.clock.slept
    assert least <= pause <= most


async def test_a_platform_that_always_asks_for_a_second_does_not_use_up_the_tries(house: House) -> None:
    """An hour of such refusals is an outage like any other: the part arrives after it."""
    began = house.clock.now()
    house.channel.fail_next(*[RateLimited("slow", 1)] * 25)
    await house.answer("patient")
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["patient"]
    assert (house.clock.now() - began).total_seconds() > 3600


async def test_pauses_grow_and_tries_end(house: House) -> None:
    """A platform that stays away is asked with longer and longer pauses, and given up after a day of tries."""
    house.channel.fail_next(*[Unavailable("down")] * 300)
    await house.answer("lost", "next")
    await house.delivery.queue.wait_idle()
    assert isinstance(house.clock, EagerClock)
    pauses = house.clock.slept
    assert len(pauses) == 299
    assert all(1.6 * one <= other for one, other in pairwise(pauses[:8]))
    assert max(pauses) <= 375
    assert await house.states() == [("lost", "dead", 300), ("next", "sent", 1)]
    assert house.announced == [("message:failed", "Unavailable"), ("message:sent", None)]


@pytest.mark.parametrize("error", [Rejected("blocked by the user"), ValueError("a bug in the channel")])
async def test_what_cannot_be_delivered_is_given_up_at_once(house: House, error: Exception) -> None:
    """With its reason, and the next part gets its chance."""
    house.channel.fail_next(error)
    await house.answer("one", "two")
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["two"]
    kept = await rows(house.database, "SELECT state, reason FROM outbox ORDER BY id")
    assert [(state, sentences.unpack_text(str(reason))) for state, reason in kept] == [
        ("dead", f"{type(error).__name__}: {error}"),
        ("sent", ""),
    ]
    assert house.announced[0] == ("message:failed", type(error).__name__)


async def test_a_part_is_recorded_before_the_next_one_leaves(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a crash repeats one part at most."""
    original, seen = house.channel.send, []

    async def send(outbound: Outbound) -> str:
        seen.append([state for _, state, _ in await house.states()])
        return await original(outbound)

    monkeypatch.setattr(house.channel, "send", send)
    await house.answer("one", "two", "three")
    await house.delivery.queue.wait_idle()
    assert seen == [["pending"] * 3, ["sent", "pending", "pending"], ["sent", "sent", "pending"]]


async def test_a_record_that_cannot_be_written_is_written_later(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part is not sent again meanwhile, and the next one waits."""
    original, failures = house.outbox.mark_sent, [StoreError("full"), StoreError("full")]

    async def mark(sent: SentPart) -> None:
        if failures:
            raise failures.pop()
        await original(sent)

    monkeypatch.setattr(house.outbox, "mark_sent", mark)
    await house.answer("one", "two")
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["one", "two"]
    assert [state for _, state, _ in await house.states()] == ["sent", "sent"]
    assert not house.delivery.list_unrecorded()


async def test_a_part_that_was_sent_is_known_until_that_is_recorded(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after the end, for whoever opens the home again in the same process."""

    async def fail(sent: SentPart) -> None:
        failed.append(sent)
        raise StoreError("full")

    failed: list[SentPart] = []
    monkeypatch.setattr(house.outbox, "mark_sent", fail)
    await house.answer("one", "two")
    while not failed:
        await asyncio.sleep(0)
    await house.delivery.queue.stop(0.0)
    assert house.channel.texts == ["one"]
    assert house.delivery.list_unrecorded() == (failed[0],)


@pytest.mark.parametrize("method", ["load_pending_after", "record_failure", "give_up"])
async def test_an_outbox_that_fails_delays_and_loses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Order is kept, and every part is sent or given up once the disk works again."""
    original, failures = getattr(house.outbox, method), [StoreError("full"), StoreError("full")]

    async def failing(*values: object, **named: object) -> object:
        if failures:
            raise failures.pop()
        return await original(*values, **named)

    monkeypatch.setattr(house.outbox, method, failing)
    error: RemoteError = Rejected("no") if method == "give_up" else Unavailable("down")
    house.channel.fail_next(error, *([error, error] if method == "give_up" else []))
    if method == "load_pending_after":
        await house.commit("one", "two", "three")
        await house.delivery.sweep()
    else:
        await house.answer("one", "two", "three")
    await house.delivery.queue.wait_idle()
    sent = ["two", "three"] if method == "give_up" else ["one", "two", "three"]
    assert house.channel.texts == sent
    assert len(failures) < 2
    assert "pending" not in [state for _, state, _ in await house.states()]


async def test_a_start_sends_what_was_left_behind(house: House) -> None:
    """Of every chat of every channel, in order, and nothing of channels that are not there."""
    for number in range(50):
        await house.commit(str(number), chat=str(number % 3))
    await house.commit("elsewhere", channel="other")
    await house.commit("nowhere", channel="unknown")
    await house.delivery.sweep()
    await house.delivery.queue.wait_idle()
    for chat in range(3):
        texts = [sent.part.text for sent in house.channel.sent if sent.chat == str(chat)]
        assert texts == [str(number) for number in range(50) if number % 3 == chat]
    assert house.other.texts == ["elsewhere"]
    assert (await house.states())[-1] == ("nowhere", "pending", 0)


async def test_what_is_handed_over_while_the_outbox_is_read_keeps_its_place(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reply that is committed during the read is neither lost nor sent early nor sent twice."""
    original, reads = house.outbox.load_pending_after, 0

    async def slow(*values: Any, **named: Any) -> list[tuple[Outbound, int]]:
        nonlocal reads
        reads += 1
        if reads == 1:
            await house.answer("2")
        found = await original(*values, **named)
        if reads == 1:
            await house.answer("3")
        return found

    monkeypatch.setattr(house.outbox, "load_pending_after", slow)
    await house.commit("1")
    await house.delivery.sweep()
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["1", "2", "3"]
    assert {state for _, state, _ in await house.states()} == {"sent"}


async def test_a_long_row_is_sent_in_order_with_few_reads(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit into memory waits in the outbox, and is read in batches."""
    original, reads = house.outbox.load_pending_after, 0

    async def counted(*values: Any, **named: Any) -> list[tuple[Outbound, int]]:
        nonlocal reads
        reads += 1
        return await original(*values, **named)

    monkeypatch.setattr(house.outbox, "load_pending_after", counted)
    texts = [str(number) for number in range(300)]
    house.channel.fail_next(Unavailable("down"))
    for text in texts:
        house.delivery.dispatch(await house.commit(text))
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == texts
    assert reads <= 30


async def test_a_part_that_is_dispatched_twice_is_sent_once(house: House) -> None:
    """And a part of an unknown channel stays in the outbox."""
    house.delivery.dispatch(await house.commit("nowhere", channel="unknown"))
    parts = await house.commit("hello")
    house.delivery.dispatch([*parts, *parts])
    await house.delivery.queue.wait_idle()
    assert (house.channel.texts, house.delivery.queue.idle) == (["hello"], True)


async def test_stop_leaves_the_rest_to_the_next_start(database: Database) -> None:
    """Nothing is sent twice, nothing is lost."""
    house = House(database, ManualClock())
    house.channel.fail_next(None, Unavailable("down"))
    await house.answer("one", "two", "three")
    await until(lambda: bool(house.clock.pending_sleeps))
    await house.delivery.queue.stop(0)
    await house.answer("late")
    assert house.channel.texts == ["one"]
    again = House(database)
    await again.delivery.sweep()
    await again.delivery.queue.wait_idle()
    assert again.channel.texts == ["two", "three", "late"]
    for each in (house, again):
        await each.bus.close()


async def test_a_channel_that_returns_no_id_is_not_asked_twice(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin's slip must not hold up its chat for ever."""

    async def careless(outbound: Outbound) -> None:
        house.channel.sent.append(outbound)

    monkeypatch.setattr(house.channel, "send", careless)
    await house.answer("one", "two")
    async with asyncio.timeout(60):
        await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["one", "two"]


async def test_what_failed_after_all_is_tried_again_or_given_up(house: House) -> None:
    """With its text, which the outbox keeps where the platform fails later; what is not known as sent is nothing."""
    house.channel.capabilities = Capabilities(fails_later=True)
    await house.answer("one", "two")
    await house.delivery.queue.wait_idle()
    assert await house.delivery.take_back("fake", "fake 1", Rejected("too late"))
    assert await house.delivery.take_back("fake", "fake 2", RateLimited("slow", 17))
    assert not await house.delivery.take_back("fake", "fake 2", RateLimited("slow", 17))
    assert not await house.delivery.take_back("fake", "fake 9", Rejected("whose?"))
    assert not await house.delivery.take_back("other", "fake 1", Rejected("whose?"))
    assert await house.states() == [("one", "dead", 1), ("two", "pending", 1)]
    assert house.announced[2:] == [("message:failed", "Rejected")]
    await house.delivery.sweep()
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["one", "two"], "it is tried again too soon"
    house.clock.advance(18)
    await house.delivery.sweep()
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["one", "two", "two"]
    assert await house.states() == [("one", "dead", 1), ("two", "sent", 2)]


async def test_of_a_message_and_its_edit_the_edit_fails_first(house: House) -> None:
    """Both have one id on the platform; a second complaint is of the message itself."""
    house.channel.capabilities = Capabilities(fails_later=True)
    await house.answer("one", "better")
    await house.delivery.queue.wait_idle()
    await house.database.write(lambda connection: connection.execute("UPDATE outbox SET platform_id = 'fake 1'"))
    assert await house.delivery.take_back("fake", "fake 1", Rejected("no such server"))
    assert [state for _, state, _ in await house.states()] == ["sent", "dead"]
    assert await house.delivery.take_back("fake", "fake 1", Rejected("no such server"))
    assert [state for _, state, _ in await house.states()] == ["dead", "dead"]


async def test_a_part_whose_text_was_erased_is_not_tried_again(house: House) -> None:
    """There is nothing to send. A file without words is tried again."""
    house.channel.capabilities = Capabilities(fails_later=True)
    await house.answer("one", "two")
    await house.delivery.queue.wait_idle()
    await house.database.write(lambda connection: connection.execute("UPDATE outbox SET text = ''"))
    file = '{"attachments": [{"kind": "document", "text": "two"}]}'
    await house.database.write(
        lambda connection: connection.execute("UPDATE outbox SET payload = ? WHERE platform_id = 'fake 2'", (file,))
    )
    assert await house.delivery.take_back("fake", "fake 1", Unavailable("down"))
    assert await house.delivery.take_back("fake", "fake 2", Unavailable("down"))
    assert [state for _, state, _ in await house.states()] == ["dead", "pending"]
