"""A bot that Telegram does not let in: one plain sentence to the owner, with what to do."""

import asyncio

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.core.bus import Bus
from kenobot.gateway.channel_supervisor import keep_running
from kenobot.ports import sentences
from kenobot.ports.signals import HEALTH_DEGRADED, Envelope
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.standin import DEADLINE, Answer, Box, FakeTelegram

UNAUTHORIZED = Answer(status=401, error="Unauthorized")
FORBIDDEN = Answer(status=403, error="Forbidden: the bot was banned")
WEBHOOK = Answer(status=409, error="Conflict: can't use getUpdates method while webhook is active")


@pytest.mark.parametrize(
    ("method", "answer", "sentence", "spanish"),
    [
        ("getMe", UNAUTHORIZED, "get a new one from @BotFather", "ha rechazado el token"),
        ("getUpdates", UNAUTHORIZED, "get a new one from @BotFather", "ha rechazado el token"),
        ("getMe", FORBIDDEN, "write to @BotSupport", "ha expulsado a este bot"),
        ("getUpdates", WEBHOOK, "deleteWebhook", "quítalo"),
    ],
)
async def test_the_owner_is_told_once_and_what_to_do(
    telegram: FakeTelegram,
    channel: TelegramChannel,
    clock: EagerClock,
    method: str,
    answer: Answer,
    sentence: str,
    spanish: str,
) -> None:
    """In either language, however often the channel is started again; it goes on when Telegram lets the bot in."""
    told: list[str] = []

    async def hear(envelope: Envelope) -> None:
        told.append(str(envelope.payload["reason"]))

    bus = Bus(clock)
    bus.subscribe((HEALTH_DEGRADED,), hear)
    telegram.answers(method, *[answer] * 7)
    others = {"url": "https://other.example/bot", "has_custom_certificate": False, "pending_update_count": 0}
    telegram.answers("getWebhookInfo", *[Answer(others)] * 7)
    running = asyncio.create_task(keep_running(channel, Box(), bus, clock))
    async with asyncio.timeout(DEADLINE):
        await telegram.idle.wait()
    await bus.drain()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert len(told) == 1
    assert sentence in told[0]
    assert spanish in sentences.render(told[0], "es")
