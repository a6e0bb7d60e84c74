"""`kenobot chat` beside a running `kenobot run`: one conversation, no message and no answer lost or doubled."""

import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import OWNER, Telegram

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

CHAT = "import sys; from kenobot.cli import chat, main; chat.REOPEN_SECONDS = 600; raise SystemExit(main(sys.argv[1:]))"
SLOW = {"match": "slow", "times": 1, "delay": 1.0, "reply": "at last"}


class Chat:
    """A `kenobot chat` whose lines come from a pipe."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: asyncio.subprocess.Process | None = None

    async def open(self, *options: str) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CHAT, "chat", *options, "--home", str(self._home)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n".encode())

    async def hears(self, text: str) -> list[str]:
        """The lines up to the one that is `text`."""
        assert self.process.stdout is not None
        lines = [""]
        async with asyncio.timeout(60):
            while lines[-1] != text:
                line = await self.process.stdout.readline()
                assert line, (lines, await self.process.communicate())
                lines.append(line.decode().rstrip("\n"))
        return lines[1:]

    async def end(self) -> tuple[int | None, str, str]:
        """Close its input; its code and what else it printed."""
        async with asyncio.timeout(120):
            out, err = await self.process.communicate(b"")
        return self.process.returncode, out.decode(), err.decode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bot]:
    async with StandIn([SLOW]) as model, Telegram() as telegram:
        bot = Bot(tmp_path_factory.mktemp("bot") / "home", telegram, model.url)
        bot.configure()
        await bot.start()
        yield bot
        assert await bot.terminate() == 0


def inbox(bot: Bot, *texts: str) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(bot.home / "kenobot.db")) as connection:
        rows = connection.execute("SELECT channel, text, state FROM inbox ORDER BY id").fetchall()
    return [row for row in rows if row[1] in texts]


async def test_a_chat_joins_the_bot_that_serves_telegram(bot: Bot) -> None:
    """One message by an option, a conversation by a pipe, Telegram beside them; the owner is the owner in all."""
    one = Chat(bot.home)
    await one.open("-m", "first")
    assert await one.end() == (0, "ok: first\n", "")
    talk = Chat(bot.home)
    await talk.open()
    talk.say("second")
    await talk.hears("ok: second")
    await bot.telegram.say("third", OWNER, OWNER)
    assert await bot.telegram.replies(1) == ["ok: third"]
    talk.say("fourth")
    assert (await talk.end())[:2] == (0, "ok: fourth\n")
    assert inbox(bot, "first", "second", "third", "fourth") == [
        ("console", "first", "answered"),
        ("console", "second", "answered"),
        ("telegram", "third", "answered"),
        ("console", "fourth", "answered"),
    ]


async def test_a_chat_that_is_cut_off_gets_the_answer_when_it_comes_back(bot: Bot) -> None:
    """Killed between its message and the answer; the next chat shows it first, once."""
    talk = Chat(bot.home)
    await talk.open()
    talk.say("slow")
    async with asyncio.timeout(60):
        while not inbox(bot, "slow"):
            await asyncio.sleep(0.01)
    talk.process.kill()
    await talk.end()
    later = Chat(bot.home)
    await later.open()
    await later.hears("at last")
    later.say("and now?")
    assert (await later.end())[:2] == (0, "ok: and now?\n")


async def test_commands_beside_the_bot_end_when_its_files_are_written(bot: Bot, tmp_path: Path) -> None:
    """A memory and an import stand in the Markdown at once; the import is known when it is run again."""
    assert (await kenobot(bot, "memory", "remember", "the boat is called Nancy"))[0] == 0
    assert "Nancy" in written(bot)
    old = tmp_path / "old"
    (old / "memory" / "working").mkdir(parents=True)
    (old / "memory" / "MEMORY.md").write_text("# Facts\n\n- The key lies under the third pot\n")
    code, out = await kenobot(bot, "import", str(old), "--from", "kenobot-js", "--yes")
    assert (code, "1 new" in out) == (0, True), out
    assert "third pot" in written(bot)
    assert "0 new, 1 known already" in (await kenobot(bot, "import", str(old), "--from", "kenobot-js", "--yes"))[1]


def written(bot: Bot) -> str:
    """All of the Markdown."""
    return "\n".join(path.read_text("utf-8") for path in (bot.home / "memory").rglob("*.md"))


async def test_a_chat_outlives_the_crash_of_its_bot(bot: Bot) -> None:
    """It says so, keeps what is typed meanwhile, goes on with the next one; every message is answered once."""
    talk = Chat(bot.home)
    await talk.open()
    talk.say("before")
    await talk.hears("ok: before")
    await bot.kill()
    talk.say("meanwhile")
    [told] = await talk.hears("KenoBot has stopped. I try for 600 s to reach it again; nothing you sent is lost.")
    assert told
    await bot.start()
    assert (await talk.hears("ok: meanwhile"))[0] == "KenoBot is back."
    assert (await talk.end())[:2] == (0, "")
    stored = inbox(bot, "before", "meanwhile")
    assert stored == [("console", "before", "answered"), ("console", "meanwhile", "answered")]


async def test_the_bot_ends_when_it_is_told_to(bot: Bot) -> None:
    """In good order; a second `kenobot stop` finds none."""
    told = await kenobot(bot, "stop")
    assert told == (0, "KenoBot has stopped.\n")
    assert await bot.ended() == 0
    code, out = await kenobot(bot, "stop")
    assert (code, out.startswith("No KenoBot is running in")) == (2, True)
    await bot.start()


async def kenobot(bot: Bot, *arguments: str) -> tuple[int | None, str]:
    """Run a command in an English terminal; its exit code and everything it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", *arguments, "--home", str(bot.home)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    return process.returncode, out.decode()
