"""Collect the tool calls of a stream, and number those of a request."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from kenobot.core import lazy
from kenobot.core.json_limits import MOST_CHARS
from kenobot.ports.errors import Unavailable
from kenobot.ports.json_value import Json
from kenobot.ports.provider import Block, Content, Request, ToolCall, ToolResult
from kenobot.providers.service import well_formed

MOST_CALLS: Final = 128
MOST_ARGUMENT_CHARS: Final = MOST_CHARS

_UNFIT: Final = lazy.regex(r"[^a-zA-Z0-9_-]")
"""Characters that no service takes in the name of a tool."""
_UNKNOWN = "There is no tool called {name!r}."
_MALFORMED = "The arguments are not one JSON object: call the tool again with one."
_OVERLONG = "The arguments are too long: call the tool again with shorter ones."


@dataclass(slots=True)
class _Begun:
    """A call that is still being written. chars: how long its arguments are."""

    id: str
    name: str
    signature: str
    chars: int = 0
    pieces: list[str] = field(default_factory=list)  # bounded: 200,000 letters; test_arguments_are_kept_up_to_a_length


class CallCollector:
    """The calls of one reply, by the number under which their pieces come.

    A call that cannot be run is yielded too, with its problem, so that the model can be told and mend it.
    """

    def __init__(self, request: Request) -> None:
        self._tools = {tool.name for tool in request.tools}
        contents = [content for message in request.messages for content in message.blocks]
        taken = {content.id for content in contents if isinstance(content, ToolCall)}
        self._ids = taken  # bounded: the request's and 128; test_calls_are_kept_up_to_a_number
        self._begun: dict[int, _Begun] = {}  # bounded: 128; test_calls_are_kept_up_to_a_number
        self._numbers: dict[int, int] = {}  # bounded: 128; test_calls_are_kept_up_to_a_number
        self._latest = 0
        self._count = 0

    def begin(self, number: int, id: str, name: str, signature: str = "") -> None:
        """Open a call. Raises Unavailable when there are more than any answer may have."""
        self._count += 1
        if self._count > MOST_CALLS:
            raise Unavailable("providers.too_many_calls", most=MOST_CALLS)
        self._begun[number] = _Begun(id or f"call_{self._count}", name, signature)

    def add(self, number: int, piece: str) -> None:
        """Append a piece of the arguments' JSON; what is beyond the longest is dropped."""
        call = self._begun.get(number)
        if call is None:
            return
        call.chars += len(piece)
        if call.chars <= MOST_ARGUMENT_CHARS:
            call.pieces.append(piece)

    def take(self, place: int | None, id: str, name: str, piece: str, signature: str = "") -> None:
        """Append a piece of a stream that does not say where a call begins. place: the server's own number of it.

        Some servers number no calls, and some all of them 0: what has another id, or no id and a name, is another call.
        """
        place = self._latest if place is None else place
        call = self._begun.get(self._numbers.get(place, -1))
        if call is None or (id and id != call.id) or (name and not id):
            self._numbers[place] = self._count
            self.begin(self._count, id, name, signature)
        self._latest = place
        self.add(self._numbers[place], piece)

    def finish(self, number: int) -> ToolCall | None:
        """Close a call; None when none is open under the number."""
        call = self._begun.pop(number, None)
        return self._finish_call(call) if call else None

    def finish_all(self) -> list[ToolCall]:
        """Close the calls that are still open, in their order."""
        return [call for number in sorted(self._begun) if (call := self.finish(number))]

    def _new_id(self, id: str) -> str:
        """Return an id, or one made from it where a call has it already: some servers number each reply from 0."""
        number, new = 1, id
        while new in self._ids:
            number += 1
            new = f"{id}-{number}"
        self._ids.add(new)
        return new

    def _finish_call(self, call: _Begun) -> ToolCall:
        problem = _OVERLONG if call.chars > MOST_ARGUMENT_CHARS else ""
        arguments = None if problem else _parse_arguments("".join(call.pieces))
        name = call.name
        if name not in self._tools:
            problem = _UNKNOWN.format(name=name[:80])
            name = _UNFIT.sub("_", name)[:64] or "unknown"  # it goes back with the result
        elif arguments is None:
            problem = problem or _MALFORMED
        return ToolCall(self._new_id(call.id), name, arguments or {}, problem, call.signature)


def call_numbers(request: Request) -> dict[str, str]:
    """Name the calls of a request anew, by their order.

    Services differ in the ids they take, and a fallback is sent those of another service.
    """
    contents = [content for message in request.messages for content in message.blocks]
    ids = dict.fromkeys(content.id for content in contents if isinstance(content, ToolCall | ToolResult))
    return {id: f"call{number:05}" for number, id in enumerate(ids, 1)}


def without_tools(request: Request) -> Request:
    """Offer no tools, and put the calls and results of a request into words, for a model that can call none."""

    def describe(content: Content) -> Content:
        if isinstance(content, ToolCall):
            return Block(f"[{content.name} is called with {json.dumps(dict(content.arguments), ensure_ascii=False)}]")
        if isinstance(content, ToolResult):
            return Block(f"[Result]\n{content.text}")
        return content

    messages = tuple(replace(message, blocks=tuple(map(describe, message.blocks))) for message in request.messages)
    return replace(request, messages=messages, tools=())


def results_first(contents: Iterable[Content]) -> list[Content]:
    """Order what a message holds: the results of calls come right after the calls, say the services."""
    return sorted(contents, key=lambda each: not isinstance(each, ToolResult))


def _parse_arguments(text: str) -> Mapping[str, Json] | None:
    try:
        value = json.loads(text or "{}", parse_constant=_refuse)
        if "\\u" in text:  # an escape can be half a character
            value = json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Json]", value) if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(constant)
