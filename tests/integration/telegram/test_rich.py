"""Rich messages: headings, lists and tables as such, and as text where the server does not know them."""

import json

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.ports.errors import KenobotError, RateLimited, Unavailable
from kenobot.ports.messages import Button, MessagePart, Outbound
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.standin import CHAT, Answer, FakeTelegram, channel_at

LIST = "# Compra\n\n- pan 🥖\n- leche <fresca>"
RICH = "<h1>Compra</h1><ul><li>pan 🥖</li><li>leche &lt;fresca&gt;</li></ul>"


def answer(channel: TelegramChannel, markdown: str = LIST, replaces: str = "") -> Outbound:
    (part,) = channel.render(markdown)
    return Outbound(1, "telegram", CHAT, part, "t", replaces=replaces)


def methods(telegram: FakeTelegram) -> list[str]:
    return [method for method, _ in telegram.calls]


async def test_a_reply_with_blocks_goes_out_rich(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """As one request, with its topic and its buttons; a reply without blocks is a message as ever."""
    telegram.knows_rich = True
    sent = answer(channel)
    buttons = ((Button("Sí", "1.0.mac"),),)
    part = MessagePart(sent.part.text, sent.part.entities, buttons=buttons)
    assert await channel.send(Outbound(1, "telegram", CHAT, part, "t", thread="5")) == "77"
    assert await channel.send(answer(channel, "**hola**")) == "77"
    assert methods(telegram) == ["sendRichMessage", "sendMessage"]
    fields = telegram.calls[0][1]
    assert json.loads(fields["rich_message"]) == {"html": RICH}
    assert fields["message_thread_id"] == "5"
    assert json.loads(fields["reply_markup"]) == {"inline_keyboard": [[{"text": "Sí", "callback_data": "1.0.mac"}]]}


async def test_a_server_without_rich_messages_gets_text_and_is_asked_once_an_hour(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """The same reply goes out with entities at once, and so do the next ones; after an hour it is tried again."""
    for _ in range(2):
        assert await channel.send(answer(channel)) == "77"
    assert methods(telegram) == ["sendRichMessage", "sendMessage", "sendMessage"]
    assert telegram.calls[1][1]["text"] == "Compra\n\n- pan 🥖\n- leche <fresca>"
    assert json.loads(telegram.calls[1][1]["entities"]) == [{"type": "bold", "offset": 0, "length": 6}]
    clock.advance(3601)
    telegram.knows_rich = True
    await channel.send(answer(channel))
    assert methods(telegram)[3:] == ["sendRichMessage"]


@pytest.mark.parametrize(
    ("refusal", "remembered"),
    [
        ("Bad Request: rich message must be non-empty", True),
        ("Bad Request: method not found", True),
        ("Bad Request: RICH_VALIDATE_CTOR_NOT_ALLOWED", False),
    ],
)
async def test_a_refused_rich_message_goes_out_as_text(
    channel: TelegramChannel, telegram: FakeTelegram, refusal: str, *, remembered: bool
) -> None:
    """What is refused for its own content says nothing of the next one; an older form of the method does."""
    telegram.knows_rich = True
    telegram.answers("sendRichMessage", Answer(status=400, error=refusal))
    for _ in range(2):
        assert await channel.send(answer(channel)) == "77"
    assert methods(telegram)[:2] == ["sendRichMessage", "sendMessage"]
    assert methods(telegram)[2:] == (["sendMessage"] if remembered else ["sendRichMessage"])


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Answer(status=429, error="Too Many Requests", parameters={"retry_after": 12}), RateLimited),
        (Answer(status=502, error="Bad Gateway"), Unavailable),
        (Answer(cut=True), Unavailable),
    ],
    ids=["429", "502", "cut"],
)
async def test_a_passing_failure_is_no_refusal(
    channel: TelegramChannel, telegram: FakeTelegram, fault: Answer, kind: type[KenobotError]
) -> None:
    """The message may have arrived: text behind it would double it."""
    telegram.knows_rich = True
    telegram.answers("sendRichMessage", fault)
    with pytest.raises(kind):
        await channel.send(answer(channel))
    assert methods(telegram) == ["sendRichMessage"]


async def test_a_message_is_replaced_richly(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """And as text where the server takes the field for nothing."""
    assert await channel.send(answer(channel, replaces="70")) == "70"
    fields = telegram.calls[0][1]
    assert (fields["message_id"], json.loads(fields["rich_message"])) == ("70", {"html": RICH})
    telegram.answers("editMessageText", Answer(status=400, error="Bad Request: message text is empty"))
    assert await channel.send(answer(channel, replaces="70")) == "70"
    assert methods(telegram) == ["editMessageText"] * 3
    assert telegram.calls[2][1]["text"].startswith("Compra")


async def test_a_draft_is_rich_too(channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock) -> None:
    """On a server that knows no rich drafts it is shown as text in the same moment."""
    await channel.draft(CHAT, "17", LIST)
    clock.advance(1)
    assert methods(telegram) == ["sendRichMessageDraft", "sendMessageDraft"]
    telegram.knows_rich = True
    clock.advance(3601)
    await channel.draft(CHAT, "17", LIST)
    method, fields = telegram.calls[-1]
    assert (method, json.loads(fields["rich_message"])) == ("sendRichMessageDraft", {"html": RICH})
    assert fields["draft_id"] == telegram.calls[0][1]["draft_id"]


async def test_rich_messages_can_be_switched_off(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Then every reply is text with entities."""
    telegram.knows_rich = True
    channel = channel_at(telegram.base_url, clock, rich_messages=False)
    await channel.send(answer(channel))
    assert methods(telegram) == ["sendMessage"]


async def test_a_refused_token_is_not_taken_for_an_old_server(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """The part waits, as any other."""
    telegram.knows_rich = True
    for method in ("sendRichMessage", "sendMessage"):
        telegram.answers(method, Answer(status=401, error="Unauthorized"))
    with pytest.raises(Unavailable, match="token"):
        await channel.send(answer(channel))
