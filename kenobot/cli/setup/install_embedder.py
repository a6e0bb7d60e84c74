"""Installing the embedded embedding model."""

import importlib
import subprocess
import sys

from kenobot.app.embedder_choice import choose_embedder
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ports.plugin import PluginContext

_SECONDS = 1800.0  # 130 MB over a slow line
_WHAT = "kenobot[embedded]"


def should_offer(loaded: ResolvedSettings, plugin: PluginContext) -> bool:
    """Whether no embedder is available though the settings leave the choice open."""
    return loaded.settings.memory.embedder == "auto" and choose_embedder(loaded, plugin).embedder is None


def install(loaded: ResolvedSettings, plugin: PluginContext) -> str:
    """Install the model into this Python. Returns the outcome in one plain line; never raises."""
    why = _installed()
    importlib.invalidate_caches()
    choice = choose_embedder(loaded, plugin)
    if choice.embedder is not None:
        return f"Memories are found by their meaning, with {choice.embedder.model_id}."
    return f"Memories are found by words alone: {why or choice.reason}"


def _installed() -> str:
    """Run pip. Returns its error, "" when it succeeds."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _WHAT]
    try:
        done = subprocess.run(  # noqa: S603 - this Python's own pip
            command, capture_output=True, text=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"pip did not finish ({type(error).__name__}); run: pip install '{_WHAT}'"
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    return (said[-1] if said else "pip failed").removeprefix("ERROR: ")
