"""An evening with tools on Telegram's emulator, as its owner sees it: real processes, real tools, a model by script."""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kenobot.core.settings.home import Home
from kenobot.ports.errors import ToolFailed
from kenobot.tools.mcp.declared import read_tools
from kenobot.tools.mcp.trust import TrustFile
from kenobot.tools.workspace.sandbox import find_sandbox
from tests.crash.nursery import Nursery
from tests.crash.world import until
from tests.integration.evening import weather
from tests.integration.evening.town import Answer, Obedient, Town, write_pdf
from tests.integration.evening.words import ENGLISH, SPANISH, Words
from tests.integration.process import Bot
from tests.integration.stand_in import OWNER, Telegram

pytest.importorskip("mcp")
pytest.importorskip("pdfminer", reason="the extra `documents` is not installed")
pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

_SETTINGS = """
[watch]
disk_mb = 0
[tools]
enabled = ["web_search", "web_fetch", "write_file", "shell"]
workspaces = {{ notes = "{work}" }}
[tools.web_search]
engine = "searxng"
url = "http://{host}"
[tools.web_fetch]
own_hosts = ["{host}"]
[mcp.weather]
command = "{python}"
args = ["{program}", "{mark}"]
effects = ["brings_untrusted"]
"""
_CONSTANTS = {"TurnServices.patience_seconds": 600, "probes.LOOK_SECONDS": 1, "probes.PAUSE_SECONDS": 600}
_LIST = {"path": "list.txt", "text": "milk\n"}
_COUNT, _LONG = "wc -w notes.txt", "echo begun > begun.txt; sleep 600"


def _plan(words: Words, page: str) -> Mapping[str, Answer]:
    """What the model does when it reads what."""
    says, answers = words.owner, words.model
    return {
        says["hello"]: f"{answers['hello']}<memory>Lives in Ibiza; the dentist is Dr. Serra</memory>",
        says["search"]: ("web_search", {"query": "ferry Formentera"}),
        f"1. {words.page[0]}": answers["search"].format(page=page),
        says["read"].format(page=page): ("web_fetch", {"url": page}),
        words.page[1]: answers["read"],
        words.document[1]: answers["document"],
        says["tomorrow"]: ("weather_forecast", {"place": "Ibiza"}),
        "Sunny in Ibiza": answers["tomorrow"],
        says["past"]: ("weather_history", {"place": "Ibiza"}),
        says["again"]: ("weather_history", {"place": "Ibiza"}),
        "Nobody knows whether it happened": answers["past"],
        "cannot be used now": answers["again"],
        says["count"]: ("shell", {"command": _COUNT}),
        "5 notes.txt": answers["count"],
        says["long"]: ("shell", {"command": _LONG}),
        says["list"]: ("write_file", _LIST),
        "Not run yet": answers["want"],
        "Written: ": answers["list"],
    }


@dataclass
class Evening:
    """The chat of the owner. read: how many messages they have read."""

    telegram: Telegram
    words: Words
    page: str
    read: int = 0

    async def say(self, what: str, *reads: str, **fields: Any) -> None:
        """Write, and read exactly these messages; "…" stands for anything."""
        await self.telegram.say("" if fields else self.words.owner[what].format(page=self.page), **fields)
        await self.reads(*reads)

    async def press_yes(self, *reads: str) -> None:
        message = max(number for (_, number), buttons in self.telegram.buttons.items() if self.words.yes in buttons)
        await self.telegram.press(OWNER, message, self.words.yes)
        await self.reads(*reads)

    async def reads(self, *expected: str) -> None:
        sent = await self.telegram.until(lambda sent: len(sent) >= self.read + len(expected))
        new = [each.text.strip() for each in sent[self.read :]]
        self.read = len(sent)
        assert len(new) == len(expected), new
        for words in expected:
            pattern = ".*".join(map(re.escape, words.replace("{page}", self.page).split("…")))
            assert any(re.fullmatch(pattern, text, re.DOTALL) for text in new), (words, new)

    def question(self, tool: str, arguments: Mapping[str, str]) -> tuple[str, str]:
        """What is read where a call has to be allowed: why the model wants it, and the call."""
        return self.words.model["want"], f"{self.words.asked}\n{tool} {json.dumps(arguments)}"


async def _talk(evening: Evening, *, has_sandbox: bool, work: Path) -> None:
    """Search, read a page and a document, run a command, and lose a server."""
    answers = evening.words.model
    for step in ("hello", "search", "read"):
        await evening.say(step, answers[step])
    evening.telegram.files["contract"] = write_pdf(evening.words.document)
    file = {"file_id": "contract", "file_name": "contract.pdf", "mime_type": "application/pdf"}
    await evening.say("document", answers["document"], document=file, caption=evening.words.owner["document"])
    await evening.say("tomorrow", answers["tomorrow"])
    await evening.say("past", answers["past"], evening.words.notice)
    await evening.say("again", answers["again"])
    await evening.say("tools", f"{evening.words.tools}\n{evening.words.down}")
    if has_sandbox:
        await evening.say("count", *evening.question("shell", {"command": _COUNT}))
        await evening.press_yes(answers["count"])
        await evening.say("long", *evening.question("shell", {"command": _LONG}))
        await evening.press_yes()
        assert await until((work / "begun.txt").exists, 60)
        await evening.say("stop", evening.words.stopped)
    await evening.say("list", *evening.question("write_file", _LIST))


async def _trust_weather(home: Path) -> None:
    """Have the owner trust the tools of the server."""
    listed = [
        each.model_dump(by_alias=True, mode="json", exclude_none=True) for each in await weather.server.list_tools()
    ]
    TrustFile(Home(home).mcp, "weather").save(read_tools(listed)[0])


@pytest.mark.parametrize("words", [ENGLISH, SPANISH], ids=["en", "es"])
async def test_an_evening_with_tools(tmp_path: Path, nursery: Nursery, words: Words) -> None:
    """Every message that is read is the expected one; what waits for a yes survives the end of the process."""
    work = tmp_path / "notes"
    work.mkdir()
    (work / "notes.txt").write_text("one two three four five\n")
    try:
        await find_sandbox(tmp_path)
        no_sandbox = ""
    except ToolFailed as error:
        no_sandbox = str(error)
    async with Town(words.page) as town, Telegram() as telegram, Obedient(_plan(words, town.address)) as model:
        paths = {"work": work, "host": town.host, "python": sys.executable, "program": weather.__file__}
        settings = _SETTINGS.format(**paths, mark=tmp_path / "dead")
        bot = Bot(tmp_path / "home", telegram, model.url, extra=settings, starter=nursery, constants=_CONSTANTS)
        bot.configure()
        await _trust_weather(bot.home)
        await bot.start()
        assert await until(lambda: any("MCP server weather is connected" in line for line in bot.log), 60)
        evening = Evening(telegram, words, town.address)
        try:
            await _talk(evening, has_sandbox=not no_sandbox, work=work)
            assert await bot.terminate() == 0
            assert not (work / "list.txt").exists()
            await bot.start()
            await evening.press_yes(words.model["list"])
            assert (work / "list.txt").read_text() == "milk\n"
            await evening.say("why", words.why)
        finally:
            await bot.terminate()
        assert town.asked == ["ferry Formentera", "ferry"]
        await _check_log(nursery, bot, has_sandbox=not no_sandbox)
    if no_sandbox:
        pytest.skip(f"all but the shell: {no_sandbox}")


async def _check_log(nursery: Nursery, bot: Bot, *, has_sandbox: bool) -> None:
    """Every call once with its end, the newest first."""
    ended = await nursery.run(["tools", "log", "--json", "--home", str(bot.home)], {**bot.environ})
    runs = map(json.loads, ended.stdout.splitlines())
    commands = [("shell", "begun"), ("shell", "refused"), ("shell", "done"), ("shell", "refused")]
    assert [(run["tool"], run["outcome"]) for run in runs] == [
        ("write_file", "done"),
        ("write_file", "refused"),
        *(commands if has_sandbox else ()),
        ("weather_history", "failed"),
        ("weather_history", "failed"),
        ("weather_forecast", "done"),
        ("web_fetch", "done"),
        ("web_search", "done"),
    ]
