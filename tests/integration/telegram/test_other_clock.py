"""A machine whose clock is ahead of Telegram's, and a home that another bot's token is put into, as real processes."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.integration.process import Bot
from tests.integration.stand_in import Telegram

pytestmark = pytest.mark.long

OTHER_TOKEN = "987654321:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"


@asynccontextmanager
async def world(tmp_path: Path, ahead: timedelta) -> AsyncIterator[tuple[Telegram, Bot]]:
    """Telegram, and a bot with the built-in provider whose clock is `ahead`."""
    async with Telegram() as telegram:
        bot = Bot(tmp_path / "home", telegram, "http://127.0.0.1:9", (datetime.now(UTC) + ahead).isoformat())
        bot.configure()
        config = bot.home / "kenobot.toml"
        config.write_text(config.read_text().replace("name = 'anthropic'", "name = 'offline'"))
        try:
            yield telegram, bot
        finally:
            if bot.process is not None and bot.process.returncode is None:
                await bot.terminate()


@pytest.mark.parametrize("hours", [49, 24 * 400])
async def test_a_clock_that_is_ahead_refuses_nothing_and_is_told(tmp_path: Path, hours: int) -> None:
    """What came before the start and after it is answered; the owner hears of the clock once."""
    async with world(tmp_path, timedelta(hours=hours)) as (telegram, bot):
        await telegram.say("remember that the boiler is blue")
        await bot.start()
        await telegram.until(lambda sent: any(f"{hours} hours ahead" in each.text for each in sent))
        await telegram.say("what do you know about the boiler?")
        sent = await telegram.until(lambda sent: len(sent) >= 3)
        told = [each.text for each in sent if "waited so long" in each.text or "hours ahead" in each.text]
        assert len(told) == 1 and f"{hours} hours ahead" in told[0]


async def test_a_message_that_did_wait_too_long_is_still_told_so(tmp_path: Path) -> None:
    """By Telegram's own clock, whatever this machine's says."""
    async with world(tmp_path, timedelta(days=400)) as (telegram, bot):
        old = int((datetime.now(UTC) - timedelta(hours=50)).timestamp())
        await telegram.say("is the boiler blue?", date=old)
        await bot.start()
        await telegram.until(lambda sent: any("waited so long that I did not answer it" in each.text for each in sent))


async def test_another_bots_token_in_the_same_home_loses_nothing_and_is_told(tmp_path: Path) -> None:
    """Its numbers begin anew: a message under a number that the first bot used is answered too."""
    async with world(tmp_path, timedelta()) as (telegram, bot):
        await bot.start()
        telegram.next_update = 700
        await telegram.say("remember that the boiler is blue")
        await telegram.replies(1)
        await bot.terminate()
    async with world(tmp_path, timedelta()) as (telegram, bot):
        telegram.token = bot.environ["TELEGRAM_BOT_TOKEN"] = OTHER_TOKEN
        telegram.next_update = 700
        await telegram.say("remember that the roof is green", date=int(datetime.now(UTC).timestamp()) + 5)
        await bot.start()
        sent = await telegram.until(lambda sent: len(sent) >= 2)
        assert any("another bot's token" in each.text for each in sent)
        assert any(re.search("roof|green|remember", each.text) for each in sent)
