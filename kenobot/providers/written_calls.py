"""Find the calls of tools that a model writes into its text, in its own way, where its server leaves them there."""

import re
from collections.abc import Sequence
from typing import Final

from kenobot.core import lazy
from kenobot.ports.json_value import Json
from kenobot.ports.provider import Block, Request, ToolResult
from kenobot.providers.call_forms import (
    ARGUMENTS,
    BEGUN_MARK,
    BEGUN_TAG,
    LOOSE_MARK,
    MARK,
    WrittenCall,
    find_calls_in,
    find_code,
    is_call,
    is_overgrown,
    read_code,
    read_marked_calls,
    read_values,
)

_OPEN: Final = lazy.regex(r"(?:^|(?<=\n))[ \t]*(?=[\[{`])")
_LIKE_CALL: Final = lazy.regex(
    r"\s*(?:```\w*\s*)?\[?\s*\{\s*\"(?:name|function|tool|tool_name|tool_calls|type|id|arguments|parameters)\"\s*:"
)
_MARKED: Final = lazy.regex(rf"(?i)(?P<strict>{MARK})|{LOOSE_MARK}")
_FENCE: Final = lazy.regex(r"(?s)```\w*[ \t]*\n(.*?)\s*(?:```)?")
_NAME: Final = lazy.regex(r'\s*"(?:name|function|tool|tool_name)"\s*:\s*"([^"]{1,100})"')
_MOST_LETTERS: Final = 200_000
_SPACES: Final = r"functions\.|default_api\."
_ENOUGH: Final = 80  # letters that show whether what begins like a call may be one


class CallReader:
    """Passes a text on as it arrives, but for calls of the tools that a request offers.

    Where it offers none, calls are no text either, but where the person speaks of such a form. A call that the
    conversation holds already is a quotation: whoever wrote that would have the tool run by it.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        names = "|".join(re.escape(tool.name) for tool in request.tools) or "(?!)"
        self._code = re.compile(rf"\s*(?:```tool_code\s+)?\[?\s*(?:print\()?(?:{_SPACES})?(?:{names})(?:\.call)?\(")
        self._behind_mark = re.compile(rf"(?i:{MARK})\W{{0,4}}(?-i:({names}))\b")
        self._heads = tuple(
            f"{space}{tool.name}(" for tool in request.tools for space in ("", "functions.", "default_api.")
        )
        self._asked = request.asked.lower()
        self.clear()

    def clear(self) -> None:
        """Forget what has come: it was no answer."""
        self._tools = {tool.name for tool in self._request.tools}  # bounded: the request's; turn
        self._held = self._line = ""
        self._call: list[str] = []  # bounded: 200,000 letters; test_a_call_has_a_length
        self._size = self._fences = 0
        self._is_blank, self._is_marked, self._is_loose = True, False, False
        self._is_off = False

    def take(self, text: str) -> str:
        """Return what may be passed on, now that `text` has arrived."""
        if self._is_off:
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
        calls = [] if is_overgrown(held) else self._read(held)
        return ("", calls) if calls and not any(map(self._is_quoted, calls)) else (held, [])

    def _read(self, held: str) -> list[WrittenCall]:
        if not self._is_marked:
            return self._read_bare_calls(held)
        calls = read_marked_calls(held)
        if self._is_loose and not all(call.name in self._tools for call in calls):
            return []
        named = None if calls or self._line.strip() else self._behind_mark.match(held)
        return [WrittenCall(named[1], held)] if named else calls  # malformed: the model is told

    def _take_call(self, text: str) -> str:
        """Hold a piece of a call back, up to the longest; what is longer and only looks like one is text."""
        self._size += len(text)
        if self._size <= _MOST_LETTERS:
            self._call.append(text)
        elif not self._is_marked:
            text, self._call = "".join((*self._call, text)), []
            self._is_off = True
            return text
        return ""

    def _is_quoted(self, call: WrittenCall) -> bool:
        blocks = [block for message in self._request.messages if message.role == "user" for block in message.blocks]
        texts = (block.text for block in blocks if isinstance(block, Block | ToolResult))
        return any(
            is_overgrown(text, call.name) or call in read_marked_calls(text) or call in find_code(text, call.name)
            for text in texts
            if call.name in text
        )

    def _find_call(self) -> int:
        """Return where in the text that is held a call begins, or may begin; its length where there is none."""
        held = self._held
        for mark in _MARKED.finditer(held):
            if not self._is_code(mark.start()) and (self._tools or self._is_unasked(mark)):
                self._is_marked, self._is_loose = True, not mark["strict"]
                return mark.start()
        if self._tools and self._is_blank and (self._code.match(held) or self._is_begun(held.lstrip())):
            return 0
        for found in _OPEN.finditer(held):
            at = found.start()
            begins_line = at > 0 or not self._line.strip()
            undecided = len(held) - at < _ENOUGH or _LIKE_CALL.match(held, at)
            if begins_line and undecided and not self._is_code(at):
                return at
        begun = (BEGUN_MARK if self._tools else BEGUN_TAG).search(held, max(0, len(held) - _ENOUGH))
        return begun.start() if begun else len(held)

    def _is_begun(self, text: str) -> bool:
        """Return whether a text may go on as the call of a function."""
        return any(each.startswith(text) for each in (*self._heads, "print("))

    def _is_unasked(self, mark: re.Match[str]) -> bool:
        """Return whether a mark is none that the person speaks of, where there are no tools."""
        return bool(mark["strict"]) and mark[0].strip("<>[]|｜= ").lower() not in self._asked

    def _are_calls(self, values: Sequence[Json]) -> bool:
        """Return whether values are calls and nothing else, of whatever tools, that the person did not ask for."""
        return "json" not in self._asked and all(map(is_call, values))

    def _is_code(self, at: int) -> bool:
        before = self._held[:at]
        line = before.rpartition("\n")[2] if "\n" in before else self._line + before
        return bool((self._fences + before.count("```")) % 2 or line.count("`") % 2)

    def _read_bare_calls(self, text: str) -> list[WrittenCall]:
        """Return the calls of which a text consists; none where there is anything else in it."""
        text = text.strip()
        is_code = self._is_blank and self._code.match(text)
        if self._tools and (fence := _FENCE.fullmatch(text)) and self._is_blank:
            text = fence[1].strip()
        if is_code:
            calls = read_code(text)
            return calls if all(each.name in self._tools for each in calls) else []
        if not _LIKE_CALL.match(text) or text.startswith("```"):
            return []
        values, behind = read_values(text)
        calls = [call for value in values for call in find_calls_in(value)]
        is_ours = all(each.name in self._tools for each in calls) if self._tools else self._are_calls(values)
        if not behind.strip(" \t\r\n,;") and calls and is_ours:
            return calls
        named = _NAME.search(text)
        if not values and named and named[1] in self._tools and any(f'"{name}"' in text for name in ARGUMENTS):
            return [WrittenCall(named[1], text)]  # which is cut, or malformed
        return []
