"""Standard streams that escape what their encoding cannot show, and that name a failure of the output as such."""

import errno
import io
import os
import select
import sys
from typing import TextIO

from kenobot.ports.errors import ReaderGone, StreamFailed


def replace_standard_streams() -> None:
    """Put streams of this module in the place of the interpreter's own; others, such as a test's, stay.

    A descriptor that was closed is opened on the null device first. Otherwise the database would get its number, and
    whatever prints would write into the database.
    """
    if sys.stdin is None:
        sys.stdin = open(_null(), encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is sys.__stdout__:
        sys.stdout = _open(_Output, sys.stdout, 1)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _open(_Diagnostics, sys.stderr, 2)


class _Output(io.FileIO):
    """Writes all it is given, without a buffer: a thread that hangs in it holds no lock at the exit."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        rest = memoryview(data)
        try:
            while rest:
                taken: int | None = super().write(rest)
                if taken is None:  # the other end made the pipe non-blocking, and it is full
                    select.select([], [self], [])
                rest = rest[taken or 0 :]
        except OSError as error:
            raise self._failure(error) from error
        return len(data)

    @staticmethod
    def _failure(error: OSError) -> StreamFailed:
        kind = ReaderGone if error.errno == errno.EPIPE else StreamFailed
        return kind("console.unwritable_output", reason=error)


class _Diagnostics(_Output):
    """Drops what cannot be written: there is no other place to say so."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        try:
            return super().write(data)
        except StreamFailed:
            return len(data)


def _open(kind: type[_Output], former: TextIO | None, number: int) -> TextIO:
    """Open a stream in the place of `former`. None: its descriptor was closed, and every write fails."""
    if former is None:
        descriptor, encoding = _null(), "utf-8"
    else:
        former.flush()
        descriptor, encoding = number, former.encoding
    raw = kind(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding, "backslashreplace", line_buffering=number == 2 or raw.isatty())


def _null() -> int:
    """Open the null device for reading, on the lowest free number."""
    return os.open(os.devnull, os.O_RDONLY)
