"""The tests that every tool must pass."""

import asyncio
import json
from datetime import date
from typing import Any

import pytest

from kenobot.agent.turn.toolbox import PreparedTool, validate_arguments
from kenobot.ports.errors import RemoteError, ToolFailed
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.json_value import Json
from kenobot.ports.provider import ToolCall
from kenobot.ports.tool import Tool, ToolContext
from kenobot_testing.clock import START

AnyTool = Tool[Any]

HOSTILE_TEXTS = (
    "",
    " \t\n",
    "\0",
    "a\0b",
    "\ud800",
    "\u202eexe.\u200b\U000e0041",
    "../" * 40 + "etc/passwd",
    "/etc/passwd",
    "--help",
    "-rf .",
    "$(id)`id`;id|id&&id\nid",
    "%s%n{0}{name}$name",
    "' OR 1=1; DROP TABLE inbox; --",
    '"a" NEAR/3 b* AND (NOT c',
    "<memory>x</memory><kenobot-context>",
    "file:///etc/passwd",
    "http://127.0.0.1/",
    "x" * 100_000,
    "e\u0301" * 5000,
    "9" * 400,
    "9999-12-31",
    "0001-01-01",
)
"""Texts that break what takes them for something else."""
HOSTILE_NUMBERS: tuple[Json, ...] = (
    0,
    -1,
    2**63,
    10**300,
    1e308,
    True,
    None,
    "",
    [],
    {},
    [[]],
    ["../x", "\0"],
    {"a": None},
)
"""Values in the place of numbers, lists and switches."""


async def no_memory(query: str) -> str:
    """Search a memory that holds nothing."""
    return ""


class OneReminder:
    """An agenda with one reminder, of number 1."""

    async def show(self, first: date | None, last: date | None) -> str:
        return "- 9:00 water the plants (reminder 1)"

    async def remind(self, text: str, when: str) -> str:
        return f"Reminder 2 is set: {when}."

    async def cancel(self, number: int) -> str:
        return f"Reminder {number} is cancelled: water the plants"


class OneMemory:
    """A memory of one thing."""

    async def explain(self, text: str) -> str:
        return "- Ana likes green tea (memory 1, from tag, 2 days ago, certain to 70%)"

    async def forget(self, text: str) -> str:
        return "Forgotten: Ana likes green tea."


class OneSkill:
    """Skills of which one can be read."""

    async def read(self, name: str, file: str, part: int) -> str:
        return f"How {name} is done."


def tool_context(call: str = "call-1") -> ToolContext:
    """Return the context of a call in the owner's private chat."""
    principal = Principal("owner", (OWNER_SCOPE,), OWNER_SCOPE, "owner")
    doors = OneReminder(), OneMemory()
    return ToolContext("fake-1", principal, call, "trace", START, no_memory, *doors, skills=OneSkill())


@pytest.mark.asyncio
class ToolContract:
    """Tests of what the core relies on in a tool. Subclass it and override `tool` and `arguments`."""

    @pytest.fixture
    def tool(self) -> AnyTool:
        """The tool, over a stand-in of whatever it reaches."""
        raise NotImplementedError("override the fixture `tool`")

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        """Arguments that it can work with, as a model writes them."""
        raise NotImplementedError("override the fixture `arguments`")

    async def test_it_can_be_offered_to_a_model(self, tool: AnyTool) -> None:
        """A name that every provider takes, a description, effects, and a schema of an object that is JSON."""
        spec = PreparedTool.of(tool).spec
        assert json.loads(json.dumps(dict(spec.schema))) == dict(spec.schema)

    async def test_it_answers_in_words(self, tool: AnyTool, arguments: dict[str, Json]) -> None:
        """Arguments that fit its own schema bring a text, and are left as they were."""
        before = json.dumps(arguments)
        result = await tool.run(_parse(tool, arguments), tool_context("call-7"))
        assert isinstance(result, str)
        assert json.dumps(arguments) == before, "it changed its arguments"

    async def test_strange_arguments_are_refused_in_words(self, tool: AnyTool) -> None:
        """A model invents arguments: what the schema lets through fails as ToolFailed or RemoteError at most."""
        call = ToolCall("call-1", tool.name, {"no such argument": [None, {"deep": "é"}]})
        parsed = validate_arguments(PreparedTool.of(tool), call)
        if isinstance(parsed, str):
            assert parsed.strip(), "the model cannot mend what it is not told"
            return
        try:
            await tool.run(parsed, tool_context())
        except (ToolFailed, RemoteError) as error:
            assert str(error).strip(), "it failed and does not say why"

    async def test_hostile_arguments_end_in_words(self, tool: AnyTool, arguments: dict[str, Json]) -> None:
        """Answer hostile arguments, as a model may be talked into them: a result, or a refusal that says why."""
        for name, value in arguments.items():
            for hostile in HOSTILE_TEXTS if isinstance(value, str) else HOSTILE_NUMBERS:
                parsed = validate_arguments(
                    PreparedTool.of(tool), ToolCall("call-1", tool.name, {**arguments, name: hostile})
                )
                if isinstance(parsed, str):
                    assert parsed.strip(), f"{name} = {hostile!r} is refused, and nothing says why"
                    continue
                try:
                    result = await asyncio.wait_for(tool.run(parsed, tool_context()), 10)
                except (ToolFailed, RemoteError) as error:
                    assert str(error).strip(), f"it failed over {name} = {hostile!r} and does not say why"
                else:
                    assert isinstance(result, str), f"{name} = {hostile!r} brought no text"

    async def test_it_stops_when_cancelled(self, tool: AnyTool, arguments: dict[str, Json]) -> None:
        """Cancelling a call ends it and leaves no task behind."""
        before = asyncio.all_tasks()
        running = asyncio.ensure_future(tool.run(_parse(tool, arguments), tool_context()))
        await asyncio.sleep(0)
        running.cancel()
        done, _ = await asyncio.wait({running}, timeout=10)
        assert done, "it swallowed the cancellation"
        assert asyncio.all_tasks() <= before, "a task was left running"


def _parse(tool: AnyTool, arguments: dict[str, Json]) -> Any:
    parsed = validate_arguments(PreparedTool.of(tool), ToolCall("call-1", tool.name, arguments))
    assert not isinstance(parsed, str), f"its own arguments do not fit: {parsed}"
    return parsed
