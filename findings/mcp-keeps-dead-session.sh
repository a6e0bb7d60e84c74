#!/bin/sh
# The MCP SDK's client opens no new session where a server has forgotten the one it had, as after a restart: each further
# call ends in "Session not found", for as long as the client lives. The protocol (2025-11-25, Streamable HTTP, session
# management) says that a client which receives HTTP 404 for its session MUST start a new one.
# Exits 0 while that is so, 1 once it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0 uvicorn
cd "$folder"
"$folder/venv/bin/python" - <<'END'
import asyncio
import contextlib
import logging
import socket
import sys
from importlib.metadata import version

import mcp
import uvicorn
from mcp.server.mcpserver import MCPServer

logging.disable(logging.CRITICAL)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]


@contextlib.asynccontextmanager
async def serve():
    """A server with sessions, which it has in its memory."""
    server = MCPServer("echo")

    @server.tool()
    def echo(text: str) -> str:
        return text

    runner = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), port=port, log_level="critical", lifespan="on"))
    task = asyncio.create_task(runner.serve())
    while not runner.started:
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        runner.should_exit = runner.force_exit = True
        await task


async def call(client):
    try:
        return (await client.call_tool("echo", {"text": "hi"})).content[0].text
    except mcp.MCPError as error:
        return f"error: {error}"


async def main():
    told = []
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(contextlib.AsyncExitStack())
        await first.enter_async_context(serve())
        client = await stack.enter_async_context(mcp.Client(f"http://127.0.0.1:{port}/mcp", mode="legacy"))
        told.append(await call(client))
        await first.aclose()
        async with serve():
            told += [await call(client) for _ in range(3)]
            async with mcp.Client(f"http://127.0.0.1:{port}/mcp", mode="legacy") as other:
                told.append(await call(other))
    return told


told = asyncio.run(main())
print("mcp", version("mcp"), "- before the restart, three calls after it, a new client:", told)
sys.exit(not (told[0] == told[4] == "hi" and all(each == "error: Session not found" for each in told[1:4])))
END
