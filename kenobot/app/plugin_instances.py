"""Build plugins from their validated settings."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kenobot.app import embedder_choice
from kenobot.core.bus import Bus
from kenobot.core.plugin_catalogue import PluginCatalogue
from kenobot.core.plugins import PluginGroup
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings
from kenobot.core.settings.schema import DEFAULT_TOOLS
from kenobot.core.settings.workspaces import resolve_workspaces
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Embedder, PreviousEmbedders
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.ports.frozen import dataclass
from kenobot.ports.plugin import PluginContext
from kenobot.ports.postprocessor import PostProcessor
from kenobot.ports.provider import Provider, calls_tools
from kenobot.ports.signals import NoSignals, Signals
from kenobot.ports.tool import Tool
from kenobot.ports.transcriber import Transcriber
from kenobot.postprocessors.pipeline import Pipeline

if TYPE_CHECKING:
    from kenobot.tools.mcp.servers import McpServers

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginInstances:
    """The parts that come from plugins, built.

    access_lists: by channel, who may talk there.
    fallbacks: the providers to ask when `provider` does not answer, in this order.
    cheap_provider: the provider of the background work, if another.
    previous_embedders: finds the embedders of vectors made before.
    transcriber: writes down recordings; None: nothing does.
    tools: what the model may call. mcp: the servers whose tools it may call as well; None: there are none.
    bus: the bus that plugins subscribed to; None: none did.
    catalogue: the plugins that there are, and which are off.
    """

    provider: Provider
    channels: dict[str, Channel]
    access_lists: Mapping[str, Roster]
    processors: Sequence[PostProcessor]
    fallbacks: Sequence[Provider] = ()
    cheap_provider: Provider | None = None
    embedder: Embedder | None = None
    previous_embedders: PreviousEmbedders | None = None
    transcriber: Transcriber | None = None
    observers: Sequence[object] = ()
    tools: Sequence[Tool[BaseModel]] = ()
    mcp: "McpServers | None" = None
    bus: Bus | None = None
    catalogue: PluginCatalogue = field(default_factory=PluginCatalogue)

    @property
    def providers(self) -> tuple[Provider, ...]:
        return (self.provider, *self.fallbacks)

    @property
    def closable(self) -> tuple[object, ...]:
        """The parts to close when the bot stops."""
        return (*self.providers, self.cheap_provider, self.transcriber, *self.observers, *self.tools, self.mcp)


def load_plugins(
    home: Home, loaded: ResolvedSettings, clock: Clock, names: Iterable[str], provider: Provider | None = None
) -> PluginInstances:
    """Build the plugins that the configuration asks for. Raises ConfigError when a person must fix something.

    provider: answers in place of those of the configuration.
    """
    for name in loaded.catalogue.problems:
        problem = loaded.catalogue.explain(name)
        _log.error('The plugin "%s" is off: %s', name, problem)
    for section, why in loaded.left_out.items():
        if section.startswith(("mcp.", "tools.workspaces.")):  # a tool says it when it is built
            _log.error("%s KenoBot runs without it.", why)
    bus = Bus(clock)
    surroundings = PluginContext(home.path, clock, loaded.settings.bot.name, bus)
    given = load_providers(home, loaded, clock, bus)
    given = given if provider is None else replace(given, provider=provider, fallbacks=())
    channels, rosters = _channels(loaded, names, surroundings)
    return replace(
        given,
        channels=channels,
        access_lists=rosters,
        processors=_processors(loaded, surroundings),
        observers=_build_enabled(loaded, "kenobot.observers", surroundings, "KenoBot runs without it."),
        tools=_tools(loaded, surroundings, are_called=any(map(calls_tools, given.providers))),
        mcp=_mcp_servers(home, loaded, clock),
        bus=bus,
        embedder=embedder_choice.choose_embedder(loaded, surroundings).embedder,
        previous_embedders=partial(embedder_choice.previous_embedders, loaded, surroundings),
        transcriber=_transcriber(loaded, surroundings),
    )


def load_providers(
    home: Home, loaded: ResolvedSettings, clock: Clock, signals: Signals | None = None
) -> PluginInstances:
    """Build the providers alone. Raises ConfigError when a person must fix something."""
    surroundings = PluginContext(home.path, clock, loaded.settings.bot.name, signals or NoSignals())
    try:
        provider: Provider = loaded.build_plugin("kenobot.providers", loaded.settings.provider.name, surroundings)
    except PluginError as error:  # no bot without it
        raise ConfigError(str(error)) from error
    fallbacks = []
    for each in loaded.settings.provider.fallbacks:
        try:
            fallbacks.append(_fallback(loaded, "provider.fallbacks", each, surroundings))
        except PluginError as error:
            _log.error("%s Nobody answers in its place.", error)
    cheap = _cheap_provider(loaded, surroundings)
    return PluginInstances(provider, {}, {}, (), fallbacks, cheap, catalogue=loaded.catalogue)


def _cheap_provider(loaded: ResolvedSettings, surroundings: PluginContext) -> Provider | None:
    """Build the provider of the background work. Rules take the place of a broken one, not the dearer model."""
    named = loaded.settings.models.cheap
    if not named:
        return None
    try:
        return _fallback(loaded, "models.cheap", named, surroundings)
    except PluginError as error:
        _log.error("%s Rules do its work.", error)
        return _fallback(loaded, "models.cheap", "offline", surroundings)


def _channels(
    loaded: ResolvedSettings, names: Iterable[str], surroundings: PluginContext
) -> tuple[dict[str, Channel], Mapping[str, Roster]]:
    """Build the channels and their access lists. A broken plugin is left out and logged."""
    channels: dict[str, Channel] = {}
    rosters: dict[str, Roster] = {}
    for name in names:
        try:
            channels[name], rosters[name] = build_channel(loaded, name, surroundings)
        except PluginError as error:
            _log.error("%s The other channels run without it.", error)
    if not channels:
        raise ConfigError("channels.none_usable")
    return channels, rosters


def build_channel(loaded: ResolvedSettings, name: str, surroundings: PluginContext) -> tuple[Channel, Roster]:
    """Build a channel and read whom it lets in. Raises ConfigError or PluginError."""
    group: PluginGroup = "kenobot.channels"
    settings = loaded.plugin_settings(group, name, loaded.catalogue.load(group, name).settings)
    return loaded.catalogue.build(group, name, settings, surroundings), Roster.from_settings(settings)


def _build_enabled(
    loaded: ResolvedSettings,
    group: PluginGroup,
    surroundings: PluginContext,
    without: str,
    omitted: Collection[str] = (),
) -> list[Any]:
    """Build the enabled plugins of a group but those to be omitted. A broken one is left out and logged."""
    built = []
    for name in loaded.settings.list_enabled_plugins(group):
        if name in omitted:
            continue
        try:
            built.append(loaded.build_plugin(group, name, surroundings))
        except PluginError as error:
            _log.error("%s %s", error, without)
    return built


def _tools(loaded: ResolvedSettings, surroundings: PluginContext, *, are_called: bool) -> list[Tool[BaseModel]]:
    """Build the enabled tools, with what those that work in folders need. A broken plugin is left out and logged.

    are_called: whether a model calls tools; where none does, those that are on by themselves are not even imported.
    """
    surroundings = replace(surroundings, workspaces=resolve_workspaces(loaded.settings.tools.workspaces))
    omitted = () if are_called else DEFAULT_TOOLS
    return _build_enabled(loaded, "kenobot.tools", surroundings, "KenoBot runs without it.", omitted)


def _mcp_servers(home: Home, loaded: ResolvedSettings, clock: Clock) -> "McpServers | None":
    """Build the MCP servers of the settings; nothing is connected yet. Imported where there are any."""
    if not any(server.enabled for server in loaded.settings.mcp.values()):
        return None
    from kenobot.tools.mcp.servers import McpServers  # noqa: PLC0415

    return McpServers(loaded.settings.mcp, home.cache, home.mcp, clock, home.credentials)


def _processors(loaded: ResolvedSettings, surroundings: PluginContext) -> list[PostProcessor]:
    """Build the enabled post-processors. One that does not ship is left out when its tags are another's."""
    group: PluginGroup = "kenobot.postprocessors"
    built: list[PostProcessor] = _build_enabled(loaded, group, surroundings, "Replies go out without it.")
    catalogue = loaded.catalogue
    foreign = [each for each in built if catalogue.is_foreign(group, each.name)]
    used = [each for each in built if each not in foreign]
    for each in foreign:
        try:
            Pipeline([*used, each], str)
        except PluginError as error:
            catalogue.disable(group, each.name, error)
            _log.error("%s Replies go out without it.", error)
        else:
            used.append(each)
    return [each for each in built if each in used]


def _transcriber(loaded: ResolvedSettings, surroundings: PluginContext) -> Transcriber | None:
    """Build the transcriber that the settings name. A broken plugin is left out and logged."""
    name = loaded.settings.transcriber.name
    if name == "none":
        return None
    try:
        built: Transcriber = loaded.build_plugin("kenobot.transcribers", name, surroundings)
    except PluginError as error:
        _log.error("%s Nobody listens to recordings.", error)
        return None
    return built


def _fallback(loaded: ResolvedSettings, key: str, written: str, surroundings: PluginContext) -> Provider:
    """Build the provider of a key: a name, or a name, a colon and a model."""
    name, _, model = written.partition(":")
    built: Provider = loaded.build_plugin("kenobot.providers", name, surroundings, model, key)
    return built
