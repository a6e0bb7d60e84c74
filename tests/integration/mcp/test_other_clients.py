"""Clients that nobody here wrote use the server, over pipes and over HTTP."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from kenobot_testing.scripted import ScriptedProvider
from tests.integration.http.bot import served_bot
from tests.integration.mcp.suite import NODE_MODULES, find_program

pytestmark = pytest.mark.long

pytest.importorskip("mcp")

_ROOT = Path(__file__).resolve().parents[3]
_CLIENT = Path(__file__).with_name("node_client.cjs")
_DAY: list[tuple[str, dict[str, object]]] = [
    ("remember", {"text": "Laura lives in Vitoria."}),
    ("recall", {"query": "Where does Laura live?"}),
    ("forget", {"memory": "$1"}),
    ("forget", {"memory": "$1", "confirm": True}),
    ("recall", {"query": "Where does Laura live?"}),
    ("undo", {}),
    ("recall", {"query": "Where does Laura live?"}),
    ("remind", {"text": "call Laura", "when": "2126-12-01T09:00"}),
    ("agenda", {"first": "2126-12-01"}),
    ("cancel_reminder", {"number": "$8"}),
]
_TOLD = (
    "agenda cancel_reminder forget recall remember remind undo",
    "Memory 1: created",
    "#1 Laura lives in Vitoria.",
    "This would be taken away:",
    "Forgotten:",
    "No memory fits that.",
    "Undone.",
    "#1 Laura lives in Vitoria.",
    "Reminder 1 is set",
    "call Laura",
    "Reminder 1 is cancelled.",
)


async def _run(*command: str, home: Path) -> str:
    """Run a program of Node in a home of its own; returns what it prints."""
    environ = {**os.environ, "HOME": str(home), "MCP_REFERENCE_SERVERS": str(NODE_MODULES.absolute())}
    program = await asyncio.create_subprocess_exec(
        *command,
        cwd=home,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120):
        told, complaint = await program.communicate()
    assert program.returncode == 0, complaint.decode()
    return told.decode()


def _serve(home: Path) -> list[str]:
    """Return the command that serves the home of a test over its pipes."""
    home.mkdir(mode=0o700, exist_ok=True)
    return [sys.executable, "-m", "kenobot", "mcp", "serve", "--home", str(home)]


def _check(told: str) -> None:
    for said, wanted in zip(json.loads(told), _TOLD, strict=True):
        assert wanted in said
        assert not said.startswith("Refused")


@pytest.fixture
def node() -> str:
    if not (NODE_MODULES / "@modelcontextprotocol" / "sdk").is_dir():
        pytest.skip("@modelcontextprotocol/sdk is not in the folder that MCP_REFERENCE_SERVERS names")
    return "node"


async def test_the_sdk_for_node_over_pipes(tmp_path: Path, node: str) -> None:
    """It starts the server, and does all that there is to do."""
    command, *args = _serve(tmp_path / "home")
    target = {"command": command, "args": args, "env": {"PYTHONPATH": str(_ROOT)}}
    _check(await _run(node, str(_CLIENT), json.dumps(target), json.dumps(_DAY), home=tmp_path))


async def test_the_sdk_for_node_over_http(tmp_path: Path, node: str) -> None:
    """With a key of the REST API."""
    async with served_bot(tmp_path / "bot", ScriptedProvider(lambda _: "I see.", repeat_last=True)) as bot:
        target = {"url": f"{bot.base}/mcp", "headers": {"Authorization": f"Bearer {await bot.key()}"}}
        _check(await _run(node, str(_CLIENT), json.dumps(target), json.dumps(_DAY), home=tmp_path))


async def test_the_sdk_for_python_over_pipes(tmp_path: Path) -> None:
    """Its own transport starts the server and ends it."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command, *args = _serve(tmp_path / "home")
    parameters = StdioServerParameters(command=command, args=args, env={"PYTHONPATH": str(_ROOT)})
    async with asyncio.timeout(60), mcp.Client(stdio_client(parameters)) as client:
        result = await client.call_tool("remember", {"text": "Laura lives in Vitoria."})
        assert result.content[0].type == "text"
        assert result.content[0].text.startswith("Memory 1: created")


async def test_the_inspector(tmp_path: Path) -> None:
    """It takes the declared schema for its arguments."""
    inspector = find_program("mcp-inspector")
    call = ("--method", "tools/call", "--tool-name", "remind", "--tool-arg", "text=x", "--tool-arg", "when=in 2 hours")
    told = await _run(
        *(inspector, "--cli", "-e", f"PYTHONPATH={_ROOT}", *_serve(tmp_path / "home"), *call), home=tmp_path
    )
    assert json.loads(told)["content"][0]["text"].startswith("Reminder 1 is set")


async def test_claude_code(tmp_path: Path) -> None:
    """It takes the server in as the page says, and finds it healthy both ways."""
    claude = find_program("claude")
    async with served_bot(tmp_path / "bot", ScriptedProvider(lambda _: "I see.", repeat_last=True)) as bot:
        header = f"Authorization: Bearer {await bot.key()}"
        add = (claude, "mcp", "add")
        await _run(*add, "pipes", "-e", f"PYTHONPATH={_ROOT}", "--", *_serve(tmp_path / "home"), home=tmp_path)
        await _run(*add, "--transport", "http", "web", f"{bot.base}/mcp", "--header", header, home=tmp_path)
        told = await _run(claude, "mcp", "list", home=tmp_path)
    found = [line for line in told.splitlines() if line.startswith(("pipes:", "web:"))]
    assert len(found) == 2, told
    assert all("Connected" in line for line in found), told
