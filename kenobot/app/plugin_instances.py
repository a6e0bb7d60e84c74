"""The parts that come from plugins: found by entry point, built from their validated settings."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kenobot.agent.embedding_worker import PreviousEmbedders, no_embedders
from kenobot.app import embedder_choice
from kenobot.core import plugins
from kenobot.core.plugins import PluginGroup
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Embedder
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.ports.plugin import PluginContext
from kenobot.ports.postprocessor import PostProcessor
from kenobot.ports.provider import Provider

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginInstances:
    """The parts that come from plugins, ready made. `access_lists`: for each channel, who may talk there.

    fallbacks: who is asked when `provider` does not answer, in this order. extraction_provider: who reads for
    memories, if another.
    embedder: what places memory by its meaning, if anything; previous_embedders: finds those that did before.
    """

    provider: Provider
    channels: dict[str, Channel]
    access_lists: Mapping[str, Roster]
    processors: Sequence[PostProcessor]
    fallbacks: Sequence[Provider] = ()
    extraction_provider: Provider | None = None
    embedder: Embedder | None = None
    previous_embedders: PreviousEmbedders = no_embedders

    @property
    def providers(self) -> tuple[Provider, ...]:
        return (self.provider, *self.fallbacks)


def load_plugins(home: Home, loaded: ResolvedSettings, clock: Clock, names: Iterable[str]) -> PluginInstances:
    """The plugins that the configuration asks for. Raises ConfigError when a person must fix something."""
    surroundings = PluginContext(home.path, clock, loaded.settings.bot.name)
    given = load_providers(home, loaded, clock)
    channels, rosters = _channels(loaded, names, surroundings)
    return replace(
        given,
        channels=channels,
        access_lists=rosters,
        processors=_processors(loaded, surroundings),
        embedder=embedder_choice.choose_embedder(loaded, surroundings).embedder,
        previous_embedders=partial(embedder_choice.previous_embedders, loaded, surroundings),
    )


def load_providers(home: Home, loaded: ResolvedSettings, clock: Clock) -> PluginInstances:
    """Only who is asked, for what needs nobody else. Raises ConfigError when a person must fix something."""
    surroundings = PluginContext(home.path, clock, loaded.settings.bot.name)
    provider: Provider = _part(loaded, "kenobot.providers", loaded.settings.provider.name, surroundings)
    written = loaded.settings.provider.fallbacks
    fallbacks = [_fallback(loaded, "provider.fallbacks", each, surroundings) for each in written]
    named = loaded.settings.extraction.model
    reader = _fallback(loaded, "extraction.model", named, surroundings) if named else None
    return PluginInstances(provider, {}, {}, (), fallbacks, reader)


def _channels(
    loaded: ResolvedSettings, names: Iterable[str], surroundings: PluginContext
) -> tuple[dict[str, Channel], Mapping[str, Roster]]:
    """The channels by name, and who may talk there. A broken plugin is left out, loudly."""
    channels: dict[str, Channel] = {}
    rosters: dict[str, Roster] = {}
    for name in names:
        try:
            plugin = plugins.load("kenobot.channels", name)
            settings = loaded.plugin_settings("kenobot.channels", name, plugin.settings)
            channels[name] = plugin.build(settings, surroundings)
        except PluginError as error:
            _log.error("%s The other channels run without it.", error)
            continue
        rosters[name] = Roster.from_settings(settings)
    if not channels:
        raise ConfigError("None of the enabled channels can be used: see the lines above, then run `kenobot setup`.")
    return channels, rosters


def _processors(loaded: ResolvedSettings, surroundings: PluginContext) -> list[PostProcessor]:
    found: list[PostProcessor] = []
    for name in loaded.settings.postprocessors.enabled:
        try:
            found.append(_part(loaded, "kenobot.postprocessors", name, surroundings))
        except PluginError as error:
            _log.error("%s Replies go out without it.", error)
    return found


def _fallback(loaded: ResolvedSettings, key: str, written: str, surroundings: PluginContext) -> Provider:
    """The provider that is written under a key: a name, or a name, a colon and the model to ask there."""
    name, _, model = written.partition(":")
    plugin = plugins.load("kenobot.providers", name)
    settings = loaded.plugin_settings("kenobot.providers", name, plugin.settings)
    if model:
        if "model" not in type(settings).model_fields:
            raise ConfigError(f'{key}: "{name}" has no models to choose from; write "{name}" alone')
        settings = settings.model_copy(update={"model": model})
    built: Provider = plugin.build(settings, surroundings)
    return built


def _part(loaded: ResolvedSettings, group: PluginGroup, name: str, surroundings: PluginContext) -> Any:
    plugin = plugins.load(group, name)
    return plugin.build(loaded.plugin_settings(group, name, plugin.settings), surroundings)
