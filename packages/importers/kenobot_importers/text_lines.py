"""Read a text line by line, in bounded memory."""

import io
from collections.abc import Iterator
from typing import BinaryIO

_LONGEST_LINE = 300_000  # characters: a message of WhatsApp has at most 65,536


def iterate_lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Iterate over the lines of a text by number; of one without end the beginning is read. Raises OSError."""
    start = stream.read(2)
    encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = io.TextIOWrapper(io.BufferedReader(_Joined(start, stream)), encoding, "replace")
    number = 0
    while line := text.readline(_LONGEST_LINE):
        number += 1
        rest = line
        while len(rest) == _LONGEST_LINE and not rest.endswith("\n"):
            rest = text.readline(_LONGEST_LINE)
        yield number, line.rstrip("\n")
    text.detach()


class _Joined(io.RawIOBase):
    """A stream whose first bytes were read already."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        self._start = start
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        found = self._start[: len(view)] or self._stream.read(len(view))
        self._start = self._start[len(view) :] if self._start else b""
        view[: len(found)] = found
        return len(found)
