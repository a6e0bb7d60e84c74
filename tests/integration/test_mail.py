"""`kenobot mail` as a process of its own, beside a `kenobot run` that notices what it did."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.language import say
from tests.integration.anthropic_standin import StandIn
from tests.integration.harness import OWNER, Bot, Telegram

REFUSAL = {"match": "poison", "times": 1, "status": 400, "error": {"type": "invalid_request_error", "message": "no"}}


@pytest.fixture
async def telegram() -> AsyncIterator[Telegram]:
    async with Telegram() as server:
        yield server


@pytest.fixture
async def bot(tmp_path: Path, telegram: Telegram) -> AsyncIterator[Bot]:
    async with StandIn([REFUSAL]) as model:
        bot = Bot(tmp_path / "home", telegram, model.url)
        bot.configure()
        await bot.start()
        yield bot
        await bot.kill()


async def kenobot(bot: Bot, *arguments: str) -> tuple[int | None, str]:
    """Run the command line once; its exit code and everything it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", *arguments, "--home", str(bot.home)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ},
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()


async def test_a_running_bot_answers_what_the_command_line_puts_back(bot: Bot, telegram: Telegram) -> None:
    """Within seconds, without a restart, once; and the list is empty then."""
    await telegram.say("what is this poison?")
    assert await telegram.replies(1) == [say("rejected", "en").replace("`", "")]
    code, out = await kenobot(bot, "mail", "list")
    assert (code, out.split()[:2]) == (0, ["in-1", "failed"])
    assert await kenobot(bot, "mail", "retry", "in-1") == (0, "in-1: retried\n")
    assert (await telegram.replies(2))[1] == "ok: what is this poison?"
    assert (await kenobot(bot, "mail", "list"))[0] == 2
    assert await bot.terminate() == 0
    assert telegram.counted()[(OWNER, "ok: what is this poison?")] == 1


async def test_a_bot_that_was_frozen_goes_on(bot: Bot, telegram: Telegram) -> None:
    """What came while it stood still is answered afterwards, and nobody is blamed for the silence."""
    await telegram.say("one")
    await telegram.replies(1)
    bot.signal(signal.SIGSTOP)
    await telegram.say("two")
    await asyncio.sleep(3)  # longer than a poll
    bot.signal(signal.SIGCONT)
    assert sorted(await telegram.replies(2)) == ["ok: one", "ok: two"]
    assert await bot.terminate() == 0
    assert not [line for line in bot.log if "stopped" in line or "has not answered" in line]
