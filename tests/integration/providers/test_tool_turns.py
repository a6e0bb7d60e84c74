"""A whole bot has tools called by models behind their wires."""

from pathlib import Path
from typing import Any

import pytest

from kenobot.core import plugins
from kenobot.ports.plugin import PluginContext
from kenobot.tools.clock import Clock
from kenobot_testing.clock import EagerClock
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.providers.openai_standin import OpenAIStandIn
from tests.scene import Scene

_CALL = {"id": "c1", "name": "clock", "arguments": '{"zone": "tokyo"}'}


def _provider(name: str, url: str, home: Path) -> Any:
    plugin = plugins.load("kenobot.providers", name)
    settings = plugin.settings(api_key="sk-ant-canary-canary", base_url=url)
    return plugin.build(settings, PluginContext(home, EagerClock(), "KenoBot"))


@pytest.mark.parametrize(("name", "standin"), [("anthropic", StandIn), ("openai", OpenAIStandIn)])
async def test_a_tool_is_called_over_the_wire(tmp_path: Path, name: str, standin: type[StandIn]) -> None:
    """The second request holds the call and its result as the service wants them; the person gets the last words."""
    script: list[Entry] = [
        {"match": "Asia/Tokyo", "reply": "Late in the evening."},
        {"match": "Tokyo", "reply": "Let me look.", "calls": [_CALL]},
    ]
    async with standin(script) as server:
        provider = _provider(name, server.url, tmp_path)
        async with Scene(tmp_path, provider=provider, tools=[Clock()]) as scene:
            assert await scene.say("What time is it in Tokyo?") == "Late in the evening."
        await provider.aclose()
    first, second = server.requests
    assert "clock" in str(first["tools"])
    assert "tokyo" in str(second["messages"][-2])
    assert "Asia/Tokyo" in str(second["messages"][-1])


@pytest.mark.parametrize(("name", "standin"), [("anthropic", StandIn), ("openai", OpenAIStandIn)])
async def test_a_server_that_takes_no_tools_is_asked_without(tmp_path: Path, name: str, standin: type[StandIn]) -> None:
    """Many local models cannot call any; the person is answered all the same."""
    script: list[Entry] = [{"times": 1, "status": 400, "error": "invalid_request_error"}, {"reply": "Good evening."}]
    async with standin(script) as server:
        provider = _provider(name, server.url, tmp_path)
        async with Scene(tmp_path, provider=provider, tools=[Clock()]) as scene:
            assert [await scene.say("hello"), await scene.say("again")] == ["Good evening."] * 2
        await provider.aclose()
    assert ["tools" in request for request in server.requests] == [True, False, False]
