"""A server that wants to know something in the middle of a call gets it from its owner, in both eras."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.ports.provider import Reply, ToolCall
from kenobot.ports.tool_input import GivenInput
from kenobot.tools.mcp import server
from kenobot.tools.mcp.servers import McpServers
from tests.integration.mcp import stand_in
from tests.integration.mcp.servers import ask, call, go_on, reach, running
from tests.scene import Scene

pytest.importorskip("mcp")


@pytest.fixture
def bad(tmp_path: Path) -> McpServerSettings:
    return McpServerSettings(command=sys.executable, args=("-S", stand_in.__file__, str(tmp_path / "starts")))


@pytest.fixture
async def servers(bad: McpServerSettings, tmp_path: Path) -> AsyncIterator[McpServers]:
    async with running({"bad": bad}, tmp_path) as started:
        await reach(started, "up")
        yield started


@pytest.mark.parametrize(
    ("values", "declined", "told"),
    [
        ({"live": {"people": 4}}, False, {"action": "accept", "content": {"people": 4}}),
        ({}, True, {"action": "decline"}),
    ],
)
async def test_an_old_server_waits_with_its_call(
    servers: McpServers, values: dict[str, dict[str, object]], declined: bool, told: object
) -> None:
    """Other calls run meanwhile; the answer goes to the call that waits, once."""
    wanted = await ask(servers, "bad_ask")
    assert [(each.name, each.kind, each.message) for each in wanted.fields] == [("people", "integer", "For how many?")]
    assert await call(servers, "bad_echo", text="a") == "a (1)"
    given = GivenInput(wanted.state, values, declined)  # type: ignore[arg-type]
    assert json.loads(await go_on(servers, "bad_ask", given)) == told
    with pytest.raises(ToolFailed, match="waits no longer"):
        await go_on(servers, "bad_ask", given)


async def test_an_old_server_waits_not_for_ever(servers: McpServers, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told that nobody answered, and a late answer says so."""
    monkeypatch.setattr(server, "_LIVE_SECONDS", 0.05)
    wanted = await ask(servers, "bad_ask")
    assert wanted.seconds == 0.05
    assert await call(servers, "bad_echo", text="a") == "a (1)"
    while servers._servers["bad"]._live:
        await call(servers, "bad_echo", text="a")
    with pytest.raises(ToolFailed, match="waits no longer"):
        await go_on(servers, "bad_ask", GivenInput(wanted.state, {"live": {"people": 4}}))


async def test_nobody_is_asked_where_nobody_can_be(servers: McpServers) -> None:
    """In a group and for a guest the server is told at once."""
    assert json.loads(await call(servers, "bad_ask")) == {"action": "decline"}


async def test_a_program_that_ended_takes_its_question_with_it(servers: McpServers) -> None:
    """The answer is not given to another program."""
    wanted = await ask(servers, "bad_ask")
    with pytest.raises(ToolFailed):
        await call(servers, "bad_die")
    await reach(servers, "up")
    with pytest.raises(ToolFailed, match="Nothing was sent"):
        await go_on(servers, "bad_ask", GivenInput(wanted.state, {"live": {"people": 4}}))


async def test_the_owner_is_asked_in_their_chat(bad: McpServerSettings, tmp_path: Path) -> None:
    """From the model's call to the answer of the server."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "kenobot.toml").write_text(
        f'[mcp.bad]\ncommand = "{bad.command}"\nargs = {json.dumps(list(bad.args))}\neffects = []\n'
    )
    script = [Reply("", "tool_use", calls=(ToolCall("c1", "bad_ask", {}),)), "One thing first.", "Booked."]
    async with Scene(tmp_path, script) as scene:
        assert scene.app.plugins.mcp is not None
        scene.app.plugins.mcp.begin()
        await reach(scene.app.plugins.mcp, "up")
        assert "“bad” asks, before it goes on:\n```\nFor how many?\npeople\n```" in await scene.say("book a table")
        assert await scene.say("4") == "Booked."
        [(told,)] = await scene.rows("SELECT told FROM tool_run WHERE outcome = 'done'")
        assert json.loads(str(told)) == {"action": "accept", "content": {"people": 4}}
