"""A reply in a group is shown while it is written: edits of one message, at a pace, never behind the answer."""

import asyncio
from itertools import pairwise

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.ports.errors import RateLimited, Rejected, Unavailable
from kenobot.ports.messages import MessagePart, Outbound
from kenobot_testing.clock import EagerClock
from tests import waiting
from tests.integration.telegram.standin import Answer, FakeTelegram

GROUP = "-5"


def answer(text: str, replaces: str = "77") -> Outbound:
    return Outbound(1, "telegram", GROUP, MessagePart(text), "t", replaces=replaces, thread="3")


def edits(telegram: FakeTelegram) -> list[str]:
    return [fields["text"] for method, fields in telegram.calls if method == "editMessageText"]


async def test_edits_keep_to_the_pace_of_groups(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """At most one a second and fewer than 20 messages and edits in any minute, however fast the reply grows."""
    times: list[float] = []
    for tick in range(600):
        before = len(telegram.calls)
        await channel.preview(GROUP, "77", f"word {tick}")
        times += [clock.monotonic()] * (len(telegram.calls) - before)
        clock.advance(0.25)
    assert len(times) > 30
    assert min(late - early for early, late in pairwise(times)) >= 1.0
    assert all(sum(start <= at < start + 60 for at in times) < 20 for start in times)


async def test_messages_count_in_the_pace(channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock) -> None:
    """After twenty messages within the minute nothing is shown early; each of the messages went out."""
    for _ in range(20):
        await channel.send(answer("hi", ""))
    clock.advance(30)
    await channel.preview(GROUP, "77", "Hel")
    assert [method for method, _ in telegram.calls] == ["sendMessage"] * 20


async def test_an_answer_never_lands_before_its_last_edit(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """It waits until the edit on its way has ended; then the message is the answer."""
    arrives = asyncio.Event()
    telegram.answers("editMessageText", Answer(result=True, until=arrives))
    showing = asyncio.create_task(channel.preview(GROUP, "77", "Hel"))
    await waiting.until(lambda: len(telegram.calls) == 1)
    showing.cancel()  # the turn is over
    sending = asyncio.create_task(channel.send(answer("Hello")))
    await asyncio.wait({sending}, timeout=0.05)
    assert edits(telegram) == ["Hel"]
    arrives.set()
    assert await sending == "77"
    assert edits(telegram) == ["Hel", "Hello"]


@pytest.mark.parametrize(
    ("fault", "kind", "seconds"),
    [
        (Answer(status=429, error="Too Many Requests", parameters={"retry_after": 12}), RateLimited, 12),
        (Answer(status=502, error="Bad Gateway"), Unavailable, 60),
        (Answer(status=400, error="Bad Request: message to edit not found"), Rejected, 3600),
    ],
    ids=["429", "502", "deleted"],
)
async def test_a_failed_edit_pauses_its_group(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock, fault: Answer, kind: type, seconds: int
) -> None:
    """No message takes its place: that would be a second one. The answer goes out all the same."""
    telegram.answers("editMessageText", fault)
    with pytest.raises(kind):
        await channel.preview(GROUP, "77", "Hel")
    clock.advance(2)
    with pytest.raises(Unavailable):
        await channel.preview(GROUP, "77", "Hell")
    assert await channel.send(answer("Hello")) == "77"
    assert edits(telegram) == ["Hel", "Hello"]
    clock.advance(seconds + 60)
    await channel.preview(GROUP, "77", "Next")
    assert edits(telegram)[2:] == ["Next"]
    assert {method for method, _ in telegram.calls} == {"editMessageText"}


async def test_an_answer_whose_preview_is_gone_is_a_new_message(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """An administrator deleted it: the answer is sent, into its topic."""
    telegram.answers("editMessageText", Answer(status=400, error="Bad Request: message to edit not found"))
    assert await channel.send(answer("Hello", "70")) == "77"
    method, fields = telegram.calls[-1]
    assert (method, fields["text"], fields["message_thread_id"]) == ("sendMessage", "Hello", "3")
