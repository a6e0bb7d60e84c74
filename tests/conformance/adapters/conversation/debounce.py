"""Fragments that are joined: when a message is answered, and with which words."""

import asyncio
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from kenobot.ports.channel import Capabilities
from kenobot_testing.clock import START
from tests.conformance.cases import Case, Outcome, compare
from tests.hasty import HastyScene


def debounce(case: Case) -> Outcome:
    return compare(case, asyncio.run(_play(case.input["windowMs"], case.input["events"])))


async def _play(window: int, events: list[list[Any]]) -> list[dict[str, Any]]:
    """Say each text at its millisecond; returns the messages that were answered, and when."""
    with tempfile.TemporaryDirectory() as folder:
        async with HastyScene(Path(folder)) as scene:
            scene.channel.capabilities = Capabilities(fragment_seconds=window / 1000)
            for at, text in events:
                scene.time.advance(at / 1000 - scene.time.monotonic())
                await scene.put(text)
            if window:
                await scene.waits(window / 1000)
                scene.time.advance(window / 1000)
            await scene.app.wait_drained()
            told = await scene.rows("SELECT at, text FROM message WHERE role = 'user' ORDER BY id")
    return [{"at": _milliseconds(str(at)), "text": text} for at, text in told]


def _milliseconds(at: str) -> int:
    return round((datetime.fromisoformat(at) - START).total_seconds() * 1000)
