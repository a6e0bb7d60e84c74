"""Contain the code of others: what it raises to end the process or its task becomes an error as any other."""

import asyncio
from collections.abc import Callable
from types import TracebackType

from kenobot.core.time_limit import TookTooLong


class contain:  # noqa: N801 - a block, named by what it does
    """Raise `make`'s error for each exception of the block that is no Exception.

    Such are SystemExit, KeyboardInterrupt, and what libraries in Rust raise when they panic. Cancellation and the end
    of a time limit are the caller's, and go on.
    """

    def __init__(self, make: Callable[[str], Exception] = RuntimeError) -> None:
        self._make = make

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, (Exception, asyncio.CancelledError, GeneratorExit, TookTooLong)):
            return
        raise self._make(f"{type(error).__name__}: {error}".rstrip(": ")) from error
