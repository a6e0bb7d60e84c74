"""Servers of both eras of the protocol, none of them written here but the new one's tools."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from kenobot.agent.turn.tool_input import asks_secret
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.ports.tool_input import GivenInput, InputWanted
from tests.integration.mcp.servers import ask, call, go_on, offered, reach, running
from tests.integration.mcp.suite import find_program

pytestmark = pytest.mark.long

mcp_server = pytest.importorskip("mcp.server")
uvicorn = pytest.importorskip("uvicorn")


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


@asynccontextmanager
async def _new_server(port: int) -> AsyncIterator[list[str]]:
    """Serve the new era over HTTP. Yields the values of the header Authorization that came."""
    from mcp.server.mcpserver import Context, MCPServer
    from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

    server, seen = MCPServer("new"), list[str]()

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def book(place: str, ctx: Context) -> str | InputRequiredResult:
        """Book a table, in two questions."""
        given: dict[str, Any] = {**(ctx.input_responses or {})}
        if "where" in given:
            return f"{place}: {ctx.request_state} people, {given['where'].content['where']}"
        if "how" in given and given["how"].action == "decline":
            return "Nothing was booked."
        asked, kind = ("where", "string") if "how" in given else ("how", "integer")
        schema = {"type": "object", "properties": {asked: {"type": kind}}, "required": [asked]}
        params = ElicitRequestFormParams(message="For how many?", requested_schema=schema)
        state = str(given["how"].content["how"]) if given else None
        return InputRequiredResult(input_requests={asked: ElicitRequest(params=params)}, request_state=state)

    application = server.streamable_http_app()

    async def watched(scope, receive, send):  # type: ignore[no-untyped-def]
        seen.extend(value.decode() for name, value in scope.get("headers", ()) if name == b"authorization")
        await application(scope, receive, send)

    runner = uvicorn.Server(uvicorn.Config(watched, port=port, log_level="error", lifespan="on"))
    task = asyncio.create_task(runner.serve())
    try:
        while not runner.started:
            await asyncio.sleep(0.005)
        yield seen
    finally:
        runner.should_exit = True
        await task


async def test_the_new_era_over_http(tmp_path: Path, port: int) -> None:
    """Tools are called with the owner's secret, an input that is wanted is told, and the tools outlast the server."""
    settings = McpServerSettings(
        url=f"http://127.0.0.1:{port}/mcp",
        headers={"Authorization": "Bearer ${key}"},
        secrets={"key": SecretStr("sesame")},
        seconds=5,
    )
    async with running({"new": settings}, tmp_path) as servers:
        async with _new_server(port) as seen:
            await reach(servers, "up")
            assert "2026-07-28" in servers.states[0].title
            assert await call(servers, "new_add", a=2, b=3) == "5"
            with pytest.raises(ToolFailed, match='wants an input first: "For how many\\?"'):
                await call(servers, "new_book", place="Ana's")
            first = await ask(servers, "new_book", place="Ana's")
            declined = GivenInput(first.state, {}, declined=True)
            assert await go_on(servers, "new_book", declined, place="Ana's") == "Nothing was booked."
            with pytest.raises(InputWanted) as second:
                await go_on(servers, "new_book", GivenInput(first.state, {"how": {"how": 4}}), place="Ana's")
            outside = GivenInput(second.value.wanted.state, {"where": {"where": "outside"}})
            assert await go_on(servers, "new_book", outside, place="Ana's") == "Ana's: 4 people, outside"
            with pytest.raises(ValidationError, match="a: should be of the type integer"):
                await call(servers, "new_add", a="x", b=3)
            assert {*seen} == {"Bearer sesame"}
        with pytest.raises(ToolFailed):
            await call(servers, "new_add", a=2, b=3)
        await reach(servers, "down")
        assert "new_add" in offered(servers)


async def test_the_old_era_over_pipes(tmp_path: Path) -> None:
    """The server of files reads in its folder alone; texts, pictures and structures come from the one of everything."""
    (tmp_path / "note.txt").write_text("hola")
    settings = {
        "files": McpServerSettings(command=find_program("mcp-server-filesystem"), args=(str(tmp_path),)),
        "all": McpServerSettings(command=find_program("mcp-server-everything"), args=("stdio",)),
    }
    async with running(settings, tmp_path) as servers:
        await reach(servers, "up")
        assert await call(servers, "files_read_text_file", path=str(tmp_path / "note.txt")) == "hola"
        with pytest.raises(ToolFailed, match="Access denied"):
            await call(servers, "files_read_text_file", path="/etc/hostname")
        assert await call(servers, "all_echo", message="hi") == "Echo: hi"
        assert "[1 image, not shown]" in await call(servers, "all_get-tiny-image")
        assert "humidity" in await call(servers, "all_get-structured-content", location="Chicago")


@asynccontextmanager
async def _old_server(port: int) -> AsyncIterator[None]:
    """Serve the old era over HTTP, with sessions."""
    process = await asyncio.create_subprocess_exec(
        *(find_program("mcp-server-everything"), "streamableHttp"),
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                break
            await asyncio.sleep(0.02)
        yield
    finally:
        process.kill()
        await process.wait()


async def test_an_old_server_that_forgot_its_session(tmp_path: Path, port: int) -> None:
    """One that was restarted is connected anew within the call, which is answered; what it asks back is, too."""
    settings = McpServerSettings(url=f"http://127.0.0.1:{port}/mcp", seconds=10)
    async with running({"old": settings}, tmp_path) as servers:
        async with _old_server(port):
            await reach(servers, "up")
            assert await call(servers, "old_echo", message="a") == "Echo: a"
            form = await ask(servers, "old_trigger-elicitation-request")
            assert (form.fields[0].name, len(form.fields), asks_secret(form)) == ("name", 13, False)
            given = GivenInput(form.state, {"live": {"name": "Ana"}})
            assert "Name: Ana" in await go_on(servers, "old_trigger-elicitation-request", given)
        async with _old_server(port):
            assert await call(servers, "old_echo", message="b") == "Echo: b"
