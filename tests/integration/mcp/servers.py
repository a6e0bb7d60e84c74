"""Servers of tests, as the bot has them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.clock import Clock, SystemClock
from kenobot.ports.json_value import Json
from kenobot.ports.tool import Tool
from kenobot.ports.tool_input import GivenInput, InputWanted, WantedInput
from kenobot.tools.mcp.server import State
from kenobot.tools.mcp.servers import McpServers
from kenobot_testing.tool import tool_context


class QuickClock(SystemClock):
    """Pauses take a hundredth of their time."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 100)


@asynccontextmanager
async def running(
    settings: Mapping[str, McpServerSettings], cache: Path, clock: Clock | None = None
) -> AsyncIterator[McpServers]:
    """Have servers connected."""
    servers = McpServers(settings, cache, cache, clock or QuickClock())
    servers.begin()
    try:
        yield servers
    finally:
        await servers.aclose()


async def reach(servers: McpServers, state: State, name: str = "") -> None:
    """Return once the servers, or the one of a name, are in a state. Tools of servers that are up are trusted."""
    async with asyncio.timeout(30):
        while any(each.state != state for each in servers.states if name in ("", each.name)):
            await asyncio.sleep(0.005)
    if state == "up":
        trust(servers)


def trust(servers: McpServers) -> None:
    """Have the owner trust what is listed now."""
    for name, server in servers._servers.items():
        servers._trusted[name].save(server.tools)


def offered(servers: McpServers) -> dict[str, Tool[Any]]:
    """The tools that are offered, by name."""
    return {tool.name: tool for tool in servers.list_tools(())}


async def call(servers: McpServers, name: str, **arguments: Json) -> str:
    """Call a tool as the core does."""
    tool = offered(servers)[name]
    return await tool.run(tool.arguments.model_validate(arguments), tool_context())


async def go_on(servers: McpServers, name: str, given: GivenInput | None, **arguments: Json) -> str:
    """Call a tool whose owner can be asked. given: what they answered before."""
    tool = offered(servers)[name]
    context = replace(tool_context(), may_ask=True, given=given)
    return await tool.run(tool.arguments.model_validate(arguments), context)


async def ask(servers: McpServers, name: str, **arguments: Json) -> WantedInput:
    """Return what a tool wants to know."""
    try:
        result = await go_on(servers, name, None, **arguments)
    except InputWanted as wanting:
        return wanting.wanted
    raise AssertionError(f"{name} asked for nothing: {result}")
