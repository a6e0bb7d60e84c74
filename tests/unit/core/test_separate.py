"""A function in a process of its own: its result, its failures, and its end."""

import asyncio
import os
from pathlib import Path

import pytest

from kenobot.core.home_plugins import import_source
from kenobot.core.separate import run_separately
from kenobot.ports.errors import ToolFailed
from tests.waiting import until

_PLUGIN = """
import os, time
from kenobot.ports.errors import ToolFailed

def double(word, times=2):
    print("this is no answer")
    return word * times

def refuse():
    raise ToolFailed("no such word")

def panic():
    raise BaseException("boom")

def leave():
    os._exit(3)

def compute(file):
    with open(file, "w") as mark:
        mark.write(str(os.getpid()))
    while True:
        pass
"""


async def test_a_function_of_a_home_plugin_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Its text comes back, and what it raises or does to its process costs only that."""
    source = tmp_path / "slow.py"
    source.write_text(_PLUGIN)
    plugin = import_source("kenobot_plugin_slow", source)
    with pytest.raises(ToolFailed, match="no such word"):
        await run_separately(plugin.refuse)
    with pytest.raises(RuntimeError, match="BaseException: boom"):
        await run_separately(plugin.panic)
    with pytest.raises(RuntimeError, match="ended by itself"):
        await run_separately(plugin.leave)
    assert await run_separately(plugin.double, "é", 3) == "ééé"


async def test_one_that_computes_without_end_is_killed_with_its_caller(tmp_path: Path) -> None:
    """The event loop goes on meanwhile, and no process is left."""
    source, mark = tmp_path / "endless.py", tmp_path / "mark"
    source.write_text(_PLUGIN)
    plugin = import_source("kenobot_plugin_endless", source)
    work = asyncio.create_task(run_separately(plugin.compute, str(mark)))
    await until(lambda: mark.exists() and mark.read_text() != "")
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
