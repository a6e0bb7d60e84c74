"""Build the MCP server for one caller. Only this package knows the SDK."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from kenobot import __version__
from kenobot.ports.errors import KenobotError, StoreError
from kenobot_http.api.mcp.tools import TOOLS, McpTool, Refused
from kenobot_http.api.services import Caller

_log = logging.getLogger(__name__)

_ABOUT = """\
KenoBot's memory of its person, and their agenda. Call recall before you say that you do not know something about \
them, and remember when they tell you a fact that will matter later. Call forget, undo and cancel_reminder only when \
they ask for it."""
_TOOLS = {tool.name: tool for tool in TOOLS}

CallerFinder = Callable[[], Awaitable[Caller]]
"""Returns who calls, as of now. Raises KenobotError where the home cannot be used."""


def build_server(find_caller: CallerFinder) -> "Server[dict[str, Any]]":
    """Build a server whose tools are those that the caller's key opens."""

    async def list_tools(
        _context: "ServerRequestContext[dict[str, Any]]", _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        try:
            caller = await find_caller()
        except KenobotError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        return ListToolsResult(tools=[_declare(tool) for tool in TOOLS if tool.opens_for(caller)])

    async def call_tool(
        _context: "ServerRequestContext[dict[str, Any]]", params: CallToolRequestParams
    ) -> CallToolResult:
        tool = _TOOLS.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        return await _call(tool, find_caller, params.arguments or {})

    return Server("kenobot", version=__version__, instructions=_ABOUT, on_list_tools=list_tools, on_call_tool=call_tool)


async def _call(tool: McpTool[Any], find_caller: CallerFinder, arguments: dict[str, Any]) -> CallToolResult:
    try:
        text = await tool.call(await find_caller(), arguments)
    except Refused as refusal:
        return _result(str(refusal), is_error=True)
    except StoreError as error:
        _log.warning("the tool %s could not be run: %s", tool.name, error)
        return _result("the disk or the database fails for now: try again", is_error=True)
    except KenobotError as error:
        return _result(str(error), is_error=True)
    return _result(text)


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


def _declare(tool: McpTool[Any]) -> Tool:
    schema = tool.arguments.model_json_schema()
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema={"type": "object", "properties": {}, **_without_titles(schema)},
        annotations=ToolAnnotations(**tool.hints),
    )


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop what pydantic adds for people who read schemas: names and docstrings of its models."""
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    fields = schema.get("properties", {})
    kept["properties"] = {
        name: {key: value for key, value in each.items() if key != "title"} for name, each in fields.items()
    }
    return kept
