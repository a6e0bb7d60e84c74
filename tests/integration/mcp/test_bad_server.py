"""A server that dies, hangs, floods and lies costs its own calls, and nothing else."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ToolFailed
from kenobot.tools.mcp import server
from kenobot.tools.mcp.servers import McpServers
from tests.integration.mcp import stand_in
from tests.integration.mcp.servers import call, offered, reach, running

pytest.importorskip("mcp")


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    return tmp_path / "starts"


@pytest.fixture
def bad(counter: Path) -> McpServerSettings:
    return McpServerSettings(command=sys.executable, args=("-S", stand_in.__file__, str(counter)), seconds=2)


@pytest.fixture
async def servers(bad: McpServerSettings, tmp_path: Path) -> AsyncIterator[McpServers]:
    async with running({"bad": bad}, tmp_path) as started:
        await reach(started, "up")
        yield started


async def test_what_it_lies_about_is_left_out_or_made_small(servers: McpServers) -> None:
    """Schemas that are none, or too large, cost the tool; loops and depths are left open; names and words are cut."""
    tools = offered(servers)
    assert len(tools) == len(stand_in.TOOLS)
    assert all(len(name) <= 64 and len(tool.description) <= 400 for name, tool in tools.items())
    assert tools["bad_echo"].description.startswith("Says it again. xxx")
    assert tools["bad_loop"].arguments.model_json_schema()["properties"] == {"a": {}}
    assert any(name.startswith("bad_a_tool_with_signs_") for name in tools)


async def test_each_call_has_an_end(servers: McpServers, counter: Path) -> None:
    """Death, silence, a flood and noise each end the one call; the next is answered, by a new program if need be."""
    assert await call(servers, "bad_echo", text="a") == "a (1)"
    assert await call(servers, "bad_noise", text="b") == "b (1)"
    for name, words in (("wrong", "It is closed"), ("nothing", "no result"), ("slow", "within 2 seconds")):
        with pytest.raises(ToolFailed, match=words):
            await call(servers, f"bad_{name}")
    assert await call(servers, "bad_echo", text="c") == "c (1)"
    with pytest.raises(ToolFailed, match="Nobody knows whether it happened"):
        await call(servers, "bad_die")
    await reach(servers, "up")
    assert await call(servers, "bad_echo", text="d") == "d (2)"
    with pytest.raises(ToolFailed, match=r"too long"):
        await call(servers, "bad_flood")
    await reach(servers, "up")
    assert await call(servers, "bad_echo", text="e") == "e (3)"


async def test_a_server_that_hangs_is_started_anew(servers: McpServers, counter: Path) -> None:
    """Two calls in a row without an answer end the program, and the third is answered by another one."""
    for _ in range(2):
        with pytest.raises(ToolFailed, match="did not answer"):
            await call(servers, "bad_slow")
    async with asyncio.timeout(30):
        while counter.read_text() == "1":
            await asyncio.sleep(0.005)
    await reach(servers, "up")
    assert await call(servers, "bad_echo", text="a") == "a (2)"


async def test_a_stopped_turn_stops_its_call_alone(servers: McpServers) -> None:
    """A cancelled call ends at once, and one that waited behind it is run."""
    stopped = asyncio.ensure_future(call(servers, "bad_slow"))
    behind = asyncio.ensure_future(call(servers, "bad_echo", text="a"))
    await asyncio.sleep(0.02)
    stopped.cancel()
    assert await behind == "a (1)"


async def test_only_readers_run_side_by_side(servers: McpServers) -> None:
    """A tool that says it only reads is run beside another such; one that does not waits."""
    silent = [asyncio.ensure_future(call(servers, "bad_look")) for _ in range(2)]
    await asyncio.sleep(0)
    assert await call(servers, "bad_look", text="now") == "now (1)"
    behind = asyncio.ensure_future(call(servers, "bad_echo", text="a"))
    for each in silent:
        assert not behind.done()
        each.cancel()
        await asyncio.sleep(0)
    assert await behind == "a (1)"


async def test_its_tools_stay_while_it_is_down(bad: McpServerSettings, counter: Path, tmp_path: Path) -> None:
    """After a restart with the server down, the tools are the ones of before, and a call says why it fails."""
    async with running({"bad": bad}, tmp_path) as started:
        await reach(started, "up")
        before = {name: tool.arguments.model_json_schema() for name, tool in offered(started).items()}
    counter.write_text("refuse")
    async with running({"bad": bad}, tmp_path) as started:
        await reach(started, "down")
        assert {name: tool.arguments.model_json_schema() for name, tool in offered(started).items()} == before
        with pytest.raises(ToolFailed, match=r'"bad" cannot be used now: .*no licence found'):
            await call(started, "bad_echo", text="a")


async def test_a_list_of_another_server_is_not_taken(bad: McpServerSettings, tmp_path: Path) -> None:
    """The kept list counts for the command that it is of; a damaged file for nobody."""
    async with running({"bad": bad}, tmp_path) as started:
        await reach(started, "up")
    other = bad.model_copy(update={"args": ("-c", "pass")})
    assert not offered(McpServers({"bad": other}, tmp_path, tmp_path, SystemClock()))
    (tmp_path / "mcp" / "bad.json").write_text('{"of": [')
    assert not offered(McpServers({"bad": bad}, tmp_path, tmp_path, SystemClock()))


async def test_a_server_that_never_answers_is_down(
    bad: McpServerSettings, counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that says nothing when it is connected is ended, and another one is started later."""
    monkeypatch.setattr(server, "_CONNECT_SECONDS", 0.2)
    counter.write_text("mute")
    async with running({"bad": bad}, tmp_path) as started:
        await reach(started, "down")
        assert started.states[0].reason == "it does not answer"


async def test_nothing_is_left_running(bad: McpServerSettings, counter: Path, tmp_path: Path) -> None:
    """At the end every task has ended, and so has the program, with a call under way."""
    before = asyncio.all_tasks()
    async with running({"bad": bad}, tmp_path) as started:
        await reach(started, "up")
        waiting = asyncio.ensure_future(call(started, "bad_slow"))
        await asyncio.sleep(0.01)
    with pytest.raises(ToolFailed):
        await waiting
    assert asyncio.all_tasks() - {waiting} <= before
    with pytest.raises(ToolFailed, match="cannot be used now"):
        await call(started, "bad_echo", text="a")
