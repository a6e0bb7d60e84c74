"""What can be set, and how it is found: shipped defaults < kenobot.toml < environment < credential files.

Fail closed: a key that nobody knows, a value of the wrong kind or out of range stops KenoBot with one plain line each.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from kenobot.core import plugins
from kenobot.core.plugins import PluginGroup
from kenobot.core.redaction import Redactor
from kenobot.core.settings import explain, sources
from kenobot.core.settings.home import Home
from kenobot.core.settings.schema import (
    AccessSettings,
    BotSettings,
    ChannelsSettings,
    CompactionSettings,
    ContextSettings,
    ExtractionSettings,
    LogSettings,
    LoopSettings,
    MailSettings,
    MemorySettings,
    PostProcessorsSettings,
    ProviderSettings,
    SignalsSettings,
    SleepSettings,
    split_lists,
)
from kenobot.core.settings.sources import PLUGIN_SECTIONS, KeyPath, SettingsSource
from kenobot.ports.errors import ConfigError, PluginError

ModelT = TypeVar("ModelT", bound=BaseModel)

_NAMED: Mapping[PluginGroup, KeyPath] = {
    "kenobot.providers": ("provider", "name"),
    "kenobot.embedders": ("memory", "embedder"),
}


class Settings(BaseSettings):
    """Everything that can be set. Plugins' tables are kept raw: each is validated by that plugin's own model."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    bot: BotSettings = BotSettings()
    provider: ProviderSettings = ProviderSettings()
    providers: dict[str, dict[str, Any]] = Field(default_factory=dict)
    embedders: dict[str, dict[str, Any]] = Field(default_factory=dict)
    channels: ChannelsSettings = ChannelsSettings()
    postprocessors: PostProcessorsSettings = PostProcessorsSettings()
    context: ContextSettings = ContextSettings()
    memory: MemorySettings = MemorySettings()
    extraction: ExtractionSettings = ExtractionSettings()
    compaction: CompactionSettings = CompactionSettings()
    sleep: SleepSettings = SleepSettings()
    access: AccessSettings = AccessSettings()
    mail: MailSettings = MailSettings()
    loop: LoopSettings = LoopSettings()
    signals: SignalsSettings = SignalsSettings()
    log: LogSettings = LogSettings()

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is handed in. By itself pydantic-settings would read variables called LOG or MEMORY."""
        return (init_settings,)

    def plugin_tables(self, group: PluginGroup) -> dict[str, dict[str, Any]]:
        """The raw tables of that group's plugins, by name."""
        if group in _NAMED:
            return self.providers if group == "kenobot.providers" else self.embedders
        room = self.channels if group == "kenobot.channels" else self.postprocessors
        return room.__pydantic_extra__ or {}

    def enabled_plugins(self, group: PluginGroup) -> tuple[str, ...]:
        """The plugins of that group that the configuration switches on."""
        if group == "kenobot.providers":
            asked = (*self.provider.fallbacks, *filter(None, [self.extraction.model]))
            return (self.provider.name, *(written.partition(":")[0] for written in asked))
        if group == "kenobot.embedders":
            return tuple({self.memory.embedder} - {"auto", "none"})
        return self.channels.enabled if group == "kenobot.channels" else self.postprocessors.enabled


class _Source(PydanticBaseSettingsSource):
    """A layer, handed to pydantic-settings."""

    def __init__(self, settings: type[BaseSettings], layer: SettingsSource) -> None:
        super().__init__(settings)
        self._layer = layer

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._layer.values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return self._layer.values


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """Valid settings, and of each dotted key "default", "file PATH", "environment NAME" or "credential PATH"."""

    settings: Settings
    origins: Mapping[str, str]
    plugin_models: tuple[BaseModel, ...] = ()

    def origin(self, key: str) -> str:
        """Where the value of a dotted key comes from."""
        return self.origins.get(key, "default")

    def plugin_settings(self, group: PluginGroup, name: str, model: type[ModelT]) -> ModelT:
        """That plugin's table as its own model. Raises ConfigError, one line a mistake."""
        value, mistakes = _validate(self, group, name, model)
        if value is None:
            raise ConfigError("\n".join(mistakes))
        return value

    def secrets(self) -> Iterator[str]:
        """Every secret in plain text, for blotting it out of what is written down."""
        held = [self.settings.plugin_tables(group) for group in PLUGIN_SECTIONS.values()] + [
            dict(table) for table in self.plugin_models
        ]
        yield from dict.fromkeys(secret for table in held for secret in _secrets(table))


def load_settings(
    home: Home, environ: Mapping[str, str], *, text: str | None = None, new_credentials: Mapping[str, str] | None = None
) -> ResolvedSettings:
    """The settings of `home`. Raises ConfigError that lists every mistake. Changes nothing on disk.

    text, new_credentials: what is about to be written as kenobot.toml and as credential files, to try it out before.
    """
    systemd = environ.get("CREDENTIALS_DIRECTORY")
    found = (
        sources.from_file(home.config_file, text),
        sources.from_environment(environ),
        sources.from_credentials(home.credentials, new_credentials or {}, Path(systemd) if systemd else None),
    )
    origins = {key: origin for layer in found for key, origin in layer.origins.items()}
    settings, mistakes = _merge(found, origins)
    loaded = ResolvedSettings(settings, origins)
    tables: list[BaseModel] = []
    for group in PLUGIN_SECTIONS.values():
        good, bad = _check_plugins(loaded, group)
        tables += good
        mistakes += bad
    if mistakes:
        raise ConfigError("\n".join(mistakes))
    return ResolvedSettings(
        settings, {key: origin for key, origin in origins.items() if not key.endswith(".")}, tuple(tables)
    )


def _merge(found: tuple[SettingsSource, ...], origins: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings that the layers, weakest first, come to; sections with mistakes keep their defaults."""
    try:
        return _layered(found)(), []
    except ValidationError as error:
        mistakes = explain.explain(error, Settings, origins, list(explain.dotted_keys(Settings)))
        spoilt = {detail["loc"][0] for detail in error.errors()}
        rest = tuple(
            SettingsSource({key: v for key, v in layer.values.items() if key not in spoilt}) for layer in found
        )
        return _layered(rest)(), mistakes


def _layered(found: tuple[SettingsSource, ...]) -> type[Settings]:
    class Layered(Settings):
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return tuple(_Source(settings_cls, layer) for layer in reversed(found))

    return Layered


def _check_plugins(loaded: ResolvedSettings, group: PluginGroup) -> tuple[list[BaseModel], list[str]]:
    """The valid tables of that group's plugins, and what is wrong with the others.

    A table of a plugin that is not switched on may be incomplete. A plugin that cannot be imported is left to whoever
    starts it: the rest shall run without it.
    """
    good: list[BaseModel] = []
    mistakes: list[str] = []
    section, installed = group.removeprefix("kenobot."), plugins.names(group)
    wanted, tables = loaded.settings.enabled_plugins(group), loaded.settings.plugin_tables(group)
    for name in dict.fromkeys((*wanted, *tables)):
        if name in installed:
            try:
                model = plugins.load(group, name).settings
            except PluginError:
                continue
            value, bad = _validate(loaded, group, name, model, complete=name in wanted)
            good += [value] if value else []
            mistakes += bad
        elif name in wanted:
            key = _NAMED.get(group, (section, "enabled"))
            mistakes.append(explain.origin_prefix(key, loaded.origins) + plugins.unknown_plugin(group, name))
        else:
            known = [f"{section}.{other}" for other in installed]
            mistakes.append(explain.unknown_key((section, name), tables[name], loaded.origins, known))
    return good, mistakes


def _validate(
    loaded: ResolvedSettings, group: PluginGroup, name: str, model: type[ModelT], complete: bool = True
) -> tuple[ModelT | None, list[str]]:
    """A plugin's table as its model, or what is wrong with it; unless `complete`, what it lacks is not."""
    at = (group.removeprefix("kenobot."), name)
    table = loaded.settings.plugin_tables(group).get(name, {})
    known = list(explain.dotted_keys(model, at))
    stray = set() if model.model_config.get("extra") == "allow" else table.keys() - model.model_fields.keys()
    mistakes = [explain.unknown_key((*at, key), table[key], loaded.origins, known) for key in sorted(stray)]
    try:
        value = model.model_validate(split_lists(model, {key: v for key, v in table.items() if key not in stray}))
    except ValidationError as error:
        lines = explain.explain(error, model, loaded.origins, known, at)
        about = zip(lines, error.errors(), strict=True)
        mistakes += [line for line, detail in about if complete or (detail["loc"] and detail["type"] != "missing")]
        return None, list(map(Redactor(loaded.secrets()).redact_known, mistakes))
    return (None if mistakes else value), mistakes


def _secrets(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield from filter(None, [value.get_secret_value()])
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _secrets(inner)
