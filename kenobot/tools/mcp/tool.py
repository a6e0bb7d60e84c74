"""A server's tool as one that models may call."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import JsonValue, RootModel, model_validator

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.json_value import Json
from kenobot.ports.tool import ToolContext
from kenobot.tools.mcp.declared import DeclaredTool, effects_of
from kenobot.tools.mcp.schema import find_mistakes
from kenobot.tools.mcp.server import McpServer


class McpArguments(RootModel[dict[str, JsonValue]]):
    """Arguments by a schema of the server's. `arguments_of` makes the class for one."""

    declared: ClassVar[Mapping[str, Json]] = {}  # bounded: the limits of schemas; test_a_schema_stays_small

    @classmethod
    def model_json_schema(cls, *_: object, **__: object) -> dict[str, Any]:
        """Return the server's schema."""
        return dict(cls.declared)

    @model_validator(mode="after")
    def _fits(self) -> "McpArguments":
        if mistakes := find_mistakes(self.declared, self.root):
            raise ValueError("; ".join(mistakes[:5]))
        return self


def arguments_of(schema: Mapping[str, Json]) -> type[McpArguments]:
    """Return the class of arguments by a schema."""
    return type("McpArguments", (McpArguments,), {"declared": schema, "__module__": __name__})


class McpTool:
    """A tool of a server. name: by which models call it."""

    def __init__(self, name: str, tool: DeclaredTool, server: McpServer, settings: McpServerSettings) -> None:
        self.name = name
        self.description = tool.description
        self.arguments = arguments_of(tool.schema)
        self.effects = effects_of(tool, settings)
        self._tool, self._server = tool, server

    async def run(self, arguments: McpArguments, turn: ToolContext) -> str:
        """Run it on the server. Raises ToolFailed and InputWanted."""
        return await self._server.call(self._tool, arguments.root, given=turn.given, may_ask=turn.may_ask)
