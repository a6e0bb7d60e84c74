"""Which tools are on without a setting, and what they take of a prompt."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kenobot.agent.turn.more_tools import MOST_TOKENS
from kenobot.agent.turn.toolbox import PreparedTool
from kenobot.app.plugin_instances import load_plugins
from kenobot.core import plugins
from kenobot.core.plugins import PluginGroup
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.core.settings.schema import DEFAULT_TOOLS
from kenobot.ports.plugin import Plugin
from kenobot.testing.clock import ManualClock
from kenobot.testing.tool import AnyTool

_CALLS = '[provider]\nname = "ollama"\n[providers.ollama]\nmodel = "any"\n'
_DEFAULT_TOKENS = 1150


def _build(home: Home, text: str) -> Sequence[AnyTool]:
    return load_plugins(home, load_settings(home, {}, text=text), ManualClock(), ["console"]).tools


def _tokens(tools: Sequence[AnyTool]) -> int:
    return sum(PreparedTool.of(tool).tokens for tool in tools)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_model_that_calls_tools_has_the_default_ones(home: Home) -> None:
    """They are on without a setting, and take about a thousand tokens."""
    built = _build(home, _CALLS)
    assert tuple(tool.name for tool in built) == DEFAULT_TOOLS
    assert _tokens(built) <= _DEFAULT_TOKENS


def test_none_is_loaded_for_a_model_that_calls_none(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The offline provider's start imports no tool, and a fallback that calls tools has them."""
    loaded: list[str] = []
    load = plugins.load

    def note(group: PluginGroup, name: str) -> Plugin[Any, Any]:
        loaded.append(group)
        return load(group, name)

    monkeypatch.setattr(plugins, "load", note)
    assert _build(home, "") == []
    assert "kenobot.tools" not in loaded
    assert _build(home, '[provider]\nfallbacks = ["ollama"]\n[providers.ollama]\nmodel = "any"\n')


@pytest.mark.parametrize(
    ("enabled", "names"),
    [
        ("[]", ()),
        ('["clock"]', ("clock",)),
        ('["default", "shell", "clock"]', (*DEFAULT_TOOLS, "shell")),
        ('["git", "default"]', ("git", *DEFAULT_TOOLS)),
    ],
)
def test_a_list_says_which_are_on(home: Home, enabled: str, names: tuple[str, ...]) -> None:
    """`enabled` names them one by one, or those that are on by themselves as "default"."""
    assert tuple(tool.name for tool in _build(home, f"{_CALLS}[tools]\nenabled = {enabled}\n")) == names


def test_all_that_ship_fit_into_a_prompt(home: Home, tmp_path: Path) -> None:
    """Together with a workspace and a host they take no more than what is offered at once."""
    (tmp_path / "work").mkdir()
    names = ", ".join(f'"{name}"' for name in plugins.names("kenobot.tools"))
    wanted = f'{_CALLS}[tools]\nenabled = [{names}]\n[tools.http_request.hosts."api.example.com"]\n'
    built = _build(Home(tmp_path / "home"), f'{wanted}[tools.workspaces]\nnotes = "{tmp_path}/work"\n')
    assert len(built) == len(plugins.names("kenobot.tools")) and _tokens(built) <= MOST_TOKENS
