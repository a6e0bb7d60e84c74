"""Contain the code of others: what it raises to end the process or its task becomes an error as any other."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kenobot.core.time_limit import TookTooLong


@contextmanager
def contain(make: Callable[[str], Exception] = RuntimeError) -> Iterator[None]:
    """Raise `make`'s error for each exception of the block that is no Exception.

    Such are SystemExit, KeyboardInterrupt, and what libraries in Rust raise when they panic. Cancellation and the end
    of a time limit are the caller's, and go on.
    """
    try:
        yield
    except (Exception, asyncio.CancelledError, GeneratorExit, TookTooLong):
        raise
    except BaseException as error:
        raise make(f"{type(error).__name__}: {error}".rstrip(": ")) from error
