"""Run the command that the arguments name. Imports its module, and what all commands need, only then."""

import argparse
import gc
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kenobot.cli.options import NothingFound

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock


def run_command(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    """Run the command that the arguments name; returns its exit code. Raises KenobotError."""
    with _without_collecting():
        from kenobot.cli.context import CommandContext
        from kenobot.ports.memory_changes import AmbiguousReference

        module, _, function = arguments.call.partition(":")
        run: Callable[[CommandContext], int] = getattr(importlib.import_module(module), function)
    try:
        return run(CommandContext(arguments, clock))
    except AmbiguousReference as error:
        raise NothingFound(str(error)) from error


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Import without garbage collection. What was imported stays, so no later collection goes through it either."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
