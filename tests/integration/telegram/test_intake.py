"""What the Telegram channel takes in, from a server that misbehaves: what is confirmed, and when."""

import asyncio
import json

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.ports.errors import StoreFull
from kenobot.ports.messages import Inbound
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.standin import (
    Answer,
    Box,
    FakeTelegram,
    until_idle,
    update,
)


async def test_an_update_is_confirmed_only_once_it_is_stored(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """While the sink works on a batch, no request with a higher offset goes out."""
    box, asked = Box(), []
    box.watch = lambda inbound: asked.append(telegram.offsets())
    telegram.answers("getUpdates", Answer([update(5), update(6)]), Answer([update(7)]), Answer([]))
    await until_idle(channel, telegram, box)
    assert asked == [[None], [None], [None, "7"]]
    assert telegram.offsets() == [None, "7", "8", None]


async def test_the_offset_is_forgotten_when_all_is_confirmed(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """After a quiet week Telegram goes on from a lower number, and its messages still arrive."""
    box = Box()
    telegram.answers("getUpdates", Answer([update(900)]), Answer([]), Answer([update(4)]))
    await until_idle(channel, telegram, box)
    assert box.ids == ["900", "4"]
    assert telegram.offsets() == [None, "901", None, "5"]


async def test_bad_updates_hold_up_nobody(channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock) -> None:
    """Malformed updates are set aside with a reason, repeated and reordered ones do no harm, the rest gets through."""
    box = Box()
    batch = [update(8), update(6, text=[]), "junk", update(7), update(7), {"update_id": 5, "message": 3}, update(9)]
    telegram.answers("getUpdates", Answer(batch), Answer([]))
    await until_idle(channel, telegram, box)
    assert box.ids == ["7", "8", "9"]
    assert [reason for number, reason in box.aside if number in ("5", "6")] == [
        "the message has no valid message",
        "the message has no valid text",
    ]
    assert len(box.aside) == 3
    assert telegram.offsets() == [None, "10", None]
    assert clock.slept == []


async def test_what_can_never_be_confirmed_is_set_aside_once_and_not_asked_for_without_pause(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """Updates without a number come with every batch; they fill neither the dead-letter box nor the processor."""
    box = Box()
    telegram.answers("getUpdates", *[Answer(["junk", {}])] * 3)
    await until_idle(channel, telegram, box)
    assert len(box.aside) == 2
    assert clock.slept == [1, 2, 4]


async def test_a_message_that_breaks_the_program_costs_itself(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """An unforeseen exception sets that message aside; the next one is taken in."""
    box = Box()
    box.failures.append(ValueError("unforeseen"))
    telegram.answers("getUpdates", Answer([update(1), update(2)]))
    await until_idle(channel, telegram, box)
    assert (box.ids, box.aside) == (["2"], [("1", "taking it in failed: ValueError")])


async def test_what_the_core_turns_away_is_confirmed(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """A stranger's message is handed in like anybody's, refused there, and never comes again."""
    box = Box()
    box.refused.add("666")
    telegram.answers("getUpdates", Answer([update(1, user=666), update(2)]))
    await until_idle(channel, telegram, box)
    assert box.ids == ["2"]
    assert telegram.offsets()[-1] == "3"


async def test_bad_utf8_costs_only_the_letters(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """Bytes that are no UTF-8 become replacement characters, and the message arrives."""
    box = Box()
    body = json.dumps({"ok": True, "result": [update(1, "caf#")]}).encode().replace(b"#", b"\xe9")
    telegram.answers("getUpdates", Answer(body=body))
    await until_idle(channel, telegram, box)
    assert box.inbounds[0].text == "caf\ufffd"


async def test_a_batch_is_stored_side_by_side_and_each_chat_in_order(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """All chats of a batch wait for the disk at once, the messages of one chat one after the other."""
    under_way: set[int] = set()
    most = 0

    class Slow(Box):
        async def __call__(self, inbound: Inbound) -> bool:
            nonlocal most
            assert int(inbound.chat) not in under_way, "two messages of a chat at once"
            under_way.add(int(inbound.chat))
            most = max(most, len(under_way))
            await asyncio.sleep(0.001)
            under_way.discard(int(inbound.chat))
            return await super().__call__(inbound)

    box = Slow()
    batch = [update(number, user=1 + number % 5) for number in range(40)]
    telegram.answers("getUpdates", Answer(list(reversed(batch))), Answer([]))
    await until_idle(channel, telegram, box)
    assert most == 5
    for user in range(1, 6):
        mine = [int(inbound.external_id) for inbound in box.inbounds if inbound.chat == str(user)]
        assert mine == [number for number in range(40) if 1 + number % 5 == user]
    assert telegram.offsets() == [None, "40", None]


async def test_nothing_after_what_the_disk_refused_is_confirmed(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """Other chats go on, the refused chat keeps its order, and the offset stops short of the refused number."""
    box, refusals = Box(), 1

    def watch(inbound: Inbound) -> None:
        nonlocal refusals
        if inbound.external_id == "3" and refusals:
            refusals -= 1
            raise StoreFull("The disk is full.")

    box.watch = watch
    batch = [update(1, user=1), update(2, user=2), update(3, user=1), update(4, user=2), update(5, user=1)]
    telegram.answers("getUpdates", Answer(batch), Answer(batch[2:]), Answer([]))
    await until_idle(channel, telegram, box)
    assert [inbound.external_id for inbound in box.inbounds if inbound.chat == "1"] == ["1", "3", "5"]
    assert [inbound.external_id for inbound in box.inbounds if inbound.chat == "2"] == ["2", "4"]
    assert telegram.offsets() == [None, "3", "6", None]
    assert clock.slept == [1]
