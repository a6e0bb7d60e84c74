"""Catalogue the plugins that one home can use, load each once, and remember why a broken one is off."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from kenobot.core import plugins
from kenobot.core.home_plugins import FoundPlugins, HomePlugin, import_source, module_name
from kenobot.core.plugin_guard import PluginGuard
from kenobot.core.plugin_signals import PluginSignals
from kenobot.core.plugins import KINDS, PluginGroup
from kenobot.ports.channel import Channel
from kenobot.ports.embedder import Embedder
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.postprocessor import PostProcessor
from kenobot.ports.provider import Provider
from kenobot.ports.tool import Tool
from kenobot.ports.transcriber import Transcriber

T = TypeVar("T")

_log = logging.getLogger(__name__)

PluginKey = tuple[PluginGroup, str]

_SEAMS: Mapping[PluginGroup, type] = {
    "kenobot.channels": Channel,
    "kenobot.providers": Provider,
    "kenobot.postprocessors": PostProcessor,
    "kenobot.embedders": Embedder,
    "kenobot.transcribers": Transcriber,
    "kenobot.tools": Tool,
}
_NAMED_ALIKE: tuple[PluginGroup, ...] = ("kenobot.channels", "kenobot.postprocessors")


class PluginCatalogue:
    """Installed plugins and those of the home's folder. One that does not ship is contained, and off when broken."""

    def __init__(self, found: FoundPlugins | None = None, guard: PluginGuard | None = None) -> None:
        found = found or FoundPlugins()
        self.guard = guard or PluginGuard()
        self.problems = dict(found.problems)  # bounded: the plugins that are enabled; start
        self._unsaid = dict(found.unsaid)  # bounded: the plugins that are enabled; start
        self.others = found.others
        self._own: dict[PluginKey, HomePlugin] = {}  # bounded: the plugins that are enabled; start
        self._loaded: dict[PluginKey, Plugin[Any, Any] | PluginError] = {}  # bounded: the plugins there are; start
        for each in found.plugins:
            key = (each.group, each.name)
            if each.name in plugins.names(each.group) or key in self._own:
                other = plugins.origin(*key) or self._own[key].origin
                self.problems[each.folder] = (
                    f'The {KINDS[each.group]} "{each.name}" is there already, from {other}: give this one another name.'
                )
            else:
                self._own[key] = each

    @property
    def home_plugins(self) -> tuple[HomePlugin, ...]:
        """The usable plugins of the home's folder."""
        return tuple(self._own.values())

    @property
    def broken(self) -> dict[PluginKey, str]:
        """The plugins that are off, and why."""
        return {key: str(found) for key, found in self._loaded.items() if isinstance(found, PluginError)}

    def names(self, group: PluginGroup) -> tuple[str, ...]:
        """List the plugins of a group, sorted; imports none."""
        own = {name for kind, name in self._own if kind == group}
        return tuple(sorted({*plugins.names(group), *own})) if own else plugins.names(group)

    def origin(self, group: PluginGroup, name: str) -> str:
        """Name the package or the folder that a plugin is from."""
        own = self._own.get((group, name))
        return own.origin if own else plugins.origin(group, name)

    def is_foreign(self, group: PluginGroup, name: str) -> bool:
        """Return whether a plugin does not ship with KenoBot."""
        return (group, name) in self._own or plugins.is_foreign(group, name)

    def may_lack(self, group: PluginGroup, name: str) -> bool:
        """Return whether the bot starts without a plugin that is broken: any that does not ship, and every tool."""
        return group == "kenobot.tools" or self.is_foreign(group, name)

    def is_off(self, name: str) -> bool:
        """Return whether a plugin of that name stands in the home's folder, and is broken or not enabled."""
        return name in self.problems or name in self.others

    def explain(self, folder: str) -> str:
        """Return why a plugin of the home's folder is off: what its import raises, where it does not say what it is."""
        if (source := self._unsaid.pop(folder, None)) is not None:
            try:
                with self.guard.watch(f"plugin.{folder}", f'The plugin "{folder}" (plugins/{folder})'):
                    import_source(module_name(folder), source)
            except PluginError as error:
                self.problems[folder] = str(error)
        return self.problems[folder]

    def load(self, group: PluginGroup, name: str) -> Plugin[Any, Any]:
        """Import one plugin.

        Raises ConfigError when there is none of that name, PluginError when it cannot be used.
        """
        if not self.is_foreign(group, name):
            if name not in self.names(group):
                if name in self.problems:
                    raise PluginError(self.explain(name))
                raise ConfigError(plugins.unknown_plugin(group, name, self.names(group)))
            return plugins.load(group, name)
        key = (group, name)
        if key not in self._loaded:
            try:
                self._loaded[key] = self._import(group, name)
            except PluginError as error:
                self.disable(group, name, error)
        found = self._loaded[key]
        if isinstance(found, PluginError):
            raise found
        return found

    def _import(self, group: PluginGroup, name: str) -> Plugin[Any, Any]:
        entry = self._own.get((group, name)) or plugins.find(group, name)
        target = self._watch(group, name, entry.load)
        return plugins.require_plugin(group, name, target, partial(self.origin, group, name), entry.value)

    def build(self, group: PluginGroup, name: str, settings: object, context: PluginContext) -> Any:
        """Build a plugin that was loaded. Raises ConfigError or PluginError."""
        plugin = self.load(group, name)
        if not self.is_foreign(group, name):
            return self._build_ours(group, name, partial(plugin.build, settings, context))
        signals = PluginSignals(context.signals, partial(self._turn_off, group, name))
        context = replace(context, signals=signals)
        try:
            built = self._watch(group, name, lambda: plugin.build(settings, context))
            if problem := self._watch(group, name, lambda: _misfit(group, name, built)):
                raise PluginError("plugins.misfit", described=self._describe(group, name), problem=problem)
        except PluginError as error:
            self.disable(group, name, error)
            raise
        return built

    def _build_ours(self, group: PluginGroup, name: str, build: Callable[[], Any]) -> Any:
        """Build a plugin that ships. Raises ConfigError; for a tool PluginError, without which the bot starts."""
        if not self.may_lack(group, name):
            return build()
        try:
            return build()
        except (ConfigError, ImportError, OSError) as error:
            problem = PluginError(str(error))
            self.disable(group, name, problem)
            raise problem from error

    def _turn_off(self, group: PluginGroup, name: str, why: str) -> None:
        """Note that a plugin is off from now on, because it fails while the bot runs."""
        error = PluginError("plugins.turned_off", described=self._describe(group, name), why=why)
        _log.error("%s It hears nothing more until the next start.", error)
        self.disable(group, name, error)

    def disable(self, group: PluginGroup, name: str, error: PluginError) -> None:
        """Remember that a plugin is off, and why."""
        self._loaded[group, name] = error

    def check(self, group: PluginGroup, name: str, validate: Callable[[], T]) -> T:
        """Run the validators of a plugin's settings, contained where they do not ship. Raises PluginError."""
        return self._watch(group, name, validate) if self.is_foreign(group, name) else validate()

    def _watch(self, group: PluginGroup, name: str, work: Callable[[], T]) -> T:
        with self.guard.watch(f"{KINDS[group]}.{name}", self._describe(group, name)):
            return work()

    def _describe(self, group: PluginGroup, name: str) -> str:
        return f'The {KINDS[group]} "{name}" ({self.origin(group, name)})'


def _misfit(group: PluginGroup, name: str, built: object) -> str:
    """Say what an instance lacks of its seam; "" when it fits."""
    seam = _SEAMS.get(group)
    members = [member for member in vars(seam) if not member.startswith("_")] if seam else []
    missing = [member for member in members if not hasattr(built, member)]
    if missing:
        return f"built a {type(built).__name__}, which lacks {', '.join(missing)}"
    own = getattr(built, "name", name) if group in _NAMED_ALIKE else name
    return "" if own == name else f'calls itself "{own}": its name and that of its entry point must be the same'
