"""Buttons on Telegram: presses come in as any message, each is answered, and what was pressed is edited."""

import asyncio
import json

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.ports.errors import Rejected, StoreFull
from kenobot.ports.messages import Button, MessagePart, Outbound
from tests.integration.telegram.standin import DEADLINE, Answer, Box, FakeTelegram, press, running, until_idle, update

ROWS = ((Button("Yes", "1.0.mac"), Button("No", "1.1.mac")), (Button("All", "1.2.mac"),))


def _fields(telegram: FakeTelegram, method: str) -> list[dict[str, str]]:
    return [fields for name, fields in telegram.calls if name == method]


async def _until_answered(telegram: FakeTelegram, count: int) -> list[dict[str, str]]:
    async with asyncio.timeout(DEADLINE):
        while len(answers := _fields(telegram, "answerCallbackQuery")) < count:
            await asyncio.sleep(0.01)
    return answers


async def test_a_press_comes_in_and_is_answered(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """It names the message and the button, in its chat and topic, after what was written there before."""
    box = Box()
    group = press(3, "2.1.mac", id=-1001, type="supergroup")
    group["callback_query"]["message"] |= {"message_thread_id": 5, "is_topic_message": True}
    telegram.answers("getUpdates", Answer([update(1), press(2), group]))
    async with running(channel, box):
        await box.holds(3)
        answers = await _until_answered(telegram, 2)
    written, private, pressed = sorted(box.inbounds, key=lambda inbound: inbound.external_id)
    assert (private.kind, private.target, private.value, private.user) == ("action", "77", "1.0.mac", "1")
    assert (private.private, private.session) == (True, written.session)
    assert (pressed.private, pressed.chat, pressed.thread) == (False, "-1001", "5")
    assert {fields["callback_query_id"] for fields in answers} == {"query 2", "query 3"}
    assert not any("text" in fields for fields in answers)


async def test_a_press_that_is_not_taken_is_told_so(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """In the language of the person's Telegram, and without a message in the chat."""
    box = Box()
    box.refused = {"2"}
    telegram.answers("getUpdates", Answer([press(1, user=2)]))
    async with running(channel, box):
        [fields] = await _until_answered(telegram, 1)
    assert fields["text"] == "Esto ya está decidido, o no te toca decidirlo."
    assert not _fields(telegram, "sendMessage")


async def test_a_press_that_cannot_be_stored_comes_again(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """It is neither confirmed nor answered before it is on disk."""
    box = Box()
    box.failures.append(StoreFull("The disk is full."))
    telegram.answers("getUpdates", Answer([press(4)]), Answer([press(4)]))
    async with running(channel, box):
        await box.holds(1)
        await _until_answered(telegram, 1)
    assert telegram.offsets()[:2] == [None, None]
    assert len(_fields(telegram, "answerCallbackQuery")) == 1


async def test_a_press_without_its_message_is_set_aside(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """Such as below a message of inline mode; it holds up nothing else."""
    broken = press(1)
    del broken["callback_query"]["message"]
    telegram.answers("getUpdates", Answer([broken, press(2)]))
    box = Box()
    await until_idle(channel, telegram, box)
    assert (box.ids, [number for number, _ in box.aside]) == (["2"], ["1"])


async def test_buttons_go_out_in_their_rows(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """Each with its value; a part without any has no keyboard."""
    await channel.send(Outbound(1, "telegram", "1", MessagePart("Sure?", buttons=ROWS), "t"))
    await channel.send(Outbound(2, "telegram", "1", MessagePart("Good"), "t"))
    asked, plain = _fields(telegram, "sendMessage")
    rows = json.loads(asked["reply_markup"])["inline_keyboard"]
    assert [[(each["text"], each["callback_data"]) for each in row] for row in rows] == [
        [("Yes", "1.0.mac"), ("No", "1.1.mac")],
        [("All", "1.2.mac")],
    ]
    assert "reply_markup" not in plain


async def test_a_message_is_edited_to_what_was_decided(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """In its place and without its buttons; said again it counts as done."""
    telegram.answers("editMessageText", Answer({"message_id": 9, "date": 1, "chat": {"id": 1, "type": "private"}}))
    telegram.answers("editMessageText", Answer(status=400, error="Bad Request: message is not modified: same content"))
    for _ in range(2):
        assert await channel.send(Outbound(1, "telegram", "1", MessagePart("Forgotten."), "t", replaces="9")) == "9"
    edits = _fields(telegram, "editMessageText")
    assert [(fields["message_id"], fields["text"]) for fields in edits] == [("9", "Forgotten.")] * 2
    assert "reply_markup" not in edits[0]
    assert not _fields(telegram, "sendMessage")


@pytest.mark.parametrize("error", ["message to edit not found", "message can't be edited"])
async def test_where_nothing_can_be_edited_a_message_is_sent(
    telegram: FakeTelegram, channel: TelegramChannel, error: str
) -> None:
    """Somebody may have deleted it; another refusal is one."""
    telegram.answers("editMessageText", Answer(status=400, error=f"Bad Request: {error}"))
    assert await channel.send(Outbound(1, "telegram", "1", MessagePart("Forgotten."), "t", replaces="9")) == "77"
    telegram.answers("editMessageText", Answer(status=400, error="Bad Request: chat not found"))
    with pytest.raises(Rejected, match="Chat not found"):
        await channel.send(Outbound(1, "telegram", "1", MessagePart("Forgotten."), "t", replaces="9"))
