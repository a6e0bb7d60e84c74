"""Read large JSON piece by piece: what is wanted of it whole, the rest value by value. Pure.

Memory holds one wanted item at a time; nesting and size are bounded.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import BinaryIO, cast

from kenobot.core import lazy
from kenobot_importers.talk import Open, TalkOptions, TalkRecord

Path = tuple[str, ...]
"""Where a value is: names of objects, and EACH for an element of a list."""
EACH = "*"
LONGEST_ITEM = 64_000_000  # characters

_CHUNK = 1 << 16
_DEEPEST = 40
_KEPT = 1 << 20
_BLANK = lazy.regex(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class NotJson(ValueError):
    """Report that what follows cannot be read as JSON."""


def iterate_items(stream: BinaryIO, is_wanted: Callable[[Path], bool]) -> Iterator[tuple[Path, object]]:
    """Iterate over wanted values whole, and the texts, numbers and so on outside of these. Raises NotJson, OSError."""
    reader = _Reader(stream)
    yield from _walk(reader, (), is_wanted)


def iterate_conversations(open_file: Callable[[], BinaryIO]) -> Iterator[object]:
    """Iterate over the conversations of a file: a list, one below a name, or a single one. Raises NotJson, OSError."""
    with open_file() as stream:
        is_list = stream.read(64).decode("utf-8-sig", "replace").lstrip()[:1] == "["
    with open_file() as stream:
        for _, value in iterate_items(stream, lambda path: path == (EACH,) or not (path or is_list)):
            inner = value.get("conversations") if isinstance(value, dict) else None
            yield from inner if isinstance(inner, list) else [value]


def read_conversations(
    read_one: Callable[[object, int, TalkOptions], Iterator[TalkRecord]], open_file: Open, options: TalkOptions
) -> Iterator[TalkRecord]:
    """Read the talk of a file of conversations. Raises OSError.

    read_one: reads a conversation, given how many records came before it.
    """
    number = 0
    try:
        for value in iterate_conversations(open_file):
            for record in read_one(value, number, options):
                number += 1
                yield record
    except NotJson as error:
        yield TalkRecord("unclear", number + 1, f"{error}: what follows is not read")


def parse_stamp(stamp: object) -> datetime | None:
    """Parse an ISO 8601 time, UTC where it names no zone; None for anything else."""
    try:
        at = datetime.fromisoformat(str(stamp))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _walk(reader: "_Reader", path: Path, is_wanted: Callable[[Path], bool]) -> Iterator[tuple[Path, object]]:
    first = reader.peek()
    if first not in ("{", "[") or is_wanted(path):
        yield path, reader.value()
        return
    if len(path) > _DEEPEST:
        raise NotJson("it is nested too deeply")
    reader.take(first)
    end = "}" if first == "{" else "]"
    if reader.peek() == end:
        reader.take(end)
        return
    while True:
        name = EACH
        if first == "{":
            name = str(reader.value())
            reader.take(":")
        yield from _walk(reader, (*path, name), is_wanted)
        following = reader.peek()
        reader.take(following)
        if following == end:
            return
        if following != ",":
            raise NotJson("it is no JSON")


class _Reader:
    """A text that is read from the front. `_at`: what was read of the part in memory."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        start = stream.read(4)
        encoding = "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._text = self._decoder.decode(start)
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is no blank. Raises NotJson at the end."""
        while True:
            self._at = cast("re.Match[str]", _BLANK.match(self._text, self._at)).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow(_CHUNK):
                raise NotJson("it ends early")

    def take(self, character: str) -> None:
        if self.peek() != character:
            raise NotJson("it is no JSON")
        self._at += 1

    def value(self) -> object:
        """Return the next value, whole. Raises NotJson."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._at)
                if end < len(self._text) or not self._grow(_CHUNK):
                    self._at = end
                    return cast("object", found)
            except RecursionError as error:
                raise NotJson("it is nested too deeply") from error
            except ValueError as error:
                if len(self._text) - self._at > LONGEST_ITEM:
                    raise NotJson("one item is too long") from error
                if not self._grow(size):
                    raise NotJson("it is no JSON") from error
                size *= 2

    def _grow(self, size: int) -> bool:
        """Read more; return whether there was more."""
        if self._ended:
            return False
        raw = self._stream.read(size)
        self._ended = not raw
        if self._at > _KEPT:
            self._text, self._at = self._text[self._at :], 0
        self._text += self._decoder.decode(raw, final=self._ended)
        return not self._ended
