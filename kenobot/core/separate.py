"""Run a function of a plugin in a process of its own, where it holds up nobody and can be killed."""

import asyncio
import ctypes
import importlib
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

from kenobot.core.containment import contain
from kenobot.core.home_plugins import import_source
from kenobot.core.limited_program import kill_session
from kenobot.ports.errors import ToolFailed

_CHUNK = 65_536
_MOST_BYTES = 10_000_000
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG, prctl(2)
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from kenobot.core.separate import answer; answer()"


async def run_separately(function: Callable[..., str], *arguments: object) -> str:
    """Run a function of a module's top level in a process of its own, and return the text that it returns.

    The arguments are such as JSON can hold. The process inherits no variables of the environment; it is killed, with
    all that it started, when the caller is cancelled. Raises ToolFailed as the function does, and RuntimeError for all
    else that it raises, or when the process ends by itself.
    """
    root = function.__module__.partition(".")[0]
    order = [root, sys.modules[root].__file__, function.__module__, function.__qualname__, arguments]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-c", _PROGRAM, *sys.path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"LANG": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        told = await _exchange(process, json.dumps(order).encode())
    finally:
        await kill_session(process)
    match json.loads(told or "{}"):
        case {"text": str(text)}:
            return text
        case {"failed": str(why)}:
            raise ToolFailed(why)
        case {"error": str(error)}:
            raise RuntimeError(error)
    raise RuntimeError(f"the process of {function.__qualname__} ended by itself")


async def _exchange(process: asyncio.subprocess.Process, order: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(order)
    process.stdin.close()
    told = bytearray()
    while chunk := await process.stdout.read(_CHUNK):
        told += chunk
        if len(told) > _MOST_BYTES:
            raise RuntimeError("it returned too much")
    return bytes(told)


def answer() -> None:
    """Do what standard input orders, and print what came of it; for the process itself."""
    if hasattr(libc := ctypes.CDLL(None), "prctl"):  # of Linux
        libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the function prints is no answer
    try:
        with contain():
            told = {"text": _do(*json.load(sys.stdin))}
    except ToolFailed as error:
        told = {"failed": str(error)}
    except Exception as error:
        told = {"error": f"{type(error).__name__}: {error}"}
    with result:
        json.dump(told, result)


def _do(root: str, file: str | None, module: str, name: str, arguments: list[object]) -> str:
    if file is not None and importlib.util.find_spec(root) is None:
        import_source(root, Path(file))  # a plugin of the home, which has no name of its own
    function: Any = reduce(getattr, name.split("."), importlib.import_module(module))
    text = function(*arguments)
    if not isinstance(text, str):
        raise TypeError(f"it returned a {type(text).__name__}")
    return text
