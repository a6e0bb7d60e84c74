"""Run the command that the arguments name. Imports its module, and what all commands need, only then."""

import argparse
import gc
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kenobot.cli.options import NothingFound
from kenobot.ports.errors import ConfigError

if TYPE_CHECKING:
    from kenobot.cli.context import CommandContext
    from kenobot.ports.clock import Clock


def run_command(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    """Run the command that the arguments name; returns its exit code. Raises KenobotError."""
    with _without_collecting():
        from kenobot.cli.context import CommandContext
        from kenobot.ports.memory_changes import AmbiguousReference

        if arguments.extra and importlib.util.find_spec(f"kenobot_{arguments.extra}") is None:
            raise ConfigError("commands.not_installed", name=arguments.full_name, extra=arguments.extra)
        run = find_function(arguments.call)
    try:
        return run(CommandContext(arguments, clock))
    except AmbiguousReference as error:
        raise NothingFound(str(error)) from error


def find_function(call: str) -> "Callable[[CommandContext], int]":
    """Import the function of a command. call: "module:function"."""
    module, _, function = call.partition(":")
    found: Callable[[CommandContext], int] = getattr(importlib.import_module(module), function)
    return found


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Import without garbage collection. What was imported stays, so no later collection goes through it either."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
