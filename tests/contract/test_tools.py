"""A small tool keeps to the contract of tools."""

from collections.abc import Mapping

import pytest

from kenobot.ports.provider import Json, ToolResult, ToolSpec
from kenobot.ports.tool import Tool, ToolContext, ToolEffects
from kenobot.testing.tool import ToolContract


class CountLetters:
    """Count the letters of a text."""

    spec = ToolSpec(
        "count_letters",
        "Count the letters of a text.",
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    )
    effects = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False)

    async def run(self, arguments: Mapping[str, Json], turn: ToolContext) -> ToolResult:
        text = arguments.get("text")
        if not isinstance(text, str):
            return ToolResult(turn.call, "`text` must be a string.", failed=True)
        return ToolResult(turn.call, str(sum(map(str.isalpha, text))))


class TestCountLetters(ToolContract):
    """The suite, run on a tool of the test's own."""

    @pytest.fixture
    def tool(self) -> Tool:
        """Reaches nothing."""
        return CountLetters()

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        """Words with an accent."""
        return {"text": "ñandú 1"}


async def test_a_tool_that_declares_nothing_can_do_everything() -> None:
    """The guard must not believe in what nobody promised."""
    assert ToolEffects() == ToolEffects(True, True, True, True)
