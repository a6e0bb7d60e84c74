"""Supervise one server: a task of its own connects, runs calls that wait in a queue, and connects again.

The SDK cancels whoever calls it when a server cannot be reached. So no turn calls it: a turn waits for a future.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from kenobot.core.retry import Backoff
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.sentences import Sentence
from kenobot.ports.tool_input import GivenInput, InputWanted
from kenobot.tools.mcp.connection import Connect, Connection, ConnectionLost, Hooks, InputRequested, Inputs
from kenobot.tools.mcp.declared import DeclaredTool, read_tools
from kenobot.tools.mcp.inputs import CannotAsk, form_responses, read_requests, read_state
from kenobot.tools.mcp.kept_list import KeptList
from kenobot.tools.mcp.results import word_request

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 60.0  # a program may have to be fetched first
_REFRESH_SECONDS = 300.0  # between two looks whether the list has changed
_STOP_SECONDS = 2.5
_PAUSES = Backoff(1.0, 300.0)
_STEADY_SECONDS = 60.0  # of a connection, after which its loss is the first one
_FRESH_SECONDS = 10.0  # after a failure, for which calls do not have it connect again
_MOST_WAITING = 32
_FORM_SECONDS = 3600.0  # for which the owner may answer what a server wants before it is called again
_LIVE = "live"
_PARALLEL = 4  # calls of tools that only read
_LIVE_SECONDS = 240.0  # for which a call waits for its owner, less than servers give it
_MOST_LIVE = 4  # calls that wait so
_UNANSWERED = 2  # calls in a row that took too long, until it is connected anew

_DOWN = (
    'The server "{name}" cannot be used now: {reason}. It is tried again by itself. Tell the person, and do without it.'
)
_UNKNOWN = 'The connection with the server "{name}" broke while this ran: {reason}. Nobody knows whether it happened.'
_SLOW = (
    'The server "{name}" did not answer within {seconds:.3g} seconds. Nobody knows whether it happened, or still will.'
)
_NOT_RUN = 'The server "{name}" was busy or not connected for too long: this was not run.'
_GONE = (
    'The server "{name}" waits no longer for this answer: too much time went by, or it was connected anew. Nothing was '
    "sent to it. Call the tool again if the person still wants it."
)
_NOT_ASKED = "It asked back for something that cannot be given ({reason}), and was told no."
_BUSY = 'Too many calls wait for the server "{name}". Try it later.'

State = Literal["starting", "up", "down"]


@dataclass(frozen=True, slots=True)
class ServerState:
    """State of a server. since: of that. title: what it calls itself.

    tools: how many it offers. untrusted: how many more there are that the owner has not seen as they are.
    """

    name: str
    state: State
    since: datetime
    reason: str = ""
    title: str = ""
    tools: int = 0
    untrusted: int = 0


@dataclass(slots=True)
class _Call:
    tool: DeclaredTool
    arguments: Mapping[str, Json]
    done: "asyncio.Future[str]"
    inputs: Inputs | None = None
    may_ask: bool = False
    again: bool = False
    waits: bool = False
    note: str = ""

    def settle(self, error: ToolFailed) -> None:
        """End it by a failure, unless it has ended."""
        if not self.done.done():
            self.done.set_exception(error)


@dataclass(slots=True)
class _Live:
    """A call under way that waits for an answer of the owner's, and where that goes."""

    call: _Call
    answer: "asyncio.Future[Mapping[str, Json]]"


@dataclass(slots=True)
class _Running:
    """The calls that a connection is at."""

    calls: dict["asyncio.Task[None]", _Call] = field(default_factory=dict)  # bounded: four, and four that wait; turn

    def has_room(self, call: _Call) -> bool:
        """Return whether a call may be run beside the others: one at a time, but for those that only read or wait."""
        others = [each for each in self.calls.values() if not each.waits]
        if not others:
            return True
        return call.tool.reads_only and all(each.tool.reads_only for each in others) and len(others) < _PARALLEL

    def take_ended(self) -> None:
        """Forget the calls that have ended. Raises ConnectionLost when one has lost the server."""
        for task in [task for task in self.calls if task.done()]:
            call = self.calls.pop(task)
            if task.cancelled() and not call.done.done():
                self.calls[task] = call
                raise ConnectionLost(Sentence("mcp.unreachable"))
            if not task.cancelled():
                task.result()


class McpServer:
    """One server and its queue. tools: that it declares, or declared last."""

    def __init__(
        self,
        name: str,
        connect: Connect,
        clock: Clock,
        kept: KeptList,
        *,
        seconds: float,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """seconds: of one call. changed: is called when the list of tools has."""
        self.name = name
        self._connect, self._clock, self._kept, self._seconds, self._changed = connect, clock, kept, seconds, changed
        self.tools = kept.load()
        self._state = ServerState(name, "starting", clock.now())
        self._waiting: deque[_Call] = deque()  # bounded: _MOST_WAITING, in `call`; turn
        self._left_out: tuple[str, ...] = ()
        self._broken: list[_Call] = []  # bounded: four; turn
        self._running = _Running()
        self._live: dict[str, _Live] = {}  # bounded: _MOST_LIVE; turn
        self._news: asyncio.Future[None] | None = None  # done: there is something to do
        self._failed_at: float | None = None
        self._unanswered = 0
        self._is_stale = False
        self._up_at: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def state(self) -> ServerState:
        return self._state

    def begin(self) -> None:
        """Begin to connect, unless that was begun."""
        if self._task is None and not self._stopping:
            self._task = asyncio.create_task(self._supervise(), name=f"mcp {self.name}", context=Context())

    async def aclose(self) -> None:
        """End the connection and the program."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_STOP_SECONDS)
        self._fail_waiting("the bot is being stopped")

    async def call(
        self,
        tool: DeclaredTool,
        arguments: Mapping[str, Json],
        *,
        given: GivenInput | None = None,
        may_ask: bool = False,
    ) -> str:
        """Run a tool, and wait for its result. Raises ToolFailed and InputWanted.

        given: what the owner answered to an earlier call of it.
        """
        failed = self._failed_at
        if self._stopping or (failed is not None and self._clock.monotonic() - failed < _FRESH_SECONDS):
            raise ToolFailed(_DOWN.format(name=self.name, reason=self._state.reason or "it is being stopped"))
        if given is not None and (token := read_state(given, "live")) is not None:
            return await self._wait_for(self._go_on(token, form_responses(given)))
        if len(self._waiting) >= _MOST_WAITING:
            raise ToolFailed(_BUSY.format(name=self.name))
        inputs = Inputs(form_responses(given), read_state(given, "state")) if given is not None else None
        call = _Call(tool, arguments, asyncio.get_running_loop().create_future(), inputs, may_ask)
        self._waiting.append(call)
        self._wake()
        self.begin()
        return await self._wait_for(call)

    async def _wait_for(self, call: _Call) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                return await call.done
        except TimeoutError:
            self._unanswered += 1
            if call in self._waiting:
                raise ToolFailed(_NOT_RUN.format(name=self.name)) from None
            raise ToolFailed(_SLOW.format(name=self.name, seconds=self._seconds)) from None
        finally:
            call.done.cancel()
            self._wake()

    # ── inputs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _go_on(self, token: str, responses: Mapping[str, Mapping[str, Json]]) -> _Call:
        """Hand an answer to the call that waits for it. Raises ToolFailed."""
        live = self._live.pop(token, None)
        task = next(
            (task for task, each in self._running.calls.items() if live is not None and each is live.call), None
        )
        if live is None or task is None or live.answer.done():
            raise ToolFailed(_GONE.format(name=self.name))
        call = live.call
        call.done, call.waits = asyncio.get_running_loop().create_future(), False
        _tie(call, task)
        live.answer.set_result(responses[_LIVE])
        return call

    async def _elicit(self, params: Mapping[str, object]) -> Mapping[str, Json]:
        """Ask the owner for an input that a server wants in the middle of a call, and wait for it.

        Such a request does not name its call, so nobody is asked while several run.
        """
        calls = [call for call in self._running.calls.values() if not call.waits]
        if len(calls) != 1 or not calls[0].may_ask or calls[0].done.done() or len(self._live) >= _MOST_LIVE:
            return {"action": "decline"}
        call, token = calls[0], secrets.token_hex(8)
        requests = {_LIVE: {"method": "elicitation/create", "params": params}}
        try:
            wanted = read_requests(self.name, requests, {"live": token}, _LIVE_SECONDS)
        except CannotAsk as error:
            call.note = _NOT_ASKED.format(reason=error)
            return {"action": "decline"}
        live = self._live[token] = _Live(call, asyncio.get_running_loop().create_future())
        call.waits = True
        call.settle(InputWanted(word_request(requests), wanted))
        self._wake()
        try:
            async with asyncio.timeout(_LIVE_SECONDS):
                return await live.answer
        except TimeoutError:
            return {"action": "cancel"}
        finally:
            self._live.pop(token, None)

    def _word_inputs(self, wanted: InputRequested) -> ToolFailed:
        """Return what becomes of a call whose server wants inputs before it is made again."""
        state = {} if wanted.state is None else {"state": wanted.state}
        try:
            form = read_requests(self.name, wanted.requests, state, _FORM_SECONDS)
        except CannotAsk as error:
            return ToolFailed(word_request(wanted.requests, str(error)))
        return InputWanted(word_request(wanted.requests), form)

    # ── the task ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _supervise(self) -> None:
        failures = 0
        while True:
            session = asyncio.create_task(self._talk(), name=f"mcp {self.name} session")
            try:
                await asyncio.wait({session})
            finally:
                if not session.done():
                    session.cancel()
                    await asyncio.wait({session}, timeout=_STOP_SECONDS)
            lost = _loss(session)
            self._settle_broken(lost)
            was_up, self._up_at = self._up_at, None
            steady = was_up is not None and self._clock.monotonic() - was_up >= _STEADY_SECONDS
            failures = 0 if steady else failures + 1
            is_first = was_up is not None and (failures <= 1 or not lost.ran)
            if is_first and self._has_waiting():  # one that was restarted answers at once
                _log.info("the MCP server %s is connected anew: %s", self.name, lost)
                continue
            self._go_down(str(lost))
            await self._pause(_PAUSES.pause(max(0, failures - 1)))

    async def _talk(self) -> None:
        """Connect, and run calls until the connection is lost. Raises ConnectionLost."""
        async with (
            asyncio.timeout(_CONNECT_SECONDS) as deadline,
            self._connect(Hooks(self._note_change, self._elicit)) as connection,
        ):
            declared = await connection.list_tools()
            deadline.reschedule(None)
            await self._take_list(declared)
            self._mark_up(connection.title)
            await self._serve(connection)

    async def _serve(self, connection: Connection) -> None:
        running = self._running = _Running()
        refresh = asyncio.ensure_future(self._clock.sleep(_REFRESH_SECONDS))
        try:
            while True:
                self._news = asyncio.get_running_loop().create_future()
                running.take_ended()
                if self._unanswered >= _UNANSWERED:
                    raise ConnectionLost(Sentence("mcp.silent"))
                self._begin_calls(connection, running)
                if (refresh.done() or self._is_stale) and not running.calls:
                    refresh.cancel()
                    refresh = asyncio.ensure_future(self._clock.sleep(_REFRESH_SECONDS))
                    await self._refresh(connection)
                await self._wait({refresh, *running.calls} if not refresh.done() else {*running.calls})
        finally:
            refresh.cancel()
            self._break_off(running)
            self._state = ServerState(self.name, "starting", self._clock.now())

    def _begin_calls(self, connection: Connection, running: _Running) -> None:
        while self._has_waiting() and running.has_room(self._waiting[0]):
            call = self._waiting.popleft()
            task = asyncio.create_task(self._carry_out(connection, call), name=f"mcp {self.name} call")
            running.calls[task] = call
            _tie(call, task)

    async def _carry_out(self, connection: Connection, call: _Call) -> None:
        """Run one call and hand its result on. Raises ConnectionLost."""
        try:
            text = await connection.call(call.tool.name, call.arguments, call.inputs)
        except InputRequested as wanted:
            self._unanswered = 0
            call.settle(self._word_inputs(wanted))
        except ToolFailed as error:
            self._unanswered = 0
            call.settle(error)
        except ConnectionLost:
            self._broken.append(call)
            raise
        else:
            self._unanswered = 0
            if not call.done.done():
                call.done.set_result(f"{call.note}\n{text}" if call.note else text)

    async def _refresh(self, connection: Connection) -> None:
        async with asyncio.timeout(self._seconds):
            self._is_stale = False
            await self._take_list(await connection.list_tools())

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def _wait(self, others: set["asyncio.Future[Any]"]) -> None:
        """Wait until there is something to do."""
        assert self._news is not None
        await asyncio.wait({self._news, *others}, return_when=asyncio.FIRST_COMPLETED)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt, or until a call waits for it."""
        over = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            while not over.done() and not self._has_waiting():
                self._news = asyncio.get_running_loop().create_future()
                await self._wait({over})
        finally:
            over.cancel()

    # ── states ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _note_change(self) -> None:
        self._is_stale = True
        self._wake()

    async def _take_list(self, declared: list[object]) -> None:
        """Take in a list of tools, and keep it if it is another one."""
        tools, left_out = read_tools(declared)
        if left_out != self._left_out:
            self._left_out = left_out
            if left_out:
                _log.warning("the MCP server %s has tools that cannot be used: %s", self.name, "; ".join(left_out))
        if tools != self.tools:
            self.tools = tools
            self._changed()
            await asyncio.to_thread(self._kept.save, tools)

    def _mark_up(self, title: str) -> None:
        self._failed_at, self._unanswered, self._up_at = None, 0, self._clock.monotonic()
        self._state = ServerState(self.name, "up", self._clock.now(), title=title)
        _log.info("the MCP server %s is connected: %s, %d tools", self.name, title, len(self.tools))

    def _go_down(self, reason: str) -> None:
        since = self._state.since if self._state.state == "down" else self._clock.now()
        if self._state.state != "down":
            _log.warning("the MCP server %s is down: %s", self.name, reason)
        self._state = ServerState(self.name, "down", since, reason)
        self._failed_at = self._clock.monotonic()
        self._fail_waiting(reason)

    def _fail_waiting(self, reason: str) -> None:
        while self._waiting:
            self._waiting.popleft().settle(ToolFailed(_DOWN.format(name=self.name, reason=reason)))

    def _break_off(self, running: _Running) -> None:
        """End the calls under way."""
        for task, call in running.calls.items():
            task.cancel()
            self._broken.append(call)

    def _settle_broken(self, lost: ConnectionLost) -> None:
        """Say what became of calls that were under way; those that were surely not run wait again, once."""
        for call in self._broken:
            if lost.ran or call.again:
                call.settle(ToolFailed(_UNKNOWN.format(name=self.name, reason=lost)))
            elif not call.done.done():
                call.again = True
                self._waiting.appendleft(call)
        self._broken.clear()

    def _has_waiting(self) -> bool:
        """Return whether a call waits that somebody still wants."""
        while self._waiting and self._waiting[0].done.done():
            self._waiting.popleft()
        return bool(self._waiting)


def _tie(call: _Call, task: "asyncio.Task[None]") -> None:
    """End the task of a call when nobody waits for that any more."""
    call.done.add_done_callback(lambda done: task.cancel() if done.cancelled() else None)


def _loss(session: "asyncio.Task[None]") -> ConnectionLost:
    """Return why a session has ended."""
    if session.cancelled() or not session.done():
        return ConnectionLost(Sentence("mcp.unreachable"))
    error = session.exception()
    if isinstance(error, ConnectionLost):
        return error
    if isinstance(error, TimeoutError):
        return ConnectionLost(Sentence("mcp.silent"))
    if error is not None:
        _log.warning("the session with an MCP server broke", exc_info=error)
    return ConnectionLost(Sentence("mcp.unreachable"))
