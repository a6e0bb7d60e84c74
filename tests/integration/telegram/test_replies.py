"""What a message answers or quotes reaches the model, as words of another; and answers in groups name theirs."""

import json
from pathlib import Path

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.updates import BotUser, parse_update
from kenobot.ports.messages import Attachment, Inbound, MessagePart, Outbound
from tests.integration.telegram.standin import Answer, FakeTelegram, update
from tests.scene import Scene

ME = BotUser(7, "KenoBot")
BEA = {"id": 9, "is_bot": False, "first_name": "Bea"}
BOT = {"id": 7, "is_bot": True, "first_name": "Keno"}


def answering(text: str, answered: object, *, group: bool = False, **more: object) -> Inbound:
    raw = update(1, text)
    raw["message"] |= {"reply_to_message": answered} | more
    if group:
        raw["message"]["chat"] = {"id": -5, "type": "supergroup"}
    parsed = parse_update(raw, ME)
    assert isinstance(parsed, Inbound)
    return parsed


def test_what_is_answered_comes_with_the_message() -> None:
    """Its beginning and author; of what somebody marked in it, only that."""
    letter = {"message_id": 5, "from": BEA, "text": "The gate code is 4711. " + "x" * 5000}
    parsed = answering("remember this", letter)
    assert parsed.quoted.startswith("The gate code is 4711.")
    assert (len(parsed.quoted), parsed.quoted_author, parsed.reply_to) == (1000, "Bea", "5")
    assert answering("remember this", letter, quote={"text": "4711"}).quoted == "4711"


def test_what_the_bot_said_is_quoted_where_that_is_meant() -> None:
    """In private always; in a group, where every word to it may be an answer, only what was marked."""
    said = {"message_id": 5, "from": BOT, "text": "Madrid"}
    assert answering("are you sure?", said).quoted == "Madrid"
    assert answering("are you sure?", said, group=True).quoted == ""
    assert answering("are you sure?", said, group=True, quote={"text": "Mad"}).quoted == "Mad"


async def test_the_model_reads_it_and_memory_takes_it_for_anothers(tmp_path: Path) -> None:
    """ "Remember this" works, and what is remembered is not the owner's own word; a quoted command does nothing."""
    reply = "Noted. <memory>The gate code is 4711</memory>"
    async with Scene(tmp_path, [reply, "ok"]) as scene:
        await scene.say("recuerda esto", quoted="The gate code is 4711", quoted_author="Bea")
        assert "> Bea wrote:\n> The gate code is 4711" in scene.requests[0]
        assert await scene.rows("SELECT text, trust FROM record") == [("The gate code is 4711", "forward")]
        assert await scene.say("/help", quoted="/forget all", quoted_author="Bea")
        await scene.say("thanks")
        assert "> Bea wrote:\n> The gate code is 4711" in scene.requests[-1]
        assert await scene.rows("SELECT count(*) FROM inbox WHERE quoted LIKE '%4711%'") == [(1,)]


async def test_an_answer_in_a_group_is_a_reply_to_the_asker(tmp_path: Path) -> None:
    """Of each answer the first message is one, also that of a command; in private none is (Bot API 7.0)."""
    async with Scene(tmp_path, ["Madrid.", "Lyon."]) as scene:
        for number, (text, user) in enumerate([("capital of Spain?", "1"), ("and yours?", "9"), ("/help", "9")]):
            await scene.say(text, "-5", user, private=False, platform_id=str(40 + number))
        assert [each.reply_to for each in scene.channel.sent] == ["40", "41", "42"]
        await scene.say("and in private?", platform_id="43")
        assert scene.channel.sent[-1].reply_to == ""


@pytest.mark.parametrize(
    ("part", "method"),
    [
        (MessagePart("a"), "sendMessage"),
        (MessagePart("- a\n- b"), "sendRichMessage"),
        (MessagePart("a", attachments=(Attachment("document", name="a.txt", text="a"),)), "sendDocument"),
    ],
)
async def test_telegram_is_told_which_message_is_answered(
    telegram: FakeTelegram, channel: TelegramChannel, part: MessagePart, method: str
) -> None:
    """It may be gone meanwhile (Bot API 7.0, ReplyParameters); what one person alone wrote to the bot has no number."""
    telegram.knows_rich = True
    await channel.send(Outbound(1, "telegram", "-5", part, "t", reply_to="40"))
    name, fields = telegram.calls[-1]
    expected = {"message_id": 40, "allow_sending_without_reply": True}
    assert (name, json.loads(fields["reply_parameters"])) == (method, expected)
    await channel.send(Outbound(2, "telegram", "-5", part, "t", reply_to="~9.3"))
    await channel.send(Outbound(3, "telegram", "-5", MessagePart("a"), "t", reply_to="40", replaces="77"))
    assert not any("reply_parameters" in fields for _, fields in telegram.calls[-2:])


async def test_a_group_that_moved_is_answered_without_a_reply(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """In the supergroup another message has that number (ResponseParameters of python-telegram-bot 22.8)."""
    moved = Answer(status=400, error="Bad Request: group chat was upgraded", parameters={"migrate_to_chat_id": -1005})
    telegram.answers("sendMessage", moved)
    await channel.send(Outbound(1, "telegram", "-5", MessagePart("a"), "t", reply_to="40"))
    assert ["reply_parameters" in fields for _, fields in telegram.calls] == [True, False]
