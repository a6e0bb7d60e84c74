"""Find the calls of tools that a model writes into its text, in its own way, where its server leaves them there."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, cast

from kenobot.core import lazy
from kenobot.ports.provider import Block, Json, Request, ToolResult

_MARKS: Final = (
    *("<tool_call>", "<tool_calls>", "<|tool_call|>", "<|tool_calls|>", "<function=", "<function_call>"),
    *("<function_calls>", "<|tool_call_begin|>", "<|tool_calls_begin|>", "<|tool_calls_section_begin|>"),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "[TOOL_CALLS]", "<|python_tag|>", "functools["),
    "<|channel|>commentary to=",
)
"""What begins a call, of one model or another, wherever it is outside of code."""
_MARK: Final = lazy.regex("|".join(map(re.escape, _MARKS)))
_OPEN: Final = lazy.regex(r"(?:^|(?<=\n))[ \t]*(?=[\[{`])")
_LIKE_CALL: Final = lazy.regex(
    r"\s*(?:```\w*\s*)?\[?\s*\{\s*\"(?:name|function|tool|tool_name|tool_calls|type|id|arguments|parameters)\"\s*:"
)
_FENCE: Final = lazy.regex(r"(?s)```\w*[ \t]*\n(.*?)\s*(?:```)?")
_FUNCTION: Final = lazy.regex(r"(?s)<function=([\w.-]+)>(.*?)(?:</function>|\Z)")
_PARAMETER: Final = lazy.regex(r"(?s)<parameter=([\w.-]+)>\n?(.*?)\n?(?:</parameter>|\Z)")
_KEYED: Final = lazy.regex(r"(?s)<tool_call>\s*([\w.-]+)\s*(?:(<arg_key>.*?)(?:</tool_call>|\Z)|</tool_call>)")
_KEY: Final = lazy.regex(r"(?s)<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)")
_BEFORE: Final = lazy.regex(
    r"([A-Za-z_][\w.-]*)(?::\d+)?\s*(?:\[ARGS\]|<\|constrain\|>json<\|message\|>|<[^<>{}]*>|```json)?\s*\Z"
)
_NAME: Final = lazy.regex(r'\s*"(?:name|function|tool|tool_name)"\s*:\s*"([^"]{1,100})"')
_NAMES: Final = ("name", "function", "tool", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_MOST_LETTERS: Final = 200_000
_MOST_BRACKETS: Final = 2000
_ENOUGH: Final = 80  # letters that show whether what begins like a call may be one
_DECODER: Final = json.JSONDecoder()


class WrittenCall(NamedTuple):
    """A call. arguments: its JSON, which may be malformed."""

    name: str
    arguments: str


class CallReader:
    """Passes a text on as it arrives, but for calls of the tools that a request offers.

    A call that the conversation holds already is a quotation: whoever wrote that would have the tool run by it.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self.clear()

    def clear(self) -> None:
        """Forget what has come: it was no answer."""
        self._tools = {tool.name for tool in self._request.tools}  # bounded: the request's; turn
        self._held = self._line = ""
        self._call: list[str] = []  # bounded: 200,000 letters; test_a_call_has_a_length
        self._size = self._fences = 0
        self._is_blank, self._is_marked = True, False

    def take(self, text: str) -> str:
        """Return what may be passed on, now that `text` has arrived."""
        if not self._tools:
            return text
        if self._call:
            return self._take_call(text)
        self._held += text
        cut = self._find_call()
        text, self._held = self._held[:cut], self._held[cut:]
        self._line = (self._line + text).rpartition("\n")[2][-_ENOUGH:]
        self._fences += text.count("```")
        self._is_blank = self._is_blank and not text.strip()
        if self._is_marked or len(self._held) >= _ENOUGH:
            self._call, self._size, self._held = [self._held], len(self._held), ""
        return text

    def rest(self) -> tuple[str, list[WrittenCall]]:
        """Return what was held back: as calls, or as text where it is none."""
        held, self._call, self._held = "".join((*self._call, self._held)), [], ""
        read = _read_marked_calls if self._is_marked else self._read_bare_calls
        calls = [] if _is_overgrown(held) else list(read(held))
        return ("", calls) if calls and not any(map(self._is_quoted, calls)) else (held, [])

    def _take_call(self, text: str) -> str:
        """Hold a piece of a call back, up to the longest; what is longer and only looks like one is text."""
        self._size += len(text)
        if self._size <= _MOST_LETTERS:
            self._call.append(text)
        elif not self._is_marked:
            text, self._call = "".join((*self._call, text)), []
            self._tools.clear()
            return text
        return ""

    def _is_quoted(self, call: WrittenCall) -> bool:
        blocks = [block for message in self._request.messages if message.role == "user" for block in message.blocks]
        texts = (block.text for block in blocks if isinstance(block, Block | ToolResult))
        return any(_is_overgrown(text) or call in _read_marked_calls(text) for text in texts if call.name in text)

    def _find_call(self) -> int:
        """Return where in the text that is held a call begins, or may begin; its length where there is none."""
        held = self._held
        for mark in _MARK.finditer(held):
            if not self._is_code(mark.start()):
                self._is_marked = True
                return mark.start()
        for found in _OPEN.finditer(held):
            at = found.start()
            begins_line = at > 0 or not self._line.strip()
            undecided = len(held) - at < _ENOUGH or _LIKE_CALL.match(held, at)
            if begins_line and undecided and not self._is_code(at):
                return at
        tail = held[-_ENOUGH:]
        sizes = range(len(tail), 0, -1)
        return len(held) - next((n for n in sizes if any(mark.startswith(tail[-n:]) for mark in _MARKS)), 0)

    def _is_code(self, at: int) -> bool:
        before = self._held[:at]
        line = before.rpartition("\n")[2] if "\n" in before else self._line + before
        return bool((self._fences + before.count("```")) % 2 or line.count("`") % 2)

    def _read_bare_calls(self, text: str) -> list[WrittenCall]:
        """Return the calls of which a text consists; none where there is anything else in it."""
        text = text.strip()
        if (fence := _FENCE.fullmatch(text)) and self._is_blank:
            text = fence[1].strip()
        if not _LIKE_CALL.match(text) or text.startswith("```"):
            return []
        values, behind = _read_values(text)
        calls = [call for value in values for call in _find_calls_in(value)]
        if not behind.strip(" \t\r\n,;") and calls and all(each.name in self._tools for each in calls):
            return calls
        named = _NAME.search(text)
        if not values and named and named[1] in self._tools and any(f'"{name}"' in text for name in _ARGUMENTS):
            return [WrittenCall(named[1], text)]  # which is cut, or malformed
        return []


def _is_overgrown(text: str) -> bool:
    """Return whether looking for calls in a text would take too long."""
    return text.count("{") + text.count("[") > _MOST_BRACKETS


def _read_values(text: str) -> tuple[list[Json], str]:
    """Read the JSON values with which a text begins; return them and what follows."""
    values: list[Json] = []
    while text := text.lstrip(" \t\r\n,;"):
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            break
        values.append(cast("Json", value))
        text = text[end:]
    return values, text


def _find_calls_in(value: Json) -> Iterator[WrittenCall]:
    """Yield the calls that a value is: one, or a list of them."""
    if isinstance(value, list):
        for each in value:
            yield from _find_calls_in(each)
    elif isinstance(value, dict):
        inner = value.get("tool_calls", value.get("function"))
        if isinstance(inner, list | dict):
            yield from _find_calls_in(inner)
        elif name := next((name for key in _NAMES if isinstance(name := value.get(key), str)), ""):
            arguments = next((value[key] for key in _ARGUMENTS if key in value), {})
            if isinstance(arguments, str):
                arguments = _read_value(arguments) if arguments.strip() else {}
            yield WrittenCall(name.removeprefix("functions."), json.dumps(arguments))


def _read_marked_calls(text: str) -> Iterator[WrittenCall]:
    """Yield the calls in a text that begins with the mark of one."""
    tagged = [(each[1], dict(_PARAMETER.findall(each[2])), each[2]) for each in _FUNCTION.finditer(text)]
    tagged += [(each[1], dict(_KEY.findall(each[2] or "")), "") for each in _KEYED.finditer(text)]
    if tagged:
        for name, arguments, inner in tagged:
            told = (
                _write_arguments(arguments)
                if arguments or not inner.strip()
                else json.dumps(_read_value(inner.strip()))
            )
            yield WrittenCall(name, told)
        return
    before = ""
    while opening := re.search(r"[{\[]", text):
        at = opening.start()
        before += text[:at]
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if named := _NAME.match(text, at + 1):
                yield WrittenCall(named[1], text[at:])  # malformed: the model is told
            before, text = before + text[at], text[at + 1 :]
            continue
        calls = list(_find_calls_in(cast("Json", value)))
        if not calls and isinstance(value, dict) and (named := _BEFORE.search(before)):
            calls = [WrittenCall(named[1].removeprefix("functions."), json.dumps(value))]
        yield from calls
        before, text = "", text[end:]


def _write_arguments(arguments: Mapping[str, str]) -> str:
    """Return arguments as JSON; each is a value of JSON, or a text."""
    return json.dumps({name: _read_value(text) for name, text in arguments.items()})


def _read_value(text: str) -> Json:
    try:
        return cast("Json", json.loads(text))
    except (ValueError, RecursionError):
        return text
