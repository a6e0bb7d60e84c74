"""The model that finds memories by their meaning: whether it is worth offering, and how it comes here."""

import importlib
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenobot.core.settings.load import ResolvedSettings
    from kenobot.ports.plugin import PluginContext

_SECONDS = 1800.0  # 130 MB over a slow line
_WHAT = "kenobot[embedded]"


def should_offer(loaded: "ResolvedSettings", surroundings: "PluginContext") -> bool:
    """Whether memory would be found by words alone because nothing better is installed, though nobody wants it so."""
    from kenobot.app.embedder_choice import choose_embedder

    return loaded.settings.memory.embedder == "auto" and choose_embedder(loaded, surroundings).embedder is None


def install(loaded: "ResolvedSettings", surroundings: "PluginContext") -> str:
    """Install what ships for it into this Python; what came of it, in one plain line. Never raises."""
    from kenobot.app.embedder_choice import choose_embedder

    why = _installed()
    importlib.invalidate_caches()
    choice = choose_embedder(loaded, surroundings)
    if choice.embedder is not None:
        return f"Memories are found by their meaning, with {choice.embedder.model_id}."
    return f"Memories are found by words alone: {why or choice.reason}"


def _installed() -> str:
    """Let pip do it; what it says when it cannot."""
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
