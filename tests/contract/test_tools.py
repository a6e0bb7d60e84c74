"""The shipped tools, and a small one, keep to the contract of tools."""

import json

import pytest

from kenobot.agent.turn.toolbox import PreparedTool
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.errors import ToolFailed
from kenobot.ports.provider import Json
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects
from kenobot.testing.tool import AnyTool, ToolContract
from kenobot.tools.agenda import CancelReminder, ReadAgenda, Remind
from kenobot.tools.clock import Clock
from kenobot.tools.memory_search import MemorySearch
from kenobot.tools.read_skill import ReadSkill


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


class TestReadAgenda(ToolContract):
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


def test_the_tools_of_the_agenda_take_little_of_a_prompt() -> None:
    """All three are told to a model in fewer than 500 tokens."""
    tools: tuple[AnyTool, ...] = (ReadAgenda(), Remind(), CancelReminder())
    specs = [PreparedTool.of(tool).spec for tool in tools]
    told = [{"name": each.name, "description": each.description, "input_schema": dict(each.schema)} for each in specs]
    assert estimate_tokens(json.dumps(told)) < 500


async def test_a_tool_that_declares_nothing_can_do_everything() -> None:
    """The guard must not believe in what nobody promised."""
    assert ToolEffects() == ToolEffects(True, True, True, True)
