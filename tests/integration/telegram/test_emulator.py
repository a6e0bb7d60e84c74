"""The Telegram channel against an emulator that nobody here wrote."""

import asyncio
import errno

import pytest

from kenobot.ports.errors import Rejected, StoreFull
from kenobot.ports.messages import Attachment, MessagePart, Outbound, TextEntity
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.emulator import Emulator
from tests.integration.telegram.standin import (
    CHAT,
    TOKEN,
    Box,
    channel_at,
    outbound,
    running,
)


async def test_a_message_comes_in_and_an_answer_goes_out(emulator: Emulator, clock: EagerClock) -> None:
    """Against a Bot API server nobody here wrote: a message arrives, is confirmed once, and is answered."""
    channel, box = channel_at(emulator.base_url, clock), Box()
    async with running(channel, box):
        await emulator.write(5, "¿qué tal? 😀")
        await box.holds(1)
        await emulator.write(9)
        await box.holds(2)
        await channel.typing(CHAT)
        assert await channel.send(outbound("**hi**", TextEntity("bold", 0, 2))) == "1"
    assert [inbound.text for inbound in box.inbounds] == ["¿qué tal? 😀", "hi"]
    assert "entities" in [r for r in emulator.records() if r.get("method") == "sendMessage"][-1]["fields"]
    records = [record for record in emulator.records() if record.get("method") != "sendMessage"]
    assert [record["update_ids"] for record in records if record.get("update_ids") and "method" in record] == [[5], [9]]
    assert {record["status"] for record in records if "method" in record} == {200}


async def test_what_the_disk_refused_comes_again(emulator: Emulator, clock: EagerClock) -> None:
    """While nothing can be stored nothing is confirmed: every message arrives in the end, in order, once."""
    channel, box = channel_at(emulator.base_url, clock), Box()
    for number in (1, 2, 3):
        await emulator.write(number)
    box.failures.extend([StoreFull("The disk is full."), StoreFull("The disk is full.")])
    async with running(channel, box):
        await box.holds(3)
    assert box.ids == ["1", "2", "3"]
    assert clock.slept == [1, 2]


@pytest.mark.parametrize("shortage", [OSError(errno.EMFILE, "Too many open files"), MemoryError()], ids=repr)
async def test_what_came_while_the_machine_lacked_something_comes_again(
    emulator: Emulator, clock: EagerClock, shortage: Exception
) -> None:
    """A message is not to blame for a shortage: it is neither set aside nor confirmed, and taken in afterwards."""
    channel, box = channel_at(emulator.base_url, clock), Box()
    for number in (1, 2):
        await emulator.write(number)
    box.failures.append(shortage)
    async with running(channel, box):
        await box.holds(2)
    assert (box.ids, box.aside) == (["1", "2"], [])
    assert clock.slept == [1]


async def test_what_was_not_confirmed_comes_again_after_a_restart(emulator: Emulator, clock: EagerClock) -> None:
    """A stop between storing and confirming repeats the message, and the sink knows it by its number."""
    box = Box()
    await emulator.write(4)
    stored = asyncio.Event()
    box.watch = lambda inbound: stored.set()
    task = asyncio.create_task(channel_at(emulator.base_url, clock).run(box))
    await stored.wait()
    task.cancel()
    await asyncio.wait([task])
    box.watch = lambda inbound: None
    async with running(channel_at(emulator.base_url, clock), box):
        await emulator.write(6)
        await box.holds(2)
    assert box.ids == ["4", "6"]


async def test_a_webhook_in_the_way_is_named(emulator: Emulator, clock: EagerClock) -> None:
    """The webhook is somebody's choice, so it is not removed but reported."""
    await emulator.post(f"/bot{TOKEN}/setWebhook", {"url": "https://example.org/hook"})
    with pytest.raises(Rejected, match="webhook"):
        await channel_at(emulator.base_url, clock).run(Box())


async def test_a_file_goes_out(emulator: Emulator, clock: EagerClock) -> None:
    """As a document with its name, its bytes and a caption."""
    file = Attachment("document", mime="text/markdown", name="respuesta.md", text="ñandú 👋\n" * 10_000)
    part = MessagePart("all of it", (TextEntity("bold", 0, 3),), (file,))
    channel = channel_at(emulator.base_url, clock)
    assert (await channel.send(Outbound(1, "telegram", CHAT, part, "t"))).isdigit()
    [sent] = [record for record in emulator.records() if record.get("method") == "sendDocument"]
    assert sent["status"] == 200
    assert {"caption", "caption_entities"} <= set(sent["fields"])
