"""Plugins of the home's folder are found without running them, and only where nobody else could have written them."""

from pathlib import Path

import pytest

from kenobot.core import home_plugins
from kenobot.core.plugin_catalogue import PluginCatalogue
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.ports.errors import PluginError

OBSERVER = """
from kenobot.ports.plugin import NoSettings, Plugin
raised = 1
plugin = Plugin(settings=NoSettings, build=lambda settings, context: None, kind="observer")
"""
SETTABLE = """
from pydantic import BaseModel, SecretStr
from kenobot.ports.plugin import Plugin
class Given(BaseModel, extra="forbid"):
    place: str = ""
    ports: list[int] = []
    token: SecretStr = SecretStr("")
plugin = Plugin(settings=Given, build=lambda settings, context: None, kind="observer")
"""
PROJECT = """
[project]
name = "kenobot-{name}"
[project.entry-points."kenobot.observers"]
{name} = "{name}_package.part:plugin"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "plugins"
    folder.mkdir(parents=True)
    return folder


def put(folder: Path, name: str, text: str = OBSERVER) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    for each in (path, *(parent for parent in path.parents if parent.is_relative_to(folder))):
        each.chmod(each.stat().st_mode & ~0o022)
    return path


def test_a_file_is_a_plugin(folder: Path) -> None:
    """Its kind is read, not run; then it is imported like any other."""
    put(folder, "watcher.py", OBSERVER + "\nassert True")
    catalogue = PluginCatalogue(home_plugins.find(folder, ("watcher",)))
    assert "watcher" in catalogue.names("kenobot.observers")
    assert catalogue.origin("kenobot.observers", "watcher") == "plugins/watcher"
    assert catalogue.load("kenobot.observers", "watcher").kind == "observer"


@pytest.mark.parametrize("source", ["", "src/"])
def test_a_project_folder_is_a_plugin_by_its_entry_points(folder: Path, source: str) -> None:
    """With the sources beside pyproject.toml, or in src."""
    name = f"beside{len(source)}"
    put(folder, f"{name}/pyproject.toml", PROJECT.format(name=name))
    put(folder, f"{name}/{source}{name}_package/__init__.py", "")
    put(folder, f"{name}/{source}{name}_package/part.py")
    catalogue = PluginCatalogue(home_plugins.find(folder, (name,)))
    assert catalogue.load("kenobot.observers", name).kind == "observer"


def test_what_is_not_enabled_is_only_named(folder: Path) -> None:
    """Not a byte of it is read."""
    put(folder, "watcher.py", "\0 not Python")
    put(folder, "other/pyproject.toml", "")
    found = home_plugins.find(folder, ())
    assert (found.plugins, found.others, found.problems) == ((), ("other", "watcher"), {})


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("bad.py", "def :", "is not Python"),
        ("bad.py", "plugin = 1", "does not say what it is"),
        ("bad.py", "plugin = Plugin(kind='cat')", "does not say what it is"),
        ("bad/pyproject.toml", "[project]", "no entry point"),
        ("bad/pyproject.toml", "[", "not valid TOML"),
        ("bad/readme.txt", "", "neither a pyproject.toml"),
    ],
)
def test_what_is_no_plugin_is_off_with_its_reason(folder: Path, name: str, text: str, reason: str) -> None:
    """The others are found all the same."""
    put(folder, name, text)
    put(folder, "watcher.py")
    found = home_plugins.find(folder, ("bad", "watcher", "missing", "../watcher"))
    assert [plugin.name for plugin in found.plugins] == ["watcher"]
    assert reason in found.problems["bad"]
    assert "neither a folder" in found.problems["missing"]
    assert "not the name" in found.problems["../watcher"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise RuntimeError('boom')", "cannot be loaded: RuntimeError: boom"),
        ("import nowhere_at_all", "cannot be loaded: ModuleNotFoundError"),
        ("raise SystemExit(3)", "cannot be loaded: SystemExit: 3"),
        ("raise RuntimeError('boom')\nplugin = Plugin(kind='observer')", "cannot be loaded: RuntimeError: boom"),
        ("plugin = 1", "does not say what it is"),
    ],
)
def test_a_plugin_that_raises_at_its_import_is_off_with_the_error(folder: Path, text: str, reason: str) -> None:
    """Whether or not it says what it is behind that."""
    put(folder, "bad.py", text)
    catalogue = PluginCatalogue(home_plugins.find(folder, ("bad",)))
    with pytest.raises(PluginError) as caught:
        catalogue.load("kenobot.observers", "bad")
    assert reason in str(caught.value)


@pytest.mark.parametrize("changed", ["watcher", "watcher/__init__.py", ""])
def test_what_others_can_change_is_off(folder: Path, changed: str) -> None:
    """A file, its folder, or the folder of all plugins."""
    put(folder, "watcher/__init__.py")
    (folder / changed).chmod(0o777)
    problem = home_plugins.find(folder, ("watcher",)).problems["watcher"]
    assert "chmod -R go-w" in problem


def test_a_name_that_is_taken_stays_with_what_is_installed(folder: Path) -> None:
    """A plugin of the home cannot take the place of one that ships."""
    put(folder, "telegram.py", OBSERVER.replace("observer", "channel"))
    catalogue = PluginCatalogue(home_plugins.find(folder, ("telegram",)))
    assert "another name" in catalogue.problems["telegram"]
    assert not catalogue.is_foreign("kenobot.channels", "telegram")


def test_a_module_of_another_package_is_not_taken_for_the_plugin(folder: Path) -> None:
    """One that is called like a library would get that library's module."""
    put(folder, "mine/pyproject.toml", PROJECT.format(name="mine").replace("mine_package.part", "json"))
    put(folder, "mine/json.py")
    catalogue = PluginCatalogue(home_plugins.find(folder, ("mine",)))
    with pytest.raises(PluginError, match="give it another name"):
        catalogue.load("kenobot.observers", "mine")


def test_the_settings_switch_an_enabled_plugin_on(folder: Path) -> None:
    """Beside what is on by default, and with a table of its own."""
    put(folder, "watcher.py")
    home = Home(folder.parent)
    home.config_file.write_text('[plugins]\nenabled = ["watcher"]\n[observers.watcher]\n', "utf-8")
    assert load_settings(home, {}).settings.observers.enabled == ("watcher",)
    (folder / "watcher.py").chmod(0o666)
    assert load_settings(home, {}).settings.observers.enabled == (), "its table does not stop the start"
    put(folder, "tagger.py", OBSERVER.replace("observer", "postprocessor"))
    enabled = load_settings(home, {"KENOBOT_PLUGINS__ENABLED": "tagger"}).settings.postprocessors.enabled
    assert (enabled[0], enabled[-1]) == ("memory", "tagger")


def test_variables_set_a_plugin_whose_name_has_dashes(folder: Path) -> None:
    """No variable can have a dash; a credential file counts before a variable, and a variable before the file."""
    put(folder, "my-door.py", SETTABLE)
    home = Home(folder.parent)
    home.config_file.write_text('[plugins]\nenabled = ["my-door"]\n[observers.my-door]\nplace = "file"\n', "utf-8")
    credential = put(home.credentials, "observers.my-door.token", "of the credential")
    credential.chmod(0o600)
    given = {
        "KENOBOT_OBSERVERS__MY_DOOR__PLACE": "variable",
        "KENOBOT_OBSERVERS__MY_DOOR__PORTS": "1, 2",
        "KENOBOT_OBSERVERS__MY_DOOR__TOKEN": "of the variable",
    }
    loaded = load_settings(home, given)
    plugin = loaded.catalogue.load("kenobot.observers", "my-door")
    settings = loaded.plugin_settings("kenobot.observers", "my-door", plugin.settings).model_dump()
    assert (settings["place"], settings["ports"]) == ("variable", [1, 2])
    assert settings["token"].get_secret_value() == "of the credential"
    assert loaded.origins["observers.my-door.place"] == "environment KENOBOT_OBSERVERS__MY_DOOR__PLACE"
