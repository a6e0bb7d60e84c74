"""What the Telegram channel sends: formatting, moved groups, and whose fault a failure is."""

import asyncio
import json
import threading
from contextlib import nullcontext

import pytest

from kenobot.channels.telegram import unfinished
from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.ports.channel import capabilities_of
from kenobot.ports.errors import KenobotError, Rejected, RemoteError, Unavailable
from kenobot.ports.messages import Attachment, MessagePart, Outbound, TextEntity
from kenobot_testing.clock import EagerClock, ManualClock
from tests import waiting
from tests.integration.telegram.standin import (
    CHAT,
    REFUSALS,
    SENT,
    Answer,
    Box,
    FakeTelegram,
    channel_at,
    outbound,
    running,
    until_idle,
)


async def test_a_part_goes_out_with_its_formatting(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """Formatting travels as entities, never as markup, and links get no preview."""
    (part,) = channel.render("**a** [b](http://x) `c`\n```py\nd\n```")
    telegram.answers("sendMessage", Answer(SENT))
    assert await channel.send(Outbound(1, "telegram", CHAT, part, "t")) == "77"
    fields = next(fields for method, fields in telegram.calls if method == "sendMessage")
    assert fields["text"] == "a b c\nd\n"
    assert json.loads(fields["entities"]) == [
        {"type": "bold", "offset": 0, "length": 1},
        {"type": "text_link", "offset": 2, "length": 1, "url": "http://x"},
        {"type": "code", "offset": 4, "length": 1},
        {"type": "pre", "offset": 6, "length": 2, "language": "py"},
    ]
    assert json.loads(fields["link_preview_options"]) == {"is_disabled": True}
    assert "parse_mode" not in fields


def test_rendering_always_gives_something_to_send(channel: TelegramChannel) -> None:
    """A reply with nothing to see becomes an ellipsis; no reply becomes nothing."""
    assert channel.render("\u200b\n") == [MessagePart("…")]
    assert channel.render("") == []
    assert [part.text for part in channel.render("x " * 3000)] == ["x " * 2047 + "x", "x " * 951 + "x "]


async def test_a_server_without_link_previews_is_not_asked_twice(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """A Bot API server that does not know the parameter gets the same message without it, and so all later ones."""
    telegram.answers("sendMessage", Answer(status=400, error="Bad Request: link_preview_options is not supported yet"))
    for _ in range(2):
        assert await channel.send(outbound("hi", TextEntity("bold", 0, 2))) == "77"
    assert ["link_preview_options" in fields for _, fields in telegram.calls] == [True, False, False]
    assert all("entities" in fields for _, fields in telegram.calls)


async def test_messages_sent_at_once_all_learn_that_there_are_no_link_previews(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """Also those that were on their way while another one learned it."""
    refusal = Answer(status=400, error="Bad Request: link_preview_options is not supported yet")
    telegram.answers("sendMessage", refusal, refusal, refusal)
    assert await asyncio.gather(*(channel.send(outbound("hi")) for _ in range(3))) == ["77"] * 3


async def test_link_previews_can_be_switched_on(telegram: FakeTelegram, clock: EagerClock) -> None:
    """By the setting; without it no message has any."""
    await channel_at(telegram.base_url, clock, link_previews=True).send(outbound("see https://a.b"))
    ((_, fields),) = telegram.calls
    assert json.loads(fields["link_preview_options"]) == {"is_disabled": False}


async def test_refused_formatting_costs_the_formatting_only(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """The same text goes out once more, plain; not on any other refusal, which would double it."""
    refusal = Answer(status=400, error="Bad Request: can't parse entities: entity ends beyond the text")
    telegram.answers("sendMessage", refusal, Answer(SENT), refusal, refusal)
    assert await channel.send(outbound("hi", TextEntity("bold", 0, 9))) == "77"
    assert [("entities" in fields, fields["text"]) for _, fields in telegram.calls] == [(True, "hi"), (False, "hi")]
    with pytest.raises(Rejected, match="entities"):
        await channel.send(outbound("hi", TextEntity("bold", 0, 9)))
    assert len(telegram.calls) == 4


MOVED = Answer(
    status=400,
    error="Bad Request: group chat was upgraded to a supergroup chat",
    parameters={"migrate_to_chat_id": -1005},
)


async def test_a_long_answer_goes_out_as_a_file(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """Its text is the document's, and what the part says its caption; the channel declares that it can."""
    assert "document" in capabilities_of(channel).sends
    file = Attachment("document", mime="text/markdown", name="respuesta.md", text="# Todo\n\nñandú 👋 你好")
    part = MessagePart("all of it", (TextEntity("bold", 0, 3),), (file,))
    assert await channel.send(Outbound(1, "telegram", CHAT, part, "t")) == "77"
    ((method, fields),) = telegram.calls
    assert (method, fields["chat_id"], fields["caption"]) == ("sendDocument", CHAT, "all of it")
    assert json.loads(fields["caption_entities"]) == [{"type": "bold", "offset": 0, "length": 3}]
    assert fields["document"] == "respuesta.md\n# Todo\n\nñandú 👋 你好"


async def test_a_refused_file_is_told_in_words(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """As in a group where the bot may send none: what stands in it, or its beginning and how much is left out."""
    refusal = Answer(status=400, error="Bad Request: not enough rights to send documents to the chat")
    telegram.answers("sendDocument", refusal, refusal)
    for text in ("a,b\n1,2", "ñandú 👋\n" * 1000):
        part = MessagePart("Aquí lo tienes, en un archivo.", (), (Attachment("document", name="r.csv", text=text),))
        assert await channel.send(Outbound(1, "telegram", CHAT, part, "t")) == "77"
    told = [fields["text"] for method, fields in telegram.calls if method == "sendMessage"]
    assert told[0] == "a,b\n1,2"
    assert told[1].startswith("ñandú 👋\nñandú 👋")
    assert "caracteres" in told[1]
    assert len(told[1].encode("utf-16-le")) // 2 <= 4096


async def test_a_group_that_became_a_supergroup_gets_its_answer(
    channel: TelegramChannel, telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
) -> None:
    """At its new id, which the log names for the settings."""
    telegram.answers("sendMessage", MOVED)
    assert await channel.send(outbound("hi", TextEntity("bold", 0, 2))) == "77"
    assert [fields["chat_id"] for _, fields in telegram.calls] == [CHAT, "-1005"]
    assert all("entities" in fields for _, fields in telegram.calls)
    assert "-1005" in caplog.text


async def test_a_group_that_moves_on_and_on_is_not_followed_for_ever(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """Two moves during one send are no move at all."""
    telegram.answers("sendMessage", MOVED, MOVED)
    with pytest.raises(Rejected, match="supergroup"):
        await channel.send(outbound())
    assert len(telegram.calls) == 2


@pytest.mark.parametrize(
    ("answer", "kind"), REFUSALS, ids=[f"{a.status} {a.error or a.body!r}"[:40] for a, _ in REFUSALS]
)
async def test_failures_say_whose_they_are(
    channel: TelegramChannel, telegram: FakeTelegram, answer: Answer, kind: type[KenobotError]
) -> None:
    """The core learns whether to try again, and when; one request goes out for one send."""
    telegram.answers("sendMessage", answer)
    with pytest.raises(kind) as failure:
        await channel.send(outbound())
    assert getattr(failure.value, "retry_after", None) == answer.parameters.get("retry_after")
    assert len(telegram.calls) == 1


async def test_no_server_at_all_is_a_passing_failure(clock: EagerClock, unused_tcp_port: int) -> None:
    """A refused connection may be a restart of something; the core tries again."""
    with pytest.raises(Unavailable):
        await channel_at(f"http://127.0.0.1:{unused_tcp_port}/bot", clock).send(outbound())


async def test_sending_has_a_deadline(telegram: FakeTelegram, clock: EagerClock) -> None:
    """A send that hangs does not hang its caller."""
    telegram.answers("sendMessage", Answer(hang=True))
    with pytest.raises(Unavailable, match="in time"):
        await channel_at(telegram.base_url, clock, request_seconds=0.05).send(outbound())


async def test_typing_never_fails(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """Nothing depends on the typing notice, so its failures are nobody's concern."""
    telegram.answers("sendChatAction", Answer(True), Answer(status=403, error="Forbidden"), Answer(cut=True))
    for _ in range(3):
        await channel.typing(CHAT)
    assert [fields["action"] for _, fields in telegram.calls] == ["typing"] * 3


async def test_sending_works_while_polling_and_after_it(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """A long poll in progress delays no reply, and a turn that ends after intake can still answer."""
    await until_idle(channel, telegram, Box())
    telegram.idle.clear()
    async with running(channel, Box()):
        await telegram.idle.wait()
        assert await asyncio.gather(*[channel.send(outbound()) for _ in range(20)]) == ["77"] * 20
    assert await channel.send(outbound()) == "77"


async def test_a_reply_is_shown_while_it_is_written(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """As a draft of one number, formatted, and of a long one its last message; nothing to show asks for nothing."""
    for text in ("**Hel", "**Hello**", "x " * 3000, ""):
        await channel.draft(CHAT, "17", text)
        clock.advance(1)
    drafts = [fields for method, fields in telegram.calls if method == "sendMessageDraft"]
    assert [fields["text"] for fields in drafts] == ["**Hel", "Hello", "x " * 951 + "x "]
    assert len({fields["draft_id"] for fields in drafts}) == 1
    assert int(drafts[0]["draft_id"]) > 0
    assert json.loads(drafts[1]["entities"]) == [{"type": "bold", "offset": 0, "length": 5}]


async def test_replies_that_begin_together_are_shown_one_after_the_other(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """Ten chats within a second, as many as a bot may serve beside its messages; none waits for its next look."""
    began = clock.monotonic()
    await asyncio.gather(*(channel.draft(str(chat), "17", "Hel") for chat in range(1, 11)))
    assert {fields["chat_id"] for _, fields in telegram.calls} == {str(chat) for chat in range(1, 11)}
    assert clock.monotonic() - began <= 1


async def test_a_draft_whose_turn_would_come_too_late_is_left_out(telegram: FakeTelegram) -> None:
    """Where more replies grow than can be shown, each is shown more seldom."""
    clock = ManualClock()
    channel = channel_at(telegram.base_url, clock)
    async with asyncio.TaskGroup() as group:
        drafting = [group.create_task(channel.draft(str(chat), "17", "Hel")) for chat in range(30)]
        await waiting.until(lambda: len(telegram.calls) == 1)
        assert 9 <= len(clock.pending_sleeps) <= 11
        assert max(clock.pending_sleeps) <= 1
        for task in drafting:
            task.cancel()


async def test_an_answer_waits_for_its_draft(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """A draft that came in behind the message would stand there for half a minute."""
    arrives = asyncio.Event()
    telegram.answers("sendMessageDraft", Answer(result=True, until=arrives))
    drafting = asyncio.create_task(channel.draft(CHAT, "17", "Hel"))
    await waiting.until(lambda: len(telegram.calls) == 1)
    drafting.cancel()  # the turn is over
    sending = asyncio.create_task(channel.send(outbound("Hello")))
    await asyncio.wait({sending}, timeout=0.05)
    assert [method for method, _ in telegram.calls] == ["sendMessageDraft"]
    arrives.set()
    assert await sending == "77"


async def test_a_long_draft_is_formatted_beside_the_event_loop(
    channel: TelegramChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile no other chat stands still."""
    threads: list[threading.Thread] = []

    def render(text: str) -> list[MessagePart]:
        threads.append(threading.current_thread())
        return [MessagePart(text[-10:])]

    monkeypatch.setattr(channel._unfinished, "_render", render)
    await channel.draft(CHAT, "17", "**word** " * 1000)
    assert threads
    assert threading.main_thread() not in threads


async def test_a_server_that_knows_no_drafts_is_left_alone(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """It is asked again after an hour; answers go out all the same."""
    telegram.answers("sendMessageDraft", Answer(status=404, error="Not Found"))
    with pytest.raises(Rejected):
        await channel.draft(CHAT, "17", "Hel")
    assert not capabilities_of(channel).drafts
    with pytest.raises(Unavailable):
        await channel.draft("2", "18", "Hel")
    await channel.send(outbound("Hello"))
    assert [method for method, _ in telegram.calls] == ["sendMessageDraft", "sendMessage"]
    clock.advance(3601)
    assert capabilities_of(channel).drafts
    await channel.draft(CHAT, "19", "Hel")


@pytest.mark.parametrize(
    ("refusal", "seconds"),
    [
        (Answer(status=400, error="Bad Request: PEER_ID_INVALID"), 3600),
        (Answer(status=429, error="Too Many Requests", parameters={"retry_after": 12}), 12),
        (Answer(status=502, error="Bad Gateway"), 60),
    ],
    ids=["400", "429", "502"],
)
async def test_a_refused_draft_pauses_its_chat_only(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock, refusal: Answer, seconds: int
) -> None:
    """Others are shown theirs."""
    telegram.answers("sendMessageDraft", refusal)
    with pytest.raises(RemoteError):
        await channel.draft(CHAT, "17", "Hel")
    clock.advance(1)
    with pytest.raises(Unavailable):
        await channel.draft(CHAT, "17", "Hello")
    await channel.draft("2", "18", "Hel")
    assert [fields["chat_id"] for _, fields in telegram.calls] == [CHAT, "2"]
    clock.advance(seconds)
    await channel.draft(CHAT, "17", "Hello")
    assert len(telegram.calls) == 3


async def test_paused_chats_are_forgotten_in_time(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of more than there is room for."""
    monkeypatch.setattr(unfinished, "_MOST_PAUSES", 3)
    telegram.answers("sendMessageDraft", *[Answer(status=400, error="Bad Request: no")] * 4)
    for chat in range(1, 5):
        with pytest.raises(Rejected):
            await channel.draft(str(chat), "17", "Hel")
        clock.advance(0.2)
    for chat, paused in ((1, False), (2, True), (4, True)):
        with pytest.raises(Unavailable) if paused else nullcontext():
            await channel.draft(str(chat), "17", "Hel")
        clock.advance(0.2)
