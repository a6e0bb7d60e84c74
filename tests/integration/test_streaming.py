"""A reply is seen while it is written, on a terminal and on Telegram, and in the end the stored answer, once."""

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests import waiting
from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.stand_in import OWNER, Telegram
from tests.tour.screen import Screen
from tests.tour.terminal import Terminal

pytestmark = pytest.mark.long

# A first try hangs behind its first third; the second one says something else.
_BEGUN = "It was said <memory>Ana likes tea</memory>in so many words."
_SCRIPT: list[Entry] = [
    *({"match": place, "times": 1, "hang": True, "reply": _BEGUN} for place in ("terminal", "telegram")),
    {"reply": "Now <memory>Ana likes tea</memory>it is said."},
]


def stands(screen: Screen, text: str) -> bool:
    return any(text in line for line in screen.lines)


async def converse(bot: Bot) -> None:
    """Chat beside the bot: the reply grows above the prompt; a second try takes the place of the first."""
    environ = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "kenobot", "chat", "--home", str(bot.home)]
    terminal = await Terminal.start(command, environ, str(Path(__file__).resolve().parents[2]))
    await terminal.sees(lambda screen: screen.current.endswith("> "))
    terminal.type("from a terminal")
    await terminal.sees(lambda screen: stands(screen, "KenoBot: It was said"))
    await terminal.sees(lambda screen: stands(screen, "KenoBot: Now it is said."))
    terminal.type("/exit")
    assert terminal.process is not None
    assert await asyncio.wait_for(terminal.process.wait(), 60) == 0
    text = "\n".join(terminal.screen.lines)
    assert text.count("KenoBot: Now it is said.") == 1
    assert "It was said" not in text
    assert "tea" not in text


async def write(telegram: Telegram) -> None:
    """Write on Telegram in private: a draft is shown, and then the message comes."""
    await telegram.say("from telegram", OWNER, OWNER)
    await telegram.shows("It was said")
    assert await telegram.replies(1) == ["Now it is said."]
    shown = [draft.text for draft in telegram.drafts]
    assert all("It was said".startswith(text) or "Now it is said.".startswith(text) for text in shown)


async def test_a_reply_is_seen_while_it_is_written(tmp_path: Path) -> None:
    """Without its tags, and in the end the answer stands there alone."""
    async with StandIn(_SCRIPT) as model, Telegram() as telegram:
        bot = Bot(tmp_path / "home", telegram, model.url, extra="\n[extraction]\nenabled = false\n")
        bot.constants = {"AnthropicSettings.idle_seconds": 1}
        bot.configure()
        await bot.start()
        await asyncio.gather(converse(bot), write(telegram))
        assert await bot.terminate() == 0


def recorded(database: Path) -> int:
    """Return how many messages that the bot began are known to have been sent."""
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT count(*) FROM outbox WHERE part = -3 AND state = 'sent'").fetchone()
    return int(found[0])


async def test_a_reply_in_a_group_is_one_message_through_a_crash(tmp_path: Path) -> None:
    """Killed while it is written: after the start the same message goes on, and in the end it is the answer."""
    script: list[Entry] = [{"times": 1, "hang": True, "reply": _BEGUN}, {"reply": "Now <memory>x</memory>it is said."}]
    async with StandIn(script) as model, Telegram() as telegram:
        bot = Bot(tmp_path / "home", telegram, model.url, extra="\n[extraction]\nenabled = false\n")
        bot.configure()
        await bot.start()
        bots = {"id": 7, "is_bot": True, "first_name": "Fixture"}
        group = {"id": -100, "type": "supergroup"}
        before = {"message_id": 900, "date": 1, "chat": group, "from": bots, "text": "Hello, all."}
        await telegram.say("and now?", "-100", OWNER, reply_to_message=before)
        await telegram.has("It was said")
        await waiting.until(lambda: recorded(bot.home / "kenobot.db") == 1)
        await bot.kill()
        await bot.start()
        await telegram.has("Now it is said.")
        assert await bot.terminate() == 0
        assert list(telegram.stands.values()) == ["Now it is said."]


GROUP = {"id": -100, "type": "supergroup"}
_BOTS = {"message_id": 900, "date": 1, "chat": GROUP, "from": {"id": 7, "is_bot": True, "first_name": "Fixture"}}
_STOPPED = "(This answer was stopped before it was finished.)"


async def test_an_answer_that_is_stopped_in_a_group_says_so(tmp_path: Path) -> None:
    """The message that shows its beginning ends with that; so it does when the bot is killed before it heard of it."""
    script: list[Entry] = [{"match": "slowly", "hang": True, "reply": _BEGUN}, {"reply": "Here I am."}]
    before = _BOTS | {"text": "Hello, all."}
    async with StandIn(script) as model, Telegram() as telegram:
        bot = Bot(tmp_path / "home", telegram, model.url, extra="\n[extraction]\nenabled = false\n")
        bot.configure()
        await bot.start()
        await telegram.say("say it slowly", "-100", OWNER, reply_to_message=before)
        await telegram.has("It was said")
        await telegram.say("/stop", "-100", OWNER, reply_to_message=before)
        await telegram.has("Stopped.")
        await telegram.until(lambda _: sorted(telegram.stands.values()) == [_STOPPED, "Stopped."])

        await telegram.say("again, slowly", "-100", OWNER, reply_to_message=before)
        await telegram.has("It was said")
        await waiting.until(lambda: recorded(bot.home / "kenobot.db") == 2)
        await bot.kill()
        await telegram.say("/stop", "-100", OWNER, reply_to_message=before)
        await bot.start()
        await telegram.until(lambda _: list(telegram.stands.values()).count("Stopped.") == 2)
        await telegram.say("are you there?", "-100", OWNER, reply_to_message=before)
        await telegram.has("Here I am.")
        assert await bot.terminate() == 0
        assert sorted(telegram.stands.values()) == [_STOPPED] * 2 + ["Here I am.", "Stopped.", "Stopped."]
