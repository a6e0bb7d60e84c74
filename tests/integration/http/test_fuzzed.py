"""The REST API keeps to its own OpenAPI document, whatever is sent to it."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from kenobot_testing.scripted import ScriptedProvider
from tests.integration.http.bot import served_bot
from tests.property.effort import is_fuzzing

pytestmark = pytest.mark.long

_COMMAND = Path(sys.executable).with_name("schemathesis")
_EXAMPLES = ("50",) if is_fuzzing() else ("2", "--seed", "1")  # of each request, beside the covering ones


@pytest.mark.skipif(not (_COMMAND.exists() or shutil.which("schemathesis")), reason="schemathesis is not installed")
async def test_no_request_is_answered_otherwise_than_documented(tmp_path: Path) -> None:
    """No error of the server, no other status, type or form than documented, nothing without a key; what the document
    forbids is refused, and what it allows is taken."""
    provider = ScriptedProvider(lambda _: "yes", repeat_last=True)
    async with served_bot(tmp_path, provider, wait_seconds=0, requests_per_minute=100_000) as bot:
        fuzzer = await asyncio.create_subprocess_exec(
            str(_COMMAND if _COMMAND.exists() else "schemathesis"),
            "run",
            f"{bot.base}/openapi.json",
            *("--header", f"Authorization: Bearer {await bot.key()}"),
            *("--phases", "coverage,fuzzing", "--max-examples", *_EXAMPLES, "--request-timeout", "90"),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await fuzzer.communicate()
    assert fuzzer.returncode == 0, told.decode()
    assert "Tested: 61" in told.decode()
