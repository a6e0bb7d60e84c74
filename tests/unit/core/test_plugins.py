"""Parts come in by entry point, one at a time, and a bad one is named."""

import asyncio
import subprocess
import sys
from importlib import metadata
from importlib.metadata import EntryPoint

import pytest

from kenobot.core import plugins
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.ports.plugin import NoSettings, Plugin

good = Plugin(settings=NoSettings, build=lambda settings, surroundings: object())
not_a_plugin = "text"
HERE = __name__


def pretend(monkeypatch: pytest.MonkeyPatch, **targets: str) -> None:
    """Have these entry points installed, and no others."""
    found = [EntryPoint(name.replace("_", "-"), target, "kenobot.channels") for name, target in targets.items()]
    monkeypatch.setattr(plugins, "list_installed", lambda group: found)


def test_the_shipped_parts_are_installed() -> None:
    """First-party parts use the same door as anybody's."""
    assert set(plugins.names("kenobot.channels")) >= {"console", "telegram"}
    assert set(plugins.names("kenobot.providers")) >= {"anthropic", "offline"}
    assert len(plugins.names("kenobot.postprocessors")) >= 6


def test_a_plugin_is_loaded_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target of the entry point is what comes back."""
    pretend(monkeypatch, mine=f"{HERE}:good")
    assert plugins.load("kenobot.channels", "mine") is good


def test_an_unknown_name_lists_what_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    """A typo is met with the nearest name and the whole list."""
    pretend(monkeypatch, telegram=f"{HERE}:good", console=f"{HERE}:good")
    with pytest.raises(ConfigError) as caught:
        plugins.load("kenobot.channels", "telegrm")
    assert 'no channel called "telegrm"; did you mean "telegram"?' in str(caught.value)
    assert "console, telegram" in str(caught.value)


def test_a_channel_that_ships_apart_names_the_extra_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its distribution is not there; one of the same name by somebody else is foreign."""
    pretend(monkeypatch, xmpp="kenobot_xmpp:plugin", irc=f"{HERE}:good")
    with pytest.raises(ConfigError, match=r"\"matrix\" is not installed: run pip install 'kenobot\[matrix\]'"):
        plugins.load("kenobot.channels", "matrix")
    foreign = [plugins.is_foreign("kenobot.channels", name) for name in ("xmpp", "irc")]
    assert foreign == [False, True]


@pytest.mark.parametrize("target", ["kenobot.no_such_module:plugin", f"{HERE}:no_such_name", f"{HERE}:not_a_plugin"])
def test_a_broken_plugin_is_a_plugin_error(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """A plugin that cannot be imported, or is something else, is named in the error."""
    pretend(monkeypatch, mine=target)
    with pytest.raises(PluginError, match='"mine"'):
        plugins.load("kenobot.channels", "mine")


def test_a_name_provided_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packages that claim one name cannot be told apart, so neither wins by chance."""
    found = [EntryPoint("mine", f"{HERE}:{name}", "kenobot.channels") for name in ("good", "not_a_plugin")]
    monkeypatch.setattr(plugins, "list_installed", lambda group: found)
    with pytest.raises(PluginError, match="twice"):
        plugins.load("kenobot.channels", "mine")


def test_only_what_is_asked_for_is_imported() -> None:
    """Loading the console imports neither Telegram's SDK nor Anthropic's nor the line editor."""
    code = (
        "import sys; from kenobot.core import plugins; plugins.load('kenobot.channels', 'console');"
        "print({'telegram', 'anthropic', 'prompt_toolkit', 'kenobot.channels.telegram'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_entry_point_of_ours_names_a_module_here() -> None:
    """The entry points are in step with the tree, those of the distributions beside the core too."""
    own = metadata.distribution("kenobot").entry_points
    assert {entry.value.partition(".")[0] for entry in own} == {"kenobot"}
    for group, names in plugins.APART.items():
        for name in names:
            package = plugins.find(group, name).value.partition(":")[0].partition(".")[0]
            assert package.startswith("kenobot_")
            assert not plugins.is_foreign(group, name)


async def test_a_part_that_cannot_be_closed_keeps_no_other_open(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the process is orderly whatever a plugin does there; the log names it."""
    closed: list[str] = []
    monkeypatch.setattr(plugins, "_CLOSE_SECONDS", 0.01)

    class Leaver:
        async def aclose(self) -> None:
            raise SystemExit(3)

    class Sleeper:
        async def aclose(self) -> None:
            await asyncio.Event().wait()

    class Broken:
        async def aclose(self) -> None:
            raise OSError(24, "Too many open files")

    class Whole:
        async def aclose(self) -> None:
            closed.append("whole")

    await plugins.close([Leaver(), Sleeper(), Broken(), object(), Whole()])
    assert closed == ["whole"]
    for name in ("Leaver", "Sleeper", "Broken"):
        assert f"{name} could not be closed" in caplog.text
