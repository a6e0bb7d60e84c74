"""One running bot, and `kenobot deadletter` and `kenobot access` as processes of their own beside it."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kenobot.core import texts
from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import OWNER, Telegram

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

REFUSAL = {"match": "poison", "times": 2, "status": 400, "error": {"type": "invalid_request_error", "message": "no"}}
CODE = re.compile(r"[A-Z2-9]{4}-[A-Z2-9]{4}")
ANA = "555000111"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[StandIn]:
    async with StandIn([REFUSAL]) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(tmp_path_factory: pytest.TempPathFactory, model: StandIn) -> AsyncIterator[Bot]:
    async with Telegram() as telegram:
        bot = Bot(tmp_path_factory.mktemp("bot") / "home", telegram, model.url)
        bot.configure()
        await bot.start()
        yield bot
        assert await bot.terminate() == 0


async def kenobot(bot: Bot, *arguments: str) -> tuple[int | None, str]:
    """Run the command line once; its exit code and everything it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", *arguments, "--home", str(bot.home)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ},
    )
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    return process.returncode, out.decode()


async def replies(bot: Bot, chat: str, count: int) -> list[str]:
    """Wait for `count` messages to a chat; their texts."""

    def texts() -> list[str]:
        return [item.text for item in bot.telegram.sent if item.chat == chat]

    await bot.telegram.until(lambda sent: len(texts()) >= count)
    return texts()


async def test_a_running_bot_answers_what_the_command_line_puts_back(bot: Bot) -> None:
    """Within seconds, without a restart, once; and the list is empty then."""
    await bot.telegram.say("what is this poison?", "1", OWNER)
    assert await replies(bot, "1", 1) == [texts.REJECTED("en").replace("`", "")]
    code, out = await kenobot(bot, "deadletter", "list")
    assert (code, out.splitlines()[1].split()[:2]) == (0, ["in-1", "failed"])
    assert await kenobot(bot, "deadletter", "retry", "in-1") == (0, "in-1: retried\n")
    assert (await replies(bot, "1", 2))[1:] == ["ok: what is this poison?"]
    assert (await kenobot(bot, "deadletter", "list"))[0] == 2


async def test_a_bot_that_was_frozen_goes_on(bot: Bot) -> None:
    """What came while it stood still is answered afterwards, and nobody is blamed for the silence."""
    await bot.telegram.say("one", "2", OWNER)
    await replies(bot, "2", 1)
    bot.signal(signal.SIGSTOP)
    await bot.telegram.say("two", "2", OWNER)
    await asyncio.sleep(1.2)  # longer than a poll
    bot.signal(signal.SIGCONT)
    assert await replies(bot, "2", 2) == ["ok: one", "ok: two"]
    assert not [line for line in bot.log if "stopped" in line or "has not answered" in line]


async def test_a_stranger_is_let_in_and_put_out_while_the_bot_runs(bot: Bot, model: StandIn) -> None:
    """A code, an answer once approved, none soon after the revocation; the model hears the guest alone."""
    asked = len(model.requests)
    await bot.telegram.say("Hola, ¿hay alguien?", ANA, ANA)
    [notice] = await replies(bot, ANA, 1)
    code = CODE.search(notice)
    assert code is not None
    assert len(model.requests) == asked, "a stranger costs no call"
    assert await kenobot(bot, "access", "approve", code[0]) == (0, f"Let in: Adrian (telegram {ANA})\n")
    assert (await replies(bot, ANA, 2))[1] == "Mi dueño te ha admitido: ya podemos hablar."
    await bot.telegram.say("And now?", ANA, ANA)
    assert (await replies(bot, ANA, 3))[2] == "ok: And now?"
    assert await kenobot(bot, "access", "revoke", "telegram", ANA) == (0, f"Put out: telegram {ANA}\n")
    texts: list[str] = []
    async with asyncio.timeout(60):
        while not CODE.search("".join(texts[3:])):  # the bot looks every second
            await bot.telegram.say("And again?", ANA, ANA)
            texts = await replies(bot, ANA, max(4, len(texts) + 1))
            await asyncio.sleep(0.1)
    assert len(model.requests) - asked == sum(text.startswith("ok: ") for text in texts)


async def test_a_channel_is_stopped_and_started_again_beside_the_bot(bot: Bot) -> None:
    """What was written meanwhile is answered then; another name is refused, and named."""
    count = sum(item.chat == OWNER for item in bot.telegram.sent)
    assert await kenobot(bot, "channels", "stop", "telegram") == (0, "telegram: stopped\n")
    await bot.telegram.say("are you there?")
    code, listed = await kenobot(bot, "channels", "list")
    assert (code, re.findall(r"telegram +stopped", listed) != []) == (0, True)
    assert await kenobot(bot, "channels", "restart", "telegram") == (0, "telegram: serving\n")
    assert len(await replies(bot, OWNER, count + 1)) == count + 1
    code, told = await kenobot(bot, "channels", "stop", "telegrm")
    assert code == 78
    assert 'did you mean "telegram"' in told


async def test_the_level_of_the_log_follows_its_setting_at_once(bot: Bot) -> None:
    """Other settings wait for the next start."""
    told = "The bot that is running logs at level debug from now on."
    code, out = await kenobot(bot, "config", "set", "log.level", "debug")
    assert (code, out.splitlines()[-1]) == (0, told)
    assert any("logs at level debug from now on" in line for line in bot.log)
    code, out = await kenobot(bot, "config", "set", "bot.name", "Ana")
    assert (code, out.splitlines()[-1]) == (0, "A bot that is running takes it in with its next start.")
