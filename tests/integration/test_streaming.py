"""A reply is seen while it is written, on a terminal and on Telegram, and in the end the stored answer, once."""

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from tests import waiting
from tests.integration.harness import OWNER, Bot, Telegram
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.tour.screen import Screen
from tests.tour.terminal import Terminal

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
        bot.environ = {"KENOBOT_PROVIDERS__ANTHROPIC__IDLE_SECONDS": "1"}
        bot.configure()
        await bot.start()
        await asyncio.gather(converse(bot), write(telegram))
        assert await bot.terminate() == 0


def is_recorded(database: Path) -> bool:
    """Return whether a message that the bot began is known to have been sent."""
    with closing(sqlite3.connect(database)) as connection:
        return bool(connection.execute("SELECT 1 FROM outbox WHERE part = -3 AND state = 'sent'").fetchone())


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
        await waiting.until(lambda: is_recorded(bot.home / "kenobot.db"))
        await bot.kill()
        await bot.start()
        await telegram.has("Now it is said.")
        assert await bot.terminate() == 0
        assert list(telegram.stands.values()) == ["Now it is said."]
