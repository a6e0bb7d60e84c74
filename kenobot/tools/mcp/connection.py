"""Connect to one server by the SDK, whichever era of the protocol it speaks. The SDK is imported here alone."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kenobot import __version__
from kenobot.core.redaction import Redactor
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.sentences import Sentence, change_values
from kenobot.tools.mcp import results
from kenobot.tools.mcp.declared import MOST_TOOLS
from kenobot.tools.mcp.schema import shorten
from kenobot.tools.mcp.token_file import TokenFile

if TYPE_CHECKING:
    from mcp.client import Client, Transport
    from mcp.client._transport import TransportStreams
    from mcp_types import CallToolResult

    from kenobot.tools.mcp.sign_in import StoredSignIn

_log = logging.getLogger(__name__)

_MOST_PAGES = 10
_MOST_LEGS, _LEG_SECONDS = 20, 0.2  # of a call that a server wants to be asked again
_LONGEST_REASON = 200  # characters
_LOST_SESSION = ("session not found", "session terminated", "invalid session", "unknown session")


class ConnectionLost(Exception):
    """A server cannot be talked with any more. ran: whether the call under way may have been carried out."""

    def __init__(self, reason: str, *, ran: bool = True) -> None:
        super().__init__(reason)
        self.ran = ran


class InputRequested(Exception):
    """A server wants inputs before it goes on with a call. requests: by its own keys. state: that it wants back."""

    def __init__(self, requests: Mapping[str, Mapping[str, object]], state: str | None) -> None:
        super().__init__("it wants an input first")
        self.requests, self.state = requests, state


@dataclass(frozen=True, slots=True)
class Inputs:
    """Answers to such requests, by their keys, and the state that the server wants back."""

    responses: Mapping[str, Mapping[str, Json]]
    state: str | None


class Wire(Protocol):
    """The way to a server: a program or an address."""

    @property
    def has_sessions(self) -> bool:
        """Return whether it may forget one: what a tool of a program says of sessions is about others."""
        ...

    @property
    def complaint(self) -> str:
        """Return what it says itself of why it cannot be talked with."""
        ...

    @property
    def forgot(self) -> bool:
        """Return whether it does not know the session any more, so that it has run nothing."""
        ...

    @property
    def secrets(self) -> Collection[str]:
        """Return the tokens that it is reached with, beside the secrets of the settings."""
        ...

    @property
    def wants_sign_in(self) -> bool:
        """Return whether it refuses until somebody signs in."""
        ...

    def open(self) -> "Transport":
        """Connect."""
        ...


class Connection(Protocol):
    """A server that is connected."""

    @property
    def title(self) -> str:
        """The version of the protocol, and what the server calls itself."""
        ...

    async def list_tools(self) -> list[object]:
        """Return what the server lists. Raises ConnectionLost."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Json], inputs: Inputs | None = None) -> str:
        """Call a tool, or go on with a call. Raises ToolFailed, InputRequested and ConnectionLost."""
        ...


@dataclass(frozen=True, slots=True)
class Hooks:
    """Callbacks for a changed list of tools, and for an input that a server wants while a call runs.

    elicit: of the parameters of its request; returns the answer. None: it is told that nothing can be asked.
    """

    changed: Callable[[], None] = lambda: None
    elicit: Callable[[Mapping[str, object]], Awaitable[Mapping[str, Json]]] | None = None


JsonT = TypeVar("JsonT")

Connect = Callable[[Hooks], contextlib.AbstractAsyncContextManager[Connection]]
"""Connects to a server. Raises ConnectionLost."""


@contextlib.asynccontextmanager
async def connect(
    settings: McpServerSettings, hooks: Hooks, signs_in: "TokenFile | StoredSignIn | None" = None
) -> AsyncIterator[Connection]:
    """Connect to the server of these settings. Raises ConnectionLost, whatever goes wrong.

    signs_in: by the tokens of a file, or as given; None: by the headers of the settings alone.
    """
    try:
        from mcp.client import Client
        from mcp_types import ElicitRequestParams, ElicitResult, Implementation, ToolListChangedNotification
    except ImportError as error:
        raise ConnectionLost(Sentence("mcp.sdk_missing"), ran=False) from error

    async def hear(message: object) -> None:
        if isinstance(getattr(message, "root", message), ToolListChangedNotification):
            hooks.changed()

    async def elicit(context: object, params: "ElicitRequestParams") -> "ElicitResult":
        assert hooks.elicit is not None
        asked = redaction.redact(params.model_dump(by_alias=True, mode="json"))
        return ElicitResult.model_validate(await hooks.elicit(asked))

    wire = await asyncio.to_thread(_wire, settings, signs_in)
    redaction = _Redaction(settings, wire)
    client = Client(
        _sift_streams(wire.open()),
        cache=None,
        message_handler=hear,
        elicitation_callback=elicit if hooks.elicit is not None else None,
        client_info=Implementation(name="kenobot", version=__version__),
    )
    try:
        async with client:
            yield _SdkConnection(client, wire, redaction)
    except Exception as error:
        raise _describe_loss(error, wire, redaction.redactor) from error


class _SdkConnection:
    """A connection by the SDK. What the server says, also of a failure, leaves here without the secrets it is given."""

    def __init__(self, client: "Client", wire: Wire, redaction: "_Redaction") -> None:
        self._client, self._wire, self._redaction = client, wire, redaction

    @property
    def title(self) -> str:
        info = self._client.server_info
        names = self._redaction.redact([info.name, info.version]) if info is not None else []
        named = f", {shorten(names[0], 60)} {shorten(names[1], 30)}" if names else ""
        return f"MCP {self._client.protocol_version}{named}"

    async def list_tools(self) -> list[object]:
        listed: list[object] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            with _losing(self._wire, self._redaction):
                page = await self._client.list_tools(cursor=cursor)
            tools = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools]
            listed += self._redaction.redact(tools)
            cursor = page.next_cursor
            if cursor is None or len(listed) >= MOST_TOOLS:
                break
        return listed[:MOST_TOOLS]

    async def call(self, name: str, arguments: Mapping[str, Json], inputs: Inputs | None = None) -> str:
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, InputRequiredResult
        from pydantic import TypeAdapter

        # Not call_tool: that checks results by the server's own schema, whose patterns may take for ever.
        adapter: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)
        for _ in range(_MOST_LEGS):
            params = CallToolRequestParams(name=name, arguments=dict(arguments), **_give_inputs(inputs))
            with _losing(self._wire, self._redaction):
                result = await self._client.session.send_request(CallToolRequest(params=params), adapter)
            if not isinstance(result, InputRequiredResult):
                return _word(result, self._redaction)
            wanted = result.model_dump(by_alias=True, mode="json").get("inputRequests")
            if wanted:
                raise InputRequested(self._redaction.redact(wanted), result.request_state)
            inputs = Inputs({}, result.request_state)  # it only wants to be asked again
            await asyncio.sleep(_LEG_SECONDS)
        raise ToolFailed("The server wants to be asked again and again, and gives no result.")


def _give_inputs(inputs: Inputs | None) -> dict[str, Any]:
    """Return the parameters of a call that goes on."""
    if inputs is None:
        return {}
    return {"input_responses": inputs.responses or None, "request_state": inputs.state}


def _word(result: "CallToolResult", redaction: "_Redaction") -> str:
    """Put a result into words for the model. Raises ToolFailed."""
    content = redaction.redact([block.model_dump(by_alias=True, mode="json") for block in result.content])
    if result.is_error:
        raise ToolFailed(results.word_failure(content))
    return results.word_result(content, redaction.redact(result.structured_content))


class _Redaction:
    """Redacts what a server is reached with in what it says: its tokens as they are by now, and its other secrets."""

    def __init__(self, settings: McpServerSettings, wire: Wire) -> None:
        self._settings, self._wire = settings, wire

    @property
    def redactor(self) -> Redactor:
        """Return what redacts these secrets in a text."""
        secrets = (each.get_secret_value() for each in self._settings.secrets.values())
        return Redactor([*secrets, *self._wire.secrets])

    def redact(self, value: JsonT) -> JsonT:
        """Redact them in all texts of a value of JSON; before one is cut, as a part of a secret is not known."""
        redact = self.redactor.redact_known

        def change(each: Any) -> Any:
            match each:
                case str():
                    return redact(each)
                case dict():
                    return {key: change(inner) for key, inner in each.items()}
                case list():
                    return [change(inner) for inner in each]
                case _:
                    return each

        changed: JsonT = change(value)
        return changed


@contextlib.contextmanager
def _losing(wire: Wire, redaction: "_Redaction") -> Iterator[None]:
    """Turn what the SDK raises into ConnectionLost, or into ToolFailed where the server answered."""
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    try:
        yield
    except ToolFailed:
        raise
    except MCPError as error:
        if wire.forgot or (wire.has_sessions and str(error).strip(" .").lower() in _LOST_SESSION):
            raise ConnectionLost(Sentence("mcp.session_forgotten"), ran=False) from error
        if _is_closed(error):
            raise ConnectionLost(_reason(error, redaction.redactor)) from error
        raise ToolFailed(f"The server refused: {shorten(redaction.redact(str(error)), _LONGEST_REASON)}") from error
    except ValidationError as error:
        raise ToolFailed("The server answered with something that is no result.") from error
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise ConnectionLost(_reason(error, redaction.redactor)) from error


@contextlib.asynccontextmanager
async def _sift_streams(transport: "Transport") -> "AsyncIterator[TransportStreams]":
    from kenobot.tools.mcp.sieve import Sieve

    async with transport as (messages, to_server):
        yield Sieve(messages), to_server


def _wire(settings: McpServerSettings, signs_in: "TokenFile | StoredSignIn | None") -> Wire:
    if settings.command:
        from kenobot.tools.mcp.stdio import ServerProgram

        return ServerProgram(settings.command, settings.args, settings.filled_env)
    from kenobot.tools.mcp.http import ServerAddress

    if isinstance(signs_in, TokenFile):
        server, stored = signs_in.server, signs_in.load()
        if stored:
            from kenobot.tools.mcp.sign_in import StoredSignIn

            return ServerAddress(settings.url, settings.filled_headers, StoredSignIn(settings.url, signs_in), server)
        return ServerAddress(settings.url, settings.filled_headers, None, server)
    return ServerAddress(settings.url, settings.filled_headers, signs_in)


def _describe_loss(error: Exception, wire: Wire, redact: Redactor) -> ConnectionLost:
    """Say why a server cannot be talked with, with what it says itself."""
    complaint = change_values(wire.complaint, lambda text: shorten(redact(text), _LONGEST_REASON))
    if wire.wants_sign_in:
        return ConnectionLost(complaint, ran=False)
    reason = _reason(error, redact)
    if complaint:
        reason = Sentence("mcp.with_complaint", reason=reason, complaint=complaint)
    cause = _first(error)
    return ConnectionLost(reason, ran=cause.ran if isinstance(cause, ConnectionLost) else not _is_refused(cause))


def _reason(error: BaseException, redact: Callable[[str], str]) -> str:
    """Return the cause of a failure in a few words."""
    cause = _first(error)
    if isinstance(cause, FileNotFoundError):
        return Sentence("mcp.no_such_program")
    if _is_closed(cause):
        return Sentence("mcp.ended")
    if _is_refused(cause):
        return Sentence("mcp.unreachable")
    return change_values(str(cause), lambda text: shorten(redact(text), _LONGEST_REASON)) or type(cause).__name__


def _is_closed(error: BaseException) -> bool:
    """Return whether the SDK says that a server has ended the connection."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED


def _first(error: BaseException) -> BaseException:
    """Return the first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_refused(error: BaseException) -> bool:
    """Return whether no connection came about, so that nothing was sent."""
    import httpx2

    return isinstance(error, httpx2.ConnectError)
