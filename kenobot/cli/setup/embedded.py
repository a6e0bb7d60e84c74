"""Install the model that finds memories by their meaning into this Python."""

import importlib
import subprocess
import sys

from kenobot.app.embedder_choice import choose_embedder
from kenobot.cli.language import say, translate
from kenobot.core import plugins
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ports.plugin import PluginContext
from kenobot.ports.sentences import Sentence

_INSTALL_SECONDS = 1800.0  # 130 MB over a slow line
_PACKAGE = "kenobot[embedded]"


def can_install(loaded: ResolvedSettings, plugin: PluginContext) -> bool:
    """Return whether the model is wanted by the settings and not there."""
    return loaded.settings.memory.embedder == "auto" and choose_embedder(loaded, plugin).embedder is None


def install_embedder(loaded: ResolvedSettings, plugin: PluginContext) -> str:
    """Install the model. Returns the outcome in one plain line; never raises."""
    why = _pip_install()
    importlib.invalidate_caches()
    plugins.forget_installed()
    choice = choose_embedder(loaded, plugin)
    if choice.embedder is not None:
        return say("Memories are found by their meaning, with {model}.", model=choice.embedder.model_id)
    return say("Memories are found by words alone: {why}", why=translate(why or choice.reason))


def _pip_install() -> str:
    """Run pip. Returns its error, "" when it succeeds."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _PACKAGE]
    try:
        done = subprocess.run(  # noqa: S603 - this Python's own pip
            command, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Sentence(
            "pip did not finish ({kind}); run: pip install '{package}'", kind=type(error).__name__, package=_PACKAGE
        )
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    return (said[-1] if said else "pip failed").removeprefix("ERROR: ")
