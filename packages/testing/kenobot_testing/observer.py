"""The tests that every observer must pass."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import BaseModel

from kenobot.core.bus import Bus
from kenobot.core.plugins import close
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.signals import ALL_SIGNALS, SUBSCRIBER_FAILED, Envelope
from kenobot_testing.clock import ManualClock


@pytest.mark.asyncio
class ObserverContract:
    """Tests of what the core relies on in an observer. Subclass it and override `observer`, or `settings` too."""

    @pytest.fixture
    def observer(self) -> Plugin[Any, Any]:
        """The plugin."""
        raise NotImplementedError("override the fixture `observer`")

    @pytest.fixture
    def settings(self, observer: Plugin[Any, Any]) -> BaseModel:
        """Its settings; the defaults by default."""
        defaults: BaseModel = observer.settings()
        return defaults

    @pytest_asyncio.fixture
    async def bus(self) -> AsyncIterator[Bus]:
        """The bus that it is built with."""
        made = Bus(ManualClock())
        yield made
        await made.close()

    async def test_it_bears_every_signal(
        self, observer: Plugin[Any, Any], settings: BaseModel, bus: Bus, tmp_path: Path
    ) -> None:
        """With the payload that comes with it, or with none."""
        failures: list[str] = []

        async def note(envelope: Envelope) -> None:
            failures.append(f"{envelope.payload['receiver']} failed at {envelope.payload['signal']}")

        built = observer.build(settings, PluginContext(tmp_path, ManualClock(), "KenoBot", bus))
        bus.subscribe(SUBSCRIBER_FAILED, note)
        for signal in ALL_SIGNALS.values():
            if signal is not SUBSCRIBER_FAILED:
                assert await bus.emit(signal, "contract", "trace") is not None, f"its middleware stops {signal.name}"
        async with asyncio.timeout(30):
            await bus.drain()
        assert not failures, failures[0]
        await close([built])

    async def test_it_can_be_closed(
        self, observer: Plugin[Any, Any], settings: BaseModel, bus: Bus, tmp_path: Path
    ) -> None:
        """At once after it was built; no task is left running."""
        before = asyncio.all_tasks()
        built = observer.build(settings, PluginContext(tmp_path, ManualClock(), "KenoBot", bus))
        if hasattr(built, "aclose"):
            async with asyncio.timeout(60):
                await built.aclose()
        await bus.close()
        assert asyncio.all_tasks() <= before, "a task was left running"
