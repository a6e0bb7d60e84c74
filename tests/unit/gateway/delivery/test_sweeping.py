"""Delivery: what nobody works on is taken up by a sweep."""

import asyncio

import pytest

from kenobot.ports.errors import RateLimited, Rejected, Unavailable
from kenobot.ports.messages import Outbound
from kenobot.ports.signals import MESSAGE_FAILED
from kenobot.storage.outbox import SentPart
from kenobot_testing.clock import EagerClock
from tests.unit.gateway.delivery.house import House


async def test_a_sweep_sends_what_nobody_works_on(house: House) -> None:
    """Such as a part that the owner put back by the command line; what is under way is left alone."""
    await house.answer("one")
    await house.delivery.queue.wait_idle()
    await house.commit("put back")
    await house.delivery.sweep()
    await house.delivery.sweep()
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["one", "put back"]


async def test_after_a_restart_a_part_does_not_wait_as_long_as_before_it(house: House) -> None:
    """Its channel may only be connecting yet: a few tries come soon, however often it was tried, then pauses are long.

    Killed again and again before its channel was connected, a bot would let the chat wait for minutes otherwise.
    """
    await _sweep_after_restarts(house, tried=20, fails=7)
    assert house.channel.texts == ["patient"]
    assert isinstance(house.clock, EagerClock)
    assert [pause < 30 for pause in house.clock.slept] == [True] * 5 + [False] * 2


async def test_a_bot_that_restarts_again_and_again_gives_nothing_up_before_it_is_connected(house: House) -> None:
    """A part that was tried ever so often is given up only by a run that tried it more than a few times itself."""
    await _sweep_after_restarts(house, tried=400, fails=5)
    assert house.channel.texts == ["patient"]


async def _sweep_after_restarts(house: House, *, tried: int, fails: int) -> None:
    """Sweep up a part that runs before this one tried so often; its channel is connected after some failures."""
    await house.commit("patient")
    await house.database.write(lambda connection: connection.execute("UPDATE outbox SET attempts = ?", (tried,)))
    house.channel.fail_next(*[Unavailable("not connected")] * fails)
    await house.delivery.sweep()
    await house.delivery.queue.wait_idle()


async def test_sweeping_all_the_while_doubles_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are handed over, swept up and sent at the same time, each once and in order."""
    texts = [str(number) for number in range(60)]

    async def sweep() -> None:
        while len(house.channel.sent) < len(texts):
            await house.delivery.sweep()

    sweeping = [asyncio.create_task(sweep()) for _ in range(3)]
    for text in texts:
        await house.answer(text)
    await asyncio.gather(*sweeping)
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == texts


async def test_a_line_that_broke_is_taken_up_by_the_next_sweep(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of ours costs a part a minute, not a restart, and does not send what was sent."""
    original, bugs = house.outbox.mark_sent, [RuntimeError("a bug")]

    async def mark(sent: SentPart) -> None:
        if bugs:
            raise bugs.pop()
        await original(sent)

    monkeypatch.setattr(house.outbox, "mark_sent", mark)
    await house.answer("one", "two")
    tasks = [line.task for line in house.delivery.queue._lines.values() if line.task]
    assert [type(end) for end in await asyncio.gather(*tasks, return_exceptions=True)] == [RuntimeError]
    await house.delivery.sweep()
    await house.delivery.queue.wait_idle()
    assert house.channel.texts == ["one", "two"]
    assert {state for _, state, _ in await house.states()} == {"sent"}


async def test_a_channel_whose_sends_hang_holds_up_no_other(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many of its chats have something to send."""
    release = asyncio.Event()

    async def hang(outbound: Outbound) -> str:
        await release.wait()
        return "1"

    monkeypatch.setattr(house.channel, "send", hang)
    for chat in range(40):
        await house.answer("slow", chat=str(chat))
    await house.answer("quick", channel="other")
    async with asyncio.timeout(60):
        await house.other.until_sent(1)
    release.set()
    await house.delivery.queue.wait_idle()


@pytest.mark.parametrize(("asked", "waited"), [(0, 1), (-5, 1), (float("nan"), 1), (1e12, 86_400)])
async def test_a_senseless_wish_is_obeyed_within_reason(house: House, asked: float, waited: float) -> None:
    """No tries without a pause, and no pause without an end."""
    house.channel.fail_next(RateLimited("slow", asked))
    await house.answer("hello")
    await house.delivery.queue.wait_idle()
    assert isinstance(house.clock, EagerClock)
    assert house.clock.slept == [waited]


async def test_a_chat_that_blocked_the_bot_costs_only_itself(house: House) -> None:
    """Each of its parts is tried once and given up; which chat it was is announced."""
    blocked: list[object] = []
    house.bus.wake_on(MESSAGE_FAILED, lambda envelope: blocked.append(envelope.payload["chat"]))
    house.channel.fail_next(Rejected("blocked"), Rejected("blocked"))
    await house.answer("one", "two", chat="blocker")
    await house.delivery.queue.wait_idle()
    await house.answer("hello", chat="friend")
    await house.delivery.queue.wait_idle()
    assert blocked == ["blocker", "blocker"]
    assert house.channel.texts == ["hello"]
    assert [state for _, state, _ in await house.states()] == ["dead", "dead", "sent"]
