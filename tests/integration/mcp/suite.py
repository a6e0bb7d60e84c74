"""Programs of Node that others wrote, where they are installed."""

import asyncio
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

NODE_MODULES = Path(os.environ.get("MCP_REFERENCE_SERVERS", "node_modules"))


def find_program(name: str) -> str:
    """Return a program of the folder. The test is skipped without it."""
    found = shutil.which(name, path=str((NODE_MODULES / ".bin").absolute()))
    if found is None or shutil.which("node") is None:
        pytest.skip(f"{name} is not installed: set MCP_REFERENCE_SERVERS to a folder node_modules that has it")
    return found


@cache
def _node_version() -> int:
    return int(subprocess.run(["node", "--version"], capture_output=True, check=True).stdout[1:].split(b".")[0])


async def run_suite(*arguments: str) -> str:
    """Run the conformance suite of the protocol's authors; returns what it says."""
    program = find_program("conformance")
    if await asyncio.to_thread(_node_version) < 22:
        pytest.skip("the conformance suite needs Node 22")
    suite = await asyncio.create_subprocess_exec(
        program, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(120):
        told, _ = await suite.communicate()
    return told.decode()
