"""The tests that every tool must pass."""

import asyncio
import json

import pytest

from kenobot.core import lazy
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.provider import Json
from kenobot.ports.tool import Tool, ToolContext

_NAME = lazy.regex(r"[a-zA-Z0-9_-]{1,64}")


def tool_context(call: str = "call-1") -> ToolContext:
    """The context of a call in the owner's private chat."""
    principal = Principal("owner", (OWNER_SCOPE,), OWNER_SCOPE, "owner")
    return ToolContext("fake-1", principal, call, "trace")


@pytest.mark.asyncio
class ToolContract:
    """Tests of what the core relies on in a tool. Subclass it and override `tool` and `arguments`."""

    @pytest.fixture
    def tool(self) -> Tool:
        """The tool, over a stand-in of whatever it reaches."""
        raise NotImplementedError("override the fixture `tool`")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        """Arguments that it can work with."""
        raise NotImplementedError("override the fixture `arguments`")

    async def test_its_specification_can_be_shown_to_a_model(self, tool: Tool) -> None:
        """A name that every provider takes, a description, and a schema of an object that is JSON."""
        assert _NAME.fullmatch(tool.spec.name), f"unfit for a provider: {tool.spec.name!r}"
        assert tool.spec.description.strip(), "the model cannot know what it is for"
        assert tool.spec.schema.get("type") == "object", "the arguments of a tool are an object"
        assert json.loads(json.dumps(dict(tool.spec.schema))) == dict(tool.spec.schema)

    async def test_a_result_belongs_to_its_call(self, tool: Tool, arguments: dict[str, Json]) -> None:
        """The id is that of the call, and the arguments stay as they were."""
        before = json.dumps(arguments)
        result = await tool.run(arguments, tool_context("call-7"))
        assert result.id == "call-7"
        assert isinstance(result.text, str)
        assert json.dumps(arguments) == before, "it changed its arguments"

    async def test_arguments_of_another_shape_are_a_failed_result(self, tool: Tool) -> None:
        """A model invents arguments: the tool does not raise, and what can be mended is told to the model."""
        result = await tool.run({"no such argument": [None, {"deep": "é"}]}, tool_context())
        assert result.text or not result.failed, "it failed and does not say why"

    async def test_it_stops_when_cancelled(self, tool: Tool, arguments: dict[str, Json]) -> None:
        """Cancelling a call ends it and leaves no task behind."""
        before = asyncio.all_tasks()
        running = asyncio.create_task(tool.run(arguments, tool_context()))
        await asyncio.sleep(0)
        running.cancel()
        done, _ = await asyncio.wait({running}, timeout=10)
        assert done, "it swallowed the cancellation"
        assert asyncio.all_tasks() <= before, "a task was left running"
