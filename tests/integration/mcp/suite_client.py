"""The MCP client as the conformance suite starts it: it connects with an address, and calls each tool."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.ports.json_value import Json
from kenobot.tools.mcp.connection import Hooks, connect
from kenobot.tools.mcp.sign_in import StoredSignIn
from kenobot.tools.mcp.token_file import TokenFile


async def main(url: str, given: Mapping[str, str]) -> None:
    """Sign in where that is wanted, and call each tool."""
    ended: list[str] = []

    async def show(address: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as web:
            ended.append((await web.get(address)).headers["location"])

    async def hear() -> str:
        return ended[-1]

    async def elicit(params: Mapping[str, Any]) -> Mapping[str, Json]:
        fields = params["requestedSchema"]["properties"]
        return {"action": "accept", "content": {name: each["default"] for name, each in fields.items()}}

    file = TokenFile(Path(tempfile.mkdtemp()), "suite", url)
    signs_in = StoredSignIn(
        url,
        file,
        redirect="http://127.0.0.1:3999/callback",
        show=show,
        hear=hear,
        client_id=given.get("client_id", ""),
        client_secret=given.get("client_secret", ""),
    )
    async with connect(McpServerSettings(url=url), Hooks(elicit=elicit), signs_in) as connection:
        listed: list[Any] = await connection.list_tools()
        for tool in listed:
            try:
                await connection.call(tool["name"], dict.fromkeys(tool["inputSchema"].get("properties", {}), 5))
            except ToolFailed as error:
                print(error)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")))
