"""Asking a server that fails, is silent or has another reader; and the token, which no trouble may tell."""

import asyncio
import logging
import traceback

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.core.bus import Bus
from kenobot.gateway.channel_supervisor import keep_running
from kenobot.ports.channel import find_last_heard
from kenobot.ports.errors import KenobotError, Rejected
from kenobot.ports.messages import Inbound, TextEntity
from kenobot.ports.signals import CHANNEL_DOWN
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.standin import (
    CHAT,
    FAULTS,
    HTML,
    REFUSALS,
    TOKEN,
    Answer,
    Box,
    FakeTelegram,
    channel_at,
    outbound,
    running,
    until_idle,
    update,
)


@pytest.mark.parametrize("method", ["getMe", "getUpdates"])
@pytest.mark.parametrize("status", [401, 404])
async def test_a_refused_token_ends_the_channel(
    channel: TelegramChannel, telegram: FakeTelegram, method: str, status: int
) -> None:
    """No asking again can mend a bad token, so a person is told what to do."""
    telegram.answers(method, Answer(status=status, error="Unauthorized"))
    with pytest.raises(Rejected, match=r"refused by Telegram: get a new one from @BotFather and run `kenobot setup`"):
        await channel.run(Box())


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_a_failing_server_is_asked_again_after_growing_pauses(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock, fault: Answer
) -> None:
    """Whatever the server does, the pauses double and the message arrives when it is well again."""
    box = Box()
    telegram.answers("getUpdates", fault, fault, fault, Answer([update(1)]), fault)
    await until_idle(channel, telegram, box)
    assert box.ids == ["1"]
    assert clock.slept == [1, 2, 4, 1]


async def test_pauses_end_at_half_a_minute_and_cover_the_first_call(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """A server that is down when the program starts delays it and does not end it."""
    telegram.answers("getMe", *[Answer(status=503, error="down")] * 7)
    await until_idle(channel, telegram, Box())
    assert clock.slept == [1, 2, 4, 8, 16, 30, 30]


async def test_telegrams_own_pause_is_obeyed(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """When Telegram says how long to wait, that is how long the channel waits."""
    telegram.answers("getUpdates", Answer(status=429, error="Too Many Requests", parameters={"retry_after": 47}))
    await until_idle(channel, telegram, Box())
    assert clock.slept == [47]


async def test_a_second_reader_is_outwaited(
    telegram: FakeTelegram, clock: EagerClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Another program with the same token is named in the log, and given longer than one poll before the next try."""
    box = Box()
    terminated = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    telegram.answers("getUpdates", Answer(status=409, error=terminated), Answer([update(1)]))
    await until_idle(channel_at(telegram.base_url, clock, poll_seconds=50), telegram, box)
    assert box.ids == ["1"]
    assert clock.slept == [51]
    assert "Another program reads this bot's messages" in caplog.text
    assert box.reports == ["Another program reads this bot's messages with the same token: stop it or get a new token"]


async def test_a_second_reader_that_stays_is_reported_once_an_hour(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """The owner is told, not pestered."""
    box = Box()
    telegram.answers("getUpdates", *[Answer(status=409, error="Conflict: other getUpdates request")] * 150)
    await until_idle(channel, telegram, box)
    assert clock.slept == [30] * 150
    assert len(box.reports) == 2


async def test_a_silent_server_is_given_up_on(telegram: FakeTelegram, clock: EagerClock) -> None:
    """A request that is never answered ends at its deadline, and the next one is made."""
    telegram.answers("getMe", Answer(hang=True))
    await until_idle(channel_at(telegram.base_url, clock, request_seconds=0.2), telegram, Box())
    assert clock.slept[0] == 1


async def test_life_is_shown_by_every_request_that_ends(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Well or badly; while one hangs, nothing is heard; while the channel itself rests or stores, nobody is mute."""
    channel, box = channel_at(telegram.base_url, clock), Box()
    assert (channel.last_answer_at, channel.stall_seconds) == (None, 21)
    seen: list[bool] = []

    def watch(inbound: Inbound) -> None:
        before = channel.last_answer_at
        clock.advance(1000)
        assert before is not None and channel.last_answer_at is not None
        seen.append(channel.last_answer_at - before == 1000)

    box.watch = watch
    telegram.answers("getUpdates", Answer(status=502, body=HTML), Answer([update(1)]))
    async with running(channel, box):
        await telegram.idle.wait()
        assert channel.last_answer_at == clock.monotonic()
        clock.advance(50)
        assert channel.last_answer_at == clock.monotonic() - 50, "a poll under way is no sign of life"
    assert seen == [True]


async def test_a_platform_that_refuses_is_told_apart_from_one_that_answers(
    telegram: FakeTelegram, clock: EagerClock
) -> None:
    """Since the first of several refusals, until a request is answered well; each is a sign of life all the same."""
    channel, box = channel_at(telegram.base_url, clock), Box()
    telegram.answers("getUpdates", *[Answer(status=502, body=HTML)] * 3, Answer([update(1)]))
    seen: list[float | None] = []
    sleep = clock.sleep

    async def rest(seconds: float) -> None:
        seen.append(channel.failing_since)
        assert find_last_heard(channel) == channel.failing_since
        await sleep(seconds)

    clock.sleep = rest  # type: ignore[method-assign]
    async with running(channel, box):
        await telegram.idle.wait()
        assert channel.failing_since is None
        assert find_last_heard(channel) == channel.last_answer_at
    assert len(seen) == 3
    assert seen[0] is not None
    assert set(seen) == {seen[0]}


async def test_a_connection_that_died_silently_is_opened_anew(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Supervision cancels the run whose poll is never answered, and what came meanwhile arrives by the next one."""
    channel, box, bus = channel_at(telegram.base_url, clock), Box(), Bus(clock)
    channel.stall_seconds = 0.2  # shorter than the client's own deadline, as if that had failed
    down: list[str] = []
    bus.wake_on(CHANNEL_DOWN, lambda envelope: down.append(str(envelope.payload["error"])))
    telegram.answers("getUpdates", Answer(hang=True), Answer([update(1)]), Answer([]))
    task = asyncio.create_task(keep_running(channel, box, bus, clock))
    await box.holds(1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert box.ids == ["1"]
    assert down[0].startswith("telegram has not answered for 0.2 seconds")
    await bus.close()


async def test_a_poll_that_hangs_ends_at_its_own_deadline(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Long before supervision loses patience."""
    channel, box = channel_at(telegram.base_url, clock, request_seconds=0.1), Box()
    telegram.answers("getUpdates", Answer(hang=True), Answer([update(1)]))
    async with running(channel, box):
        await box.holds(1)
    assert {*clock.slept} == {1}
    assert channel.stall_seconds > 1 + 0.1


# ── the token ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_token_reaches_no_log_and_no_error(
    telegram: FakeTelegram, clock: EagerClock, caplog: pytest.LogCaptureFixture
) -> None:
    """With every logger wide open and every fault there is, the token is in no log line, error or traceback."""
    caplog.set_level(logging.DEBUG)
    channel, seen = channel_at(telegram.base_url, clock), []
    faults = [*FAULTS.values(), *(answer for answer, _ in REFUSALS if answer.status not in (400, 401, 403))]
    echo = Answer(status=500, error=f"no such file: /bot{TOKEN}/getUpdates")
    telegram.answers("getUpdates", *faults, echo, Answer([update(1)]))
    await until_idle(channel, telegram, Box())
    for fault in [*faults, *(answer for answer, _ in REFUSALS), echo]:
        telegram.answers("sendMessage", fault)
        telegram.answers("sendChatAction", fault)
        await channel.typing(CHAT)
        try:
            await channel.send(outbound("hi", TextEntity("bold", 0, 2)))
        except KenobotError as error:
            logging.getLogger("core").exception("a send failed")
            seen.append(f"{error} {error!r} {''.join(traceback.format_exception(error))}")
    assert len(seen) > 15
    assert "a send failed" in caplog.text
    assert "canary" not in caplog.text + "".join(seen)
