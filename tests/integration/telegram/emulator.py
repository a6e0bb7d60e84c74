"""An emulator of the Bot API that nobody here wrote, in a process of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from tests.integration.telegram.standin import TOKEN, update


@dataclass
class Emulator:
    port: int
    journal: Path

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/bot"

    async def post(self, path: str, body: dict[str, object]) -> None:
        address = f"http://127.0.0.1:{self.port}{path}"
        async with ClientSession() as session, session.post(address, json=body) as response:
            assert response.status == 200, await response.text()

    async def write(self, number: int, text: str = "hi", user: int = 1) -> None:
        await self.post("/__fixture/updates", {"token": TOKEN, "update": update(number, text, user)})

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]


@contextmanager
def running_emulator(folder: Path, *options: str) -> Iterator[Emulator]:
    """Start a Bot API server that nobody here wrote. options: more of its own."""
    journal = folder / "journal.jsonl"
    code = "import lo_bot_api_emulator as emulator; emulator.main()"
    command = [sys.executable, "-c", code, "--port", "0", "--enable-control", "--journal", str(journal), *options]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(filter(None, (re.search(r"http://[\d.]+:(\d+)", line) for line in process.stdout)))
            yield Emulator(int(address[1]), journal)
        finally:
            process.terminate()
