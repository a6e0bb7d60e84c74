"""Take out of lists of tools what would have the SDK refuse the whole list: one bad tool costs itself alone."""

from typing import TYPE_CHECKING, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from kenobot.ports.json_value import Json

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream


class Sieve:
    """A stream of messages, with each list of tools made fit."""

    def __init__(self, messages: "ReadStream[SessionMessage | Exception]") -> None:
        self._messages = messages

    @property
    def last_context(self) -> object:
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return _sift(await self._messages.receive())

    async def aclose(self) -> None:
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _sift(await self._messages.__anext__())

    async def __aenter__(self) -> Self:
        await self._messages.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> bool | None:
        return await self._messages.__aexit__(kind, error, trace)


def _sift(item: SessionMessage | Exception) -> SessionMessage | Exception:
    message = item.message if isinstance(item, SessionMessage) else None
    if isinstance(message, JSONRPCResponse) and isinstance(listed := message.result.get("tools"), list):
        message.result["tools"] = [tool for each in listed if (tool := sift_tool(each)) is not None]
    return item


def sift_tool(declared: Json) -> dict[str, Json] | None:
    """Return the parts of a tool that are used, where they have the types that they should; None where none is left."""
    if not isinstance(declared, dict):
        return None
    name, schema = declared.get("name"), declared.get("inputSchema")
    if not isinstance(name, str) or not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return None
    tool: dict[str, Json] = {"name": name, "inputSchema": {**schema, "type": "object"}}
    if isinstance(description := declared.get("description"), str):
        tool["description"] = description
    if isinstance(hints := declared.get("annotations"), dict):
        tool["annotations"] = {word: value for word, value in hints.items() if isinstance(value, bool)}
    return tool
