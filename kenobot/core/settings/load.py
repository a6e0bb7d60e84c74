"""Load settings: shipped defaults < kenobot.toml < environment < credential files.

Fail closed: an unknown key, a value of the wrong kind or out of range stops KenoBot, with one plain line each.
"""

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from kenobot.core import home_plugins, plugins
from kenobot.core.plugin_catalogue import PluginCatalogue
from kenobot.core.plugin_guard import PluginGuard
from kenobot.core.plugins import PluginGroup
from kenobot.core.redaction import Redactor
from kenobot.core.settings import explain, sources, workspaces
from kenobot.core.settings.home import Home
from kenobot.core.settings.older import KeyPath, OlderKey, list_older, warn_of
from kenobot.core.settings.schema import (
    DEFAULT_TOOLS,
    AccessSettings,
    BackupSettings,
    BotSettings,
    BudgetSettings,
    ContextSettings,
    ExpertsSettings,
    ExtractionSettings,
    HomePluginsSettings,
    LogSettings,
    MediaSettings,
    MemorySettings,
    MessagesSettings,
    ModelsSettings,
    PluginsSettings,
    PostProcessorsSettings,
    ProviderSettings,
    SleepSettings,
    ToolsSettings,
    TranscriberSettings,
    UpdateSettings,
    WatchSettings,
    split_lists,
)
from kenobot.core.settings.sources import PLUGIN_SECTIONS
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.ports.frozen import dataclass
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.sentences import Sentence, change_values, join_sentences

if TYPE_CHECKING:
    from kenobot.core.settings.mcp import McpServerSettings

    McpServers = dict[str, McpServerSettings]
else:
    McpServers = dict[str, Any]  # its module is imported where there is a server

_log = logging.getLogger(__name__)

ModelT = TypeVar("ModelT", bound=BaseModel)

_WRONG_KEYS = explain.NOT_A_TABLE | {"extra_forbidden", "unknown_key"}
"""Mistakes that stop a start in the tables of tools and MCP servers, too; others leave out the one that they are in."""

_NAMED: Mapping[PluginGroup, KeyPath] = {
    "kenobot.providers": ("provider", "name"),
    "kenobot.embedders": ("memory", "embedder"),
    "kenobot.transcribers": ("transcriber", "name"),
}


class Settings(BaseModel):
    """All settings. Plugins' tables are kept raw: each is validated by that plugin's own model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot: BotSettings = BotSettings()
    provider: ProviderSettings = ProviderSettings()
    providers: dict[str, dict[str, Any]] = Field(default_factory=dict)  # bounded: the settings; start
    embedders: dict[str, dict[str, Any]] = Field(default_factory=dict)  # bounded: the settings; start
    transcribers: dict[str, dict[str, Any]] = Field(default_factory=dict)  # bounded: the settings; start
    channels: PluginsSettings = PluginsSettings()
    postprocessors: PostProcessorsSettings = PostProcessorsSettings()
    observers: PluginsSettings = PluginsSettings()
    tools: ToolsSettings = ToolsSettings()
    mcp: McpServers = Field(default_factory=dict)  # bounded: the settings; start
    plugins: HomePluginsSettings = HomePluginsSettings()
    context: ContextSettings = ContextSettings()
    memory: MemorySettings = MemorySettings()
    models: ModelsSettings = ModelsSettings()
    experts: ExpertsSettings = ExpertsSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    sleep: SleepSettings = SleepSettings()
    budget: BudgetSettings = BudgetSettings()
    access: AccessSettings = AccessSettings()
    messages: MessagesSettings = MessagesSettings()
    media: MediaSettings = MediaSettings()
    backup: BackupSettings = BackupSettings()
    update: UpdateSettings = UpdateSettings()
    transcriber: TranscriberSettings = TranscriberSettings()
    watch: WatchSettings = WatchSettings()
    log: LogSettings = LogSettings()

    def plugin_tables(self, group: PluginGroup) -> dict[str, dict[str, Any]]:
        """Return the raw tables of a group's plugins, by name."""
        section: PluginsSettings | dict[str, dict[str, Any]] = getattr(self, group.removeprefix("kenobot."))
        return section if isinstance(section, dict) else section.__pydantic_extra__

    def list_enabled_plugins(self, group: PluginGroup) -> tuple[str, ...]:
        """Name the plugins of a group that the configuration switches on."""
        match group:
            case "kenobot.providers":
                others = (*self.provider.fallbacks, *filter(None, [self.models.cheap]))
                return (self.provider.name, *(model.partition(":")[0] for model in others))
            case "kenobot.embedders":
                return tuple({self.memory.embedder} - {"auto", "none"})
            case "kenobot.transcribers":
                return tuple({self.transcriber.name} - {"none"})
            case _:
                section: PluginsSettings = getattr(self, group.removeprefix("kenobot."))
                return section.enabled


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """Valid settings, and the origin of each dotted key: "file PATH", "environment NAME" or "credential PATH".

    left_out: by section, such as `mcp.files`, why an MCP server, a workspace or a tool that ships is off.
    older: the keys of older releases that are set.
    """

    settings: Settings
    origins: Mapping[str, str]
    plugin_models: tuple[BaseModel, ...] = ()
    catalogue: PluginCatalogue = field(default_factory=PluginCatalogue)
    left_out: Mapping[str, str] = field(default_factory=dict)  # bounded: the settings; start
    older: tuple[OlderKey, ...] = ()

    def origin(self, key: str) -> str:
        """Return the origin of a dotted key's value, or "default"."""
        return self.origins.get(key, "default")

    def plugin_settings(self, group: PluginGroup, name: str, model: type[ModelT]) -> ModelT:
        """Validate a plugin's table as its own model.

        Raises ConfigError, one line a mistake; PluginError in its place for a plugin without which the bot starts.
        """
        value, mistakes, _ = self.catalogue.check(group, name, lambda: _validate(self, group, name, model))
        if value is None or mistakes:
            said = join_sentences(mistakes)
            raise PluginError(said) if self.catalogue.may_lack(group, name) else ConfigError(said)
        return value

    def build_plugin(
        self, group: PluginGroup, name: str, context: PluginContext, model: str = "", key: str = ""
    ) -> Any:
        """Build a plugin from its table, and for another `model` than there. key: the key that names the model.

        Raises ConfigError or PluginError.
        """
        plugin = self.catalogue.load(group, name)
        settings = self.plugin_settings(group, name, plugin.settings)
        if model:
            if "model" not in type(settings).model_fields:
                raise ConfigError("settings.provider_without_models", setting=key, provider=name)
            settings = settings.model_copy(update={"model": model})
        return self.catalogue.build(group, name, settings, context)

    def secrets(self) -> Iterator[str]:
        """Yield every secret in plain text, for redaction."""
        tables = [self.settings.plugin_tables(group) for group in PLUGIN_SECTIONS.values()]
        servers = [dict(server.secrets) for server in self.settings.mcp.values()]
        yield from dict.fromkeys(_secrets([*tables, *servers, *map(dict, self.plugin_models)]))


def load_settings(
    home: Home,
    environ: Mapping[str, str],
    *,
    text: str | None = None,
    new_credentials: Mapping[str, str | None] | None = None,
    given: Mapping[str, Plugin[Any, Any]] | None = None,
) -> ResolvedSettings:
    """Load the settings of `home`. Raises ConfigError that lists every mistake. Changes nothing on disk.

    text, new_credentials: contents to try out before they are written as kenobot.toml and as credential files;
    None in the place of a secret does as if its file were not there.
    given: by name, plugins that a test hands over; they are on.
    """
    systemd = environ.get("CREDENTIALS_DIRECTORY")
    layers = (
        sources.from_file(home.config_file, text),
        sources.from_environment(environ),
        sources.from_credentials(home.credentials, new_credentials or {}, Path(systemd) if systemd else None),
    )
    origins = {key: origin for layer in layers for key, origin in layer.origins.items()}
    older = tuple(each for layer in layers for each in list_older(layer.older))
    for line in warn_of(older):
        _log.warning("%s", line)
    values: dict[str, Any] = {}
    for layer in layers:
        values = _deep_merge(values, layer.values)
    catalogue = _catalogue(home, values, given or {})
    for plugin in catalogue.home_plugins:
        _move_variables(values, origins, plugin.group.removeprefix("kenobot."), plugin.name)
    servers, left_out, wrong = _check_servers(values.pop("mcp", {}), origins)
    settings, mistakes = _validate_merged(values, origins)
    mistakes += wrong
    unusable = dict(workspaces.find_mistakes(settings.tools.workspaces, home.path, Path(systemd or home.path), origins))
    left_out |= {f"tools.workspaces.{name}": why for name, why in unusable.items()}
    settings = _leave_out_workspaces(settings, servers, unusable)
    loaded = ResolvedSettings(settings, origins, catalogue=catalogue)
    tables: list[BaseModel] = []
    for group in PLUGIN_SECTIONS.values():
        good, bad = _check_plugins(loaded, group)
        tables += good
        mistakes += bad
    if mistakes:
        raise ConfigError(join_sentences(mistakes))
    ours = {name: why for (group, name), why in catalogue.broken.items() if not catalogue.is_foreign(group, name)}
    left_out |= {f"tools.{name}": why for name, why in ours.items()}
    shown = {key: origin for key, origin in origins.items() if not key.endswith(".")}
    return ResolvedSettings(settings, shown, tuple(tables), catalogue, left_out, older)


def require_no_more_left_out(before: ResolvedSettings, after: ResolvedSettings) -> ResolvedSettings:
    """Return changed settings. Raises ConfigError where a tool or an MCP server is off by the change."""
    new = [why for section, why in after.left_out.items() if before.left_out.get(section) != why]
    if new:
        raise ConfigError(join_sentences(new))
    return after


def _check_servers(tables: object, origins: Mapping[str, str]) -> tuple["McpServers", dict[str, str], list[str]]:
    """Validate the MCP servers. Returns those that are usable, why others are not, and a line for each wrong key."""
    if not tables:
        return {}, {}, []
    if not isinstance(tables, dict):
        return {}, {}, [explain.with_origin(("mcp",), origins, explain.tell_section("mcp"))]
    from kenobot.core.settings.mcp import McpServerSettings, check_server_name  # noqa: PLC0415

    good: McpServers = {}
    left_out: dict[str, str] = {}
    wrong: list[str] = []
    for name, table in tables.items():
        at = ("mcp", name)
        try:
            good[check_server_name(name)] = McpServerSettings.model_validate(table)
        except ValidationError as error:
            known = list(explain.list_dotted_keys(McpServerSettings, at))
            lines = explain.explain(error, BaseModel, origins, known, at)  # which shows no value: some hold secrets
            if any(detail["type"] in _WRONG_KEYS for detail in error.errors()):
                wrong += lines
            else:
                left_out[".".join(at)] = join_sentences(lines)
        except ValueError as error:
            told = Sentence("settings.problem", place=f"mcp.{name}", problem=str(error))
            wrong.append(explain.with_origin(at, origins, told))
    return good, left_out, wrong


def _leave_out_workspaces(settings: Settings, servers: "McpServers", unusable: Collection[str]) -> Settings:
    """Return settings with these MCP servers, and without the workspaces that cannot be used."""
    kept = {name: each for name, each in settings.tools.workspaces.items() if name not in unusable}
    tools = settings.tools.model_copy(update={"workspaces": kept})
    return settings.model_copy(update={"mcp": servers, "tools": tools})


def _catalogue(home: Home, values: dict[str, Any], given: Mapping[str, Plugin[Any, Any]]) -> PluginCatalogue:
    """Find the plugins of the home that `values` enable, and switch them on in there, with those that are given."""
    guard = PluginGuard(home.plugin_markers)
    try:
        table = values.get("plugins", {})
        enabled = HomePluginsSettings.model_validate(table).enabled
    except ValidationError:  # told by the validation of all settings
        enabled = ()
    found = home_plugins.find(home.plugins, enabled)
    handed = (home_plugins.describe_given(name, plugin) for name, plugin in given.items())
    catalogue = PluginCatalogue(replace(found, plugins=(*found.plugins, *handed)), guard)
    for plugin in catalogue.home_plugins:
        section = plugin.group.removeprefix("kenobot.")
        default = Settings.model_fields[section].default
        if isinstance(default, PluginsSettings):
            table = values.setdefault(section, {})
            listed = split_lists(type(default), {"enabled": default.enabled, **table})["enabled"]
            if isinstance(listed, list | tuple) and plugin.name not in listed:
                table["enabled"] = [*listed, plugin.name]
    return catalogue


def _move_variables(values: dict[str, Any], origins: dict[str, str], section: str, name: str) -> None:
    """Move the environment's values for a home's plugin under its name, whose dashes no variable can have.

    That of an installed one is known while variables are read. A credential file still counts before a variable.
    """
    written = name.lower().replace("-", "_")
    tables = values.get(section, {})
    if written == name or not isinstance(tables, dict) or not isinstance(tables.get(written), dict):
        return
    for key in list(tables[written]):
        former, now = f"{section}.{written}.{key}", f"{section}.{name}.{key}"
        if not origins.get(former, "").startswith("environment "):
            continue
        value, origin = tables[written].pop(key), origins.pop(former)
        if not origins.get(now, "").startswith("credential "):
            tables.setdefault(name, {})[key] = value
            origins[now] = origin
    if not tables[written]:
        del tables[written]


def _validate_merged(values: dict[str, Any], origins: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """Validate merged values; sections with mistakes keep their defaults."""
    try:
        return Settings.model_validate(values), []
    except ValidationError as error:
        mistakes = explain.explain(error, Settings, origins, list(explain.list_dotted_keys(Settings)))
        spoilt = {detail["loc"][0] for detail in error.errors()}
        return Settings.model_validate({key: value for key, value in values.items() if key not in spoilt}), mistakes


def _deep_merge(weaker: dict[str, Any], stronger: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(weaker)
    for key, value in stronger.items():
        table = merged.get(key)
        merged[key] = _deep_merge(table, value) if isinstance(table, dict) and isinstance(value, dict) else value
    return merged


def _check_plugins(loaded: ResolvedSettings, group: PluginGroup) -> tuple[list[BaseModel], list[str]]:
    """Validate the tables of a group's plugins; returns the valid ones and a line for each mistake.

    A table of a plugin that is not switched on may be incomplete. A plugin that cannot be imported is skipped, so that
    the rest can run without it.
    """
    good: list[BaseModel] = []
    mistakes: list[str] = []
    section, catalogue = group.removeprefix("kenobot."), loaded.catalogue
    installed = catalogue.names(group)
    wanted, tables = loaded.settings.list_enabled_plugins(group), loaded.settings.plugin_tables(group)
    for name in dict.fromkeys((*wanted, *tables)):
        if name in installed:
            if group == "kenobot.tools" and name in DEFAULT_TOOLS and name not in tables:
                continue  # valid without settings, and imported only where a model calls tools
            try:
                value, bad = _check_table(loaded, group, name, complete=name in wanted)
            except PluginError:
                continue
            good += [value] if value else []
            mistakes += bad
        elif catalogue.is_off(name):
            continue
        elif name in wanted:
            key = _NAMED.get(group, (section, "enabled"))
            told = plugins.unknown_plugin(group, name, installed)
            mistakes.append(explain.with_origin(key, loaded.origins, told))
        elif not plugins.ships_apart(group, name):
            known = [f"{section}.{other}" for other in installed]
            mistakes.append(explain.unknown_key((section, name), tables[name], loaded.origins, known))
    return good, mistakes


def _check_table(
    loaded: ResolvedSettings, group: PluginGroup, name: str, complete: bool
) -> tuple[BaseModel | None, list[str]]:
    """Validate a plugin's table; mistakes in that of one without which the bot starts switch it off.

    Raises PluginError for such a one.
    """
    catalogue = loaded.catalogue
    model = catalogue.load(group, name).settings
    value, bad, has_wrong_keys = catalogue.check(group, name, lambda: _validate(loaded, group, name, model, complete))
    if bad and (catalogue.is_foreign(group, name) or (catalogue.may_lack(group, name) and not has_wrong_keys)):
        error = PluginError(join_sentences(bad))
        catalogue.disable(group, name, error)
        raise error
    return value, bad


def _validate(
    loaded: ResolvedSettings, group: PluginGroup, name: str, model: type[ModelT], complete: bool = True
) -> tuple[ModelT | None, list[str], bool]:
    """Validate a plugin's table as its model; unless `complete`, missing keys are no mistake.

    Returns the value, a line for each mistake, and whether one is a wrong key.
    """
    at = (group.removeprefix("kenobot."), name)
    table = loaded.settings.plugin_tables(group).get(name, {})
    known = list(explain.list_dotted_keys(model, at))
    stray = set() if model.model_config.get("extra") == "allow" else table.keys() - model.model_fields.keys()
    mistakes = [explain.unknown_key((*at, key), table[key], loaded.origins, known) for key in sorted(stray)]
    try:
        value = model.model_validate(split_lists(model, {key: v for key, v in table.items() if key not in stray}))
    except ValidationError as error:
        lines = explain.explain(error, model, loaded.origins, known, at)
        about = zip(lines, error.errors(), strict=True)
        mistakes += [line for line, detail in about if complete or (detail["loc"] and detail["type"] != "missing")]
        has_wrong_keys = bool(stray) or any(detail["type"] in _WRONG_KEYS for detail in error.errors())
        redact = Redactor(loaded.secrets()).redact_known
        return None, [change_values(mistake, redact) for mistake in mistakes], has_wrong_keys
    return (None if mistakes else value), mistakes, bool(stray)


def _secrets(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield from filter(None, [value.get_secret_value()])
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _secrets(inner)
