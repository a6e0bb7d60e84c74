"""The shipped tools, and a small one, keep to the contract of tools."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.agent.turn.more_tools import FindTool
from kenobot.agent.turn.toolbox import PreparedTool
from kenobot.core import plugins
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.errors import ToolFailed
from kenobot.ports.json_value import Json
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects
from kenobot.tools.agenda import CancelReminder, ReadAgenda, Remind
from kenobot.tools.background import Background, BackgroundSettings
from kenobot.tools.clock import Clock
from kenobot.tools.memory_changes import MemoryForget, MemoryWhy
from kenobot.tools.memory_search import MemorySearch
from kenobot.tools.read_skill import ReadSkill
from kenobot.tools.web.address import Reach
from kenobot.tools.web.client import WebClient
from kenobot.tools.web.engines import Wikipedia
from kenobot.tools.web.fetch import WebFetch
from kenobot.tools.web.request import AllowedHost, HttpRequest
from kenobot.tools.web.search import WebSearch
from kenobot_testing.clock import ManualClock
from kenobot_testing.tool import AnyTool, ToolContract
from tests.unit.tools.web.site import answer, open_site
from tests.unit.tools.workspace.desk import Desk, no_bubblewrap, no_git, require_sandbox


class Text(ToolArguments):
    text: str


class CountLetters:
    """Count the letters of a text."""

    name = "count_letters"
    description = "Count the letters of a text."
    arguments = Text
    effects = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False)

    async def run(self, arguments: Text, turn: ToolContext) -> str:
        if not arguments.text:
            raise ToolFailed("There is no text.")
        return str(sum(map(str.isalpha, arguments.text)))


class TestBackground(ToolContract):
    """The tool by which a model has something done in the background."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        """Reaches nothing: the core begins the task."""
        return Background(BackgroundSettings())

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        """None: the turn is what is to be done."""
        return {}


class TestCountLetters(ToolContract):
    """The suite, run on a tool of the test's own."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        """Reaches nothing."""
        return CountLetters()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        """Words with an accent."""
        return {"text": "ñandú 1"}


class TestReadSkill(ToolContract):
    """Reaches the folder of skills through the turn's door."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return ReadSkill()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        """A file of one."""
        return {"name": "forms", "file": "more.md", "part": 2}


class TestFindTool(ToolContract):
    """Finds a tool that is not offered."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        letters: AnyTool = CountLetters()
        return FindTool(lambda _: [PreparedTool.of(letters).spec])

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"query": "letters"}


class TestClock(ToolContract):
    """Reaches the machine's zones."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return Clock()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"zone": "Asia/Tokyo"}


class TestMemorySearch(ToolContract):
    """Searches a memory that holds nothing."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return MemorySearch()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"query": "la dentista"}


class TestAgenda(ToolContract):
    """Reads an agenda with one reminder."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return ReadAgenda()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"first": "2026-12-01"}


class TestRemind(ToolContract):
    """Adds to an agenda with one reminder."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return Remind()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"text": "llamar a Luis", "when": "mañana a las 8"}


class TestCancelReminder(ToolContract):
    """Takes from an agenda with one reminder."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return CancelReminder()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"number": 1}


class TestMemoryWhy(ToolContract):
    """Explains a memory of one thing."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return MemoryWhy()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"text": "green tea"}


class TestMemoryForget(ToolContract):
    """Forgets the one thing."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        return MemoryForget()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"text": "Ana likes green tea"}


class TestWebFetch(ToolContract):
    """Reads a page of a site on this machine."""

    @pytest.fixture
    async def tool(self) -> AsyncIterator[AnyTool]:
        async with open_site(page=answer("words", "text/plain")) as site:
            yield WebFetch(site.client(), ManualClock())

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"url": "https://example.com/page"}


class TestWebSearch(ToolContract):
    """Searches a site on this machine that stands for Wikipedia."""

    @pytest.fixture
    async def tool(self) -> AsyncIterator[AnyTool]:
        async with open_site() as site:
            site.pages["/w/rest.php/v1/search/page?q=mareas&limit=6"] = answer('{"pages": []}', "application/json")
            yield WebSearch(Wikipedia(site.client()), "Wikipedia", "", 6)

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"query": "mareas", "language": "es"}


class TestHttpRequest(ToolContract):
    """Posts to a host on this machine."""

    @pytest.fixture
    async def tool(self) -> AsyncIterator[AnyTool]:
        async with open_site(page=answer("done", "text/plain")) as site:
            yield HttpRequest(site.client(), {"api.example.com": AllowedHost(frozenset({"POST"}))})

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"url": "https://api.example.com/page", "method": "POST", "body": "{}"}


def test_the_tools_of_the_web_take_little_of_a_prompt() -> None:
    """Reading and searching are told to a model in fewer than 350 tokens."""
    client = WebClient(Reach(), 1, 1)
    assert _told_tokens(WebFetch(client, ManualClock()), WebSearch(Wikipedia(client), "Wikipedia", "", 6)) < 350


class _InWorkspace(ToolContract):
    """Works in a folder with one file."""

    @pytest.fixture
    def desk(self, tmp_path: Path) -> Desk:
        desk = Desk.make(tmp_path)
        (desk.work / "a.txt").write_text("one\n")
        return desk


class TestListFiles(_InWorkspace):
    @pytest.fixture
    def tool(self, desk: Desk) -> AnyTool:
        return desk.tool("list_files")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"deep": True}


class TestReadFile(_InWorkspace):
    @pytest.fixture
    def tool(self, desk: Desk) -> AnyTool:
        return desk.tool("read_file")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"path": "a.txt"}


class TestWriteFile(_InWorkspace):
    @pytest.fixture
    def tool(self, desk: Desk) -> AnyTool:
        return desk.tool("write_file")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"path": "notes/b.txt", "text": "dos"}


class TestEditFile(_InWorkspace):
    @pytest.fixture
    def tool(self, desk: Desk) -> AnyTool:
        return desk.tool("edit_file")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"path": "a.txt", "old": "one", "new": "uno"}


@no_bubblewrap
class TestShell(_InWorkspace):
    @pytest.fixture
    async def tool(self, desk: Desk) -> AnyTool:
        await require_sandbox(desk.work)
        return desk.tool("shell")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"command": "cat a.txt"}


@no_bubblewrap
@no_git
class TestGit(_InWorkspace):
    @pytest.fixture
    async def tool(self, desk: Desk) -> AnyTool:
        await require_sandbox(desk.work)
        return desk.tool("git")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"verb": "init"}


def test_the_tools_of_workspaces_take_little_of_a_prompt(tmp_path: Path) -> None:
    """All six are told to a model in fewer than 900 tokens."""
    desk = Desk.make(tmp_path)
    names = ("list_files", "read_file", "write_file", "edit_file", "shell", "git")
    specs = [PreparedTool.of(desk.tool(name)).spec for name in names]
    told = [{"name": each.name, "description": each.description, "input_schema": dict(each.schema)} for each in specs]
    assert estimate_tokens(json.dumps(told)) < 900


def test_the_tools_of_the_agenda_take_little_of_a_prompt() -> None:
    """All three are told to a model in fewer than 500 tokens."""
    assert _told_tokens(ReadAgenda(), Remind(), CancelReminder()) < 500


def _told_tokens(*tools: AnyTool) -> int:
    specs = [PreparedTool.of(tool).spec for tool in tools]
    told = [{"name": each.name, "description": each.description, "input_schema": dict(each.schema)} for each in specs]
    return estimate_tokens(json.dumps(told))


async def test_a_tool_that_declares_nothing_can_do_everything() -> None:
    """The guard must not believe in what nobody promised."""
    assert ToolEffects() == ToolEffects(True, True, True, True)


def test_every_tool_that_ships_has_its_contract() -> None:
    """A new entry point needs a class here, of its name."""
    shipped = {name for name in plugins.names("kenobot.tools") if not plugins.is_foreign("kenobot.tools", name)}
    tested = {re.sub(r"(?<!^)([A-Z])", r"_\1", name.removeprefix("Test")).lower() for name in globals()}
    assert shipped - tested == set()
