"""Which tools are on without a setting, and what they take of a prompt."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kenobot.agent.turn.more_tools import MOST_TOKENS
from kenobot.agent.turn.toolbox import PreparedTool
from kenobot.app.plugin_instances import load_plugins
from kenobot.app.tool_report import find_unusable
from kenobot.core import plugins
from kenobot.core.plugins import PluginGroup
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.core.settings.schema import DEFAULT_TOOLS
from kenobot.ports.plugin import Plugin
from kenobot_testing.clock import ManualClock
from kenobot_testing.tool import AnyTool

_CALLS = '[provider]\nname = "ollama"\n[providers.ollama]\nmodel = "any"\n'
_DEFAULT_TOKENS = 1150


def _build(home: Home, text: str) -> Sequence[AnyTool]:
    return load_plugins(home, load_settings(home, {}, text=text), ManualClock(), ["console"]).tools


def _unusable(home: Home, text: str) -> dict[str, str]:
    """Return what is off and why, once a bot was built that starts all the same."""
    loaded = load_settings(home, {}, text=_CALLS + text)
    parts = load_plugins(home, loaded, ManualClock(), ["console"])
    unusable = dict(find_unusable(loaded))
    assert not unusable.keys() & {tool.name for tool in parts.tools}
    assert "clock" in {tool.name for tool in parts.tools}
    return unusable


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
    text = f'{_CALLS}[tools]\nenabled = {enabled}\n[tools.workspaces]\nnotes = "/srv/notes"\n'
    assert tuple(tool.name for tool in _build(home, text)) == names


def test_all_that_ship_fit_into_a_prompt(home: Home, tmp_path: Path) -> None:
    """Together with a workspace and a host they take no more than what is offered at once."""
    (tmp_path / "work").mkdir()
    names = ", ".join(f'"{name}"' for name in plugins.names("kenobot.tools"))
    wanted = f'{_CALLS}[tools]\nenabled = [{names}]\n[tools.http_request.hosts."api.example.com"]\n'
    built = _build(Home(tmp_path / "home"), f'{wanted}[tools.workspaces]\nnotes = "{tmp_path}/work"\n')
    assert len(built) == len(plugins.names("kenobot.tools")) and _tokens(built) <= MOST_TOKENS


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("http_request", "", "name one in [tools.http_request.hosts]"),
        (
            "http_request",
            '[tools.http_request.hosts."a.b"]\nheaders = { Authorization = "{a_token}" }',
            "credentials/tools.http_request.a_token",
        ),
        ("web_search", '[tools.web_search]\nengine = "brave"', "credentials/tools.web_search.api_key"),
        ("web_search", '[tools.web_search]\nengine = "tavily"', "credentials/tools.web_search.api_key"),
        ("web_search", '[tools.web_search]\nengine = "searxng"', "set tools.web_search.url"),
        ("web_search", '[tools.web_search]\nlanguage = "English"', "tools.web_search.language"),
        ("read_file", "", "name one in [tools.workspaces]"),
        ("shell", "", "name one in [tools.workspaces]"),
        ("tools.workspaces.notes", '[tools.workspaces]\nnotes = "/srv/not-there"', "no folder /srv/not-there"),
        ("tools.workspaces.notes", '[tools.workspaces]\nnotes = "/etc"', "a folder of the system's"),
        ("mcp.hub", "[mcp.hub]\nseconds = 3", "either a command or a url"),
        ("mcp.hub", '[mcp.hub]\ncommand = "x"\nenv = { A = "${key}" }', 'the secret "key" is not there'),
    ],
)
def test_a_tool_that_lacks_something_is_off(
    home: Home, name: str, settings: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The bot starts, and says in the log and on request which tool is off and what to do."""
    tool = "clock" if "." in name else name
    found = _unusable(home, f'[tools]\nenabled = ["default", "{tool}"]\n{settings}\n')
    assert list(found) == [name]
    assert why in found[name]
    assert why in caplog.text or "not-there" in why
