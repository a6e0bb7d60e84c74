"""A bot with an MCP server: the model calls its tools, and owner and model are told when it is down."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.ports.provider import Reply, Request, ToolCall, ToolResult
from kenobot.tools.mcp.servers import McpServers
from kenobot_testing.clock import ManualClock
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.mcp import stand_in
from tests.integration.mcp.servers import reach
from tests.integration.watch.test_watch import ROOM, Bot
from tests.scene import Scene

pytest.importorskip("mcp")

_SETTINGS = """
[mcp.bad]
command = "{python}"
args = ["-S", "{program}", "{counter}"]
effects = []
"""


def _call(name: str, text: str) -> Reply:
    return Reply("", "tool_use", calls=(ToolCall("c1", name, {"text": text}),))


def _last_result(scene: Scene) -> ToolResult:
    return [
        each for message in _requests(scene)[-1].messages for each in message.blocks if isinstance(each, ToolResult)
    ][-1]


def _requests(scene: Scene) -> list[Request]:
    assert isinstance(scene.provider, ScriptedProvider)
    return scene.provider.requests


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    return tmp_path / "starts"


@pytest.fixture
async def scene(tmp_path: Path, counter: Path) -> AsyncIterator[Scene]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    values = {"python": sys.executable, "program": stand_in.__file__, "counter": counter}
    (home / "kenobot.toml").write_text(_SETTINGS.format(**values))
    script = [
        _call("bad_echo", "hi"),
        "It says hi.",
        _call("bad_die", "x"),
        "It is gone.",
        _call("bad_echo", "y"),
        "No.",
    ]
    async with Scene(tmp_path, script, clock=ManualClock(), environ=ROOM) as scene:
        _servers(scene).begin()
        await reach(_servers(scene), "up")
        yield scene


def _servers(scene: Scene) -> McpServers:
    assert scene.app.plugins.mcp is not None
    return scene.app.plugins.mcp


async def test_a_server_that_dies_in_the_middle(scene: Scene, counter: Path) -> None:
    """The answer comes all the same, what is offered stays the same, and the owner is told once each way."""
    assert await scene.say("ask it") == "It says hi."
    assert _last_result(scene).text == "hi (1)"
    counter.write_text("refuse")
    assert await scene.say("ask it again") == "It is gone."
    assert "Nobody knows whether it happened" in _last_result(scene).text
    await reach(_servers(scene), "down")
    assert await scene.say("and now?") == "No."
    assert '"bad" cannot be used now' in _last_result(scene).text
    assert len({tuple(spec.name for spec in request.tools) for request in _requests(scene)}) == 1
    bot = Bot(scene)
    told = await bot.look(4)
    assert len(told) == 1
    assert "The MCP server bad cannot be used: " in told[0]
    assert "bad: cannot be used for " in await scene.say("/tools")
    counter.write_text("1")
    while _servers(scene).states[0].state != "up":
        scene.clock.advance(300)  # type: ignore[attr-defined]
        await asyncio.sleep(0.01)
    told = await bot.look(5)
    assert len(told) == 1
    assert "The MCP server bad is back." in told[0]
    assert "bad: connected for " in await scene.say("/tools")


async def test_tools_that_nobody_has_seen_are_not_offered(scene: Scene) -> None:
    """The owner is told once, and by a command, and once more when they trust them."""
    file = scene.home.mcp / "bad.json"
    trusted = file.read_text()
    file.unlink()
    await scene.say("ask it")
    assert _requests(scene)[0].tools == ()
    bot = Bot(scene)
    (told,) = await bot.look(4)
    assert "bad: tools that are new or changed, which I do not use until you have seen them: 12." in told
    assert "tools: 0\n  New or changed, off until you have seen them: 12." in await scene.say("/tools")
    file.write_text(trusted)
    (told,) = await bot.look(5)
    assert "All tools of the MCP server bad are as you trust them." in told
    await scene.say("and now?")
    assert "bad_echo" in {spec.name for spec in _requests(scene)[-1].tools}
