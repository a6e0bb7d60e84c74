"""A server is supervised: connected again with growing pauses, and never at the expense of those who call it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.ports.json_value import Json
from kenobot.tools.mcp.connection import ConnectionLost, Hooks, Inputs
from kenobot.tools.mcp.declared import DeclaredTool
from kenobot.tools.mcp.kept_list import KeptList
from kenobot.tools.mcp.server import McpServer
from kenobot.tools.mcp.tool import McpTool
from kenobot_testing.clock import ManualClock
from kenobot_testing.tool import AnyTool, ToolContract
from tests.waiting import until

ECHO = DeclaredTool("echo", "Say it again.", {"type": "object"})
LISTED = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}


class Remote:
    """A server that is reached or not, as a test says. results: of calls, in turn; an exception is raised."""

    title = "a stand-in"

    def __init__(self, *results: str | BaseException) -> None:
        self.results = list(results)
        self.reachable = True
        self.listed: list[object] = [LISTED]
        self.connects = 0
        self.calls = 0
        self.changed: Callable[[], None] = lambda: None

    @asynccontextmanager
    async def connect(self, hooks: Hooks) -> AsyncIterator["Remote"]:
        self.connects += 1
        self.changed = hooks.changed
        if not self.reachable:
            raise ConnectionLost("it is away", ran=False)
        yield self

    async def list_tools(self) -> list[object]:
        return self.listed

    async def call(self, name: str, arguments: Mapping[str, Json], inputs: Inputs | None = None) -> str:
        self.calls += 1
        result = self.results.pop(0) if self.results else "done"
        if isinstance(result, BaseException):
            raise result
        return result


class TestMcpTool(ToolContract):
    """A tool of a server."""

    @pytest.fixture
    async def tool(self, tmp_path: Path) -> AsyncIterator[AnyTool]:
        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        settings = McpServerSettings(command="x")
        async with supervised(Remote(), ManualClock(), tmp_path) as server:
            await until(lambda: server.state.state == "up")
            yield McpTool("x_echo", DeclaredTool("echo", "Say it again.", schema), server, settings)  # type: ignore[arg-type]

    @pytest.fixture
    def arguments(self) -> dict[str, Json]:
        return {"word": "ñandú", "more": [1, {"deep": None}]}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def kept(folder: Path) -> KeptList:
    return KeptList(folder, "x", McpServerSettings(command="x"))


@asynccontextmanager
async def supervised(remote: Remote, clock: ManualClock, folder: Path) -> AsyncIterator[McpServer]:
    """A server that has begun."""
    server = McpServer("x", remote.connect, clock, kept(folder), seconds=5)
    server.begin()
    yield server
    await server.aclose()


async def test_pauses_grow_to_a_ceiling(clock: ManualClock, tmp_path: Path) -> None:
    """One second, two, four: up to five minutes, for ever; then it is well again."""
    remote = Remote()
    remote.reachable = False
    pauses = []
    async with supervised(remote, clock, tmp_path) as server:
        for attempt in range(1, 13):
            await until(lambda attempt=attempt: remote.connects == attempt and bool(clock.pending_sleeps))  # type: ignore[misc]
            pauses += clock.pending_sleeps
            clock.advance(pauses[-1])
        assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
        assert (server.state.state, server.state.reason) == ("down", "it is away")
        remote.reachable = True
        clock.advance(300)
        await until(lambda: server.state.state == "up")


async def test_a_call_has_a_server_tried_again(clock: ManualClock, tmp_path: Path) -> None:
    """Within ten seconds of a failure a call fails at once; later it is what ends the pause."""
    remote = Remote("hello")
    remote.reachable = False
    async with supervised(remote, clock, tmp_path) as server:
        for seconds in (1, 2, 4, 8):
            await until(lambda: bool(clock.pending_sleeps))
            clock.advance(seconds)
            await asyncio.sleep(0)
        await until(lambda: bool(clock.pending_sleeps))
        with pytest.raises(ToolFailed, match="it is away"):
            await server.call(ECHO, {})
        before, remote.reachable = remote.connects, True
        clock.advance(11)
        assert await server.call(ECHO, {}) == "hello"
        assert remote.connects == before + 1


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        (ConnectionLost("it forgot", ran=False), ""),
        (ConnectionLost("it broke"), "Nobody knows whether it happened"),
        (asyncio.CancelledError(), "Nobody knows whether it happened"),
    ],
)
async def test_only_what_was_surely_not_run_is_run_again(
    clock: ManualClock, tmp_path: Path, lost: BaseException, told: str
) -> None:
    """A call that the server refused unread is repeated, once; of another nobody knows. No caller is cancelled."""
    remote = Remote(lost, "done")
    async with supervised(remote, clock, tmp_path) as server:
        await until(lambda: server.state.state == "up")
        if told:
            with pytest.raises(ToolFailed, match=told):
                await server.call(ECHO, {})
        else:
            assert await server.call(ECHO, {}) == "done"
            assert remote.calls == 2


async def test_a_call_that_is_never_run_is_not_repeated_for_ever(clock: ManualClock, tmp_path: Path) -> None:
    """The second loss is told."""
    remote = Remote(ConnectionLost("it forgot", ran=False), ConnectionLost("it forgot", ran=False), "done")
    async with supervised(remote, clock, tmp_path) as server:
        with pytest.raises(ToolFailed, match="it forgot"):
            await server.call(ECHO, {})
        assert remote.calls == 2


async def test_a_changed_list_is_taken_and_kept(clock: ManualClock, tmp_path: Path) -> None:
    """When the server says so; the same list in another order changes nothing."""
    remote, changes = Remote(), list[int]()
    other = {**LISTED, "name": "other"}
    remote.listed = [other, LISTED]
    server = McpServer("x", remote.connect, clock, kept(tmp_path), seconds=5, changed=lambda: changes.append(1))
    server.begin()
    await until(lambda: server.state.state == "up")
    for listed, count in (([LISTED, other], 1), ([other], 2)):
        remote.listed = [*listed]
        remote.changed()
        await until(lambda count=count: len(changes) == count and not server._is_stale)  # type: ignore[misc]
    assert [tool.name for tool in server.tools] == ["other"]
    await until(lambda: kept(tmp_path).load() == server.tools)
    await server.aclose()


async def test_too_many_calls_are_turned_away(clock: ManualClock, tmp_path: Path) -> None:
    """The queue has an end; what waits is told when the bot is stopped."""
    remote = Remote()
    remote.results = []
    server = McpServer("x", remote.connect, clock, kept(tmp_path), seconds=5)
    waiting = [asyncio.ensure_future(server.call(ECHO, {})) for _ in range(40)]
    done = await asyncio.gather(*waiting, return_exceptions=True)
    refused = [each for each in done if isinstance(each, ToolFailed)]
    assert len(refused) == 8
    assert "Too many calls" in str(refused[0])
    await server.aclose()


async def test_a_server_that_keeps_dying_is_left_alone_longer(clock: ManualClock, tmp_path: Path) -> None:
    """To be connected for a moment is no recovery; after a minute it is."""
    remote = Remote(*[ConnectionLost("it died") for _ in range(5)])
    async with supervised(remote, clock, tmp_path) as server:
        for pause, steady in ((1, 0), (2, 0), (4, 0), (1, 60)):
            await until(lambda: server.state.state == "up")
            clock.advance(steady)
            with pytest.raises(ToolFailed, match="it died"):
                await server.call(ECHO, {})
            await until(lambda: server.state.state == "down" and bool(clock.pending_sleeps))
            assert min(clock.pending_sleeps) == pause
            clock.advance(pause)
