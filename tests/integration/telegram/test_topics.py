"""Forum topics: an answer, its draft and the typing notice stay in the topic of the message."""

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.updates import BotUser, IgnoredUpdate, parse_update
from kenobot.ports.messages import Inbound, MessagePart, Outbound, TextEntity
from tests.integration.telegram.standin import Answer, FakeTelegram, update

GROUP = "-1001"
ME = BotUser(7, "KenoBot")


def in_topic(text: str, **more: object) -> object:
    raw = update(1, text)
    raw["message"]["chat"] = {"id": int(GROUP), "type": "supergroup", "is_forum": True}
    raw["message"] |= {"message_thread_id": 5, "is_topic_message": True} | more
    return raw


def answer(text: str, *spans: TextEntity) -> Outbound:
    return Outbound(1, "telegram", GROUP, MessagePart(text, spans), "t", thread="5")


def test_a_topic_is_a_session_of_its_own() -> None:
    """The same chat without a topic, or in another, is another conversation."""
    parsed = [parse_update(in_topic("@KenoBot hi", **more), ME) for more in ({}, {"message_thread_id": 6})]
    plain = parse_update(in_topic("@KenoBot hi", is_topic_message=False), ME)
    sessions = {each.session for each in (*parsed, plain) if isinstance(each, Inbound)}
    assert len(sessions) == 3
    assert isinstance(plain, Inbound)
    assert plain.thread == ""


def test_what_opened_a_topic_is_not_answered_by_all_in_it() -> None:
    """A topic that the bot opened does not make every message there one for the bot."""
    opened = {"from": {"id": 7, "is_bot": True}, "forum_topic_created": {"name": "Garden"}}
    assert isinstance(parse_update(in_topic("just talk", reply_to_message=opened), ME), IgnoredUpdate)
    said = parse_update(in_topic("@KenoBot yes", reply_to_message=opened | {"message_id": 5}), ME)
    assert isinstance(said, Inbound)
    assert said.reply_to == ""


async def test_all_of_an_answer_stays_in_its_topic(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """The message, what is shown of it before, and the notice that it comes."""
    await channel.typing(GROUP, "5")
    await channel.draft(GROUP, "17", "Hel", "5")
    await channel.send(answer("Hello"))
    assert [fields.get("message_thread_id") for _, fields in telegram.calls] == ["5", "5", "5"]


@pytest.mark.parametrize("error", ["TOPIC_CLOSED", "message thread not found", "TOPIC_DELETED"])
async def test_a_closed_topic_is_answered_in_the_group_itself(
    telegram: FakeTelegram, channel: TelegramChannel, error: str
) -> None:
    """It says so, and its formatting is where it was."""
    telegram.answers("sendMessage", Answer(status=400, error=f"Bad Request: {error}"))
    await channel.send(answer("all of it", TextEntity("bold", 0, 3)))
    _, fields = telegram.calls[-1]
    assert "message_thread_id" not in fields
    assert fields["text"].endswith("closed, so the answer comes here.)\n\nall of it")
    offset = fields["text"].index("all of it")
    assert f'"offset": {offset}' in fields["entities"]
