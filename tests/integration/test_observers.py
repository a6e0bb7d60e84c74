"""Observers: plugins that subscribe to signals through their context."""

from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from pydantic import BaseModel

from kenobot.core import plugins
from kenobot.core.plugins import PluginGroup
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import NoSettings, Plugin, PluginContext
from kenobot.ports.signals import ALL_SIGNALS, MESSAGE_IN, Envelope
from tests.scene import Scene

_ENABLED = {"KENOBOT_OBSERVERS__ENABLED": "heartbeat,loud"}
_heard: list[str] = []


class _Loud:
    closed = 0

    def __init__(self, context: PluginContext) -> None:
        context.signals.subscribe(ALL_SIGNALS.values(), self._hear)
        context.signals.add_middleware(self._shout)

    async def _hear(self, envelope: Envelope) -> None:
        _heard.append(envelope.signal.name)

    async def _shout(self, envelope: Envelope) -> Envelope:
        if envelope.signal is not MESSAGE_IN:
            return envelope
        text = str(envelope.payload["text"]).upper()
        return Envelope(MESSAGE_IN, {**envelope.payload, "text": text}, envelope.source, envelope.trace, envelope.at)

    async def aclose(self) -> None:
        _Loud.closed += 1


loud: Plugin[BaseModel, _Loud] = Plugin(settings=NoSettings, build=lambda settings, context: _Loud(context))


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of the documentation, and one that hears everything."""
    original: Callable[[PluginGroup], EntryPoints] = plugins.list_installed
    mine = EntryPoints(
        [
            EntryPoint("heartbeat", "docs.examples.heartbeat:plugin", "kenobot.observers"),
            EntryPoint("loud", f"{__name__}:loud", "kenobot.observers"),
        ]
    )
    monkeypatch.setattr(
        plugins, "list_installed", lambda group: mine if group == "kenobot.observers" else original(group)
    )


async def test_the_example_hears_that_a_reply_left(tmp_path: Path) -> None:
    """It is found by its entry point, gets its settings, and the signal reaches it."""
    async with Scene(tmp_path, ["ok"], environ=_ENABLED | {"KENOBOT_OBSERVERS__HEARTBEAT__FILE": "beat"}) as scene:
        await scene.say("hello")
        await scene.app.wait_drained()
        assert (scene.home.path / "beat").read_text("utf-8").startswith("20")


async def test_an_observer_sees_every_signal_and_its_middleware_changes_a_message(tmp_path: Path) -> None:
    """It is closed when the bot stops."""
    _heard.clear()
    async with Scene(tmp_path, ["ok"], environ=_ENABLED) as scene:
        await scene.say("hello")
        await scene.app.wait_drained()
        assert await scene.rows("SELECT text FROM inbox") == [("HELLO",)]
        closed = _Loud.closed
    assert {"message:in", "thinking:start", "message:out", "message:sent", "kenobot:stopping"} <= set(_heard)
    assert _Loud.closed == closed + 1


def test_a_table_of_no_plugin_is_a_mistake(tmp_path: Path) -> None:
    """The start is refused, and the nearest name told."""
    with pytest.raises(ConfigError, match="did you mean"):
        load_settings(Home(tmp_path), {**_ENABLED, "KENOBOT_OBSERVERS__HARTBEAT__FILE": "x"})


async def test_an_observer_whose_table_is_wrong_is_off(tmp_path: Path) -> None:
    """The reason is kept, and the bot runs without it."""
    wrong = _ENABLED | {"KENOBOT_OBSERVERS__HEARTBEAT__FIEL": "x"}
    async with Scene(tmp_path, ["ok"], environ=wrong) as scene:
        assert await scene.say("hello") == "ok"
        assert "did you mean" in scene.app.plugins.catalogue.broken["kenobot.observers", "heartbeat"]
