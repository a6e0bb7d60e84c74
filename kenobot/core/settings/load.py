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
from kenobot.core.plugins import Group
from kenobot.core.redaction import Redactor
from kenobot.core.settings import explain, sources
from kenobot.core.settings.home import Home
from kenobot.core.settings.schema import (
    Access,
    Bot,
    Channels,
    Compaction,
    Context,
    Extraction,
    Log,
    Loop,
    Mail,
    Memory,
    PostProcessors,
    ProviderChoice,
    Signals,
    Sleep,
    split_lists,
)
from kenobot.core.settings.sources import ROOMS, Key, Layer
from kenobot.ports.errors import ConfigError, PluginError

ModelT = TypeVar("ModelT", bound=BaseModel)

_NAMED: Mapping[Group, Key] = {"kenobot.providers": ("provider", "name"), "kenobot.embedders": ("memory", "embedder")}


class Settings(BaseSettings):
    """Everything that can be set. Plugins' tables are kept raw: each is validated by that plugin's own model."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    bot: Bot = Bot()
    provider: ProviderChoice = ProviderChoice()
    providers: dict[str, dict[str, Any]] = Field(default_factory=dict)
    embedders: dict[str, dict[str, Any]] = Field(default_factory=dict)
    channels: Channels = Channels()
    postprocessors: PostProcessors = PostProcessors()
    context: Context = Context()
    memory: Memory = Memory()
    extraction: Extraction = Extraction()
    compaction: Compaction = Compaction()
    sleep: Sleep = Sleep()
    access: Access = Access()
    mail: Mail = Mail()
    loop: Loop = Loop()
    signals: Signals = Signals()
    log: Log = Log()

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is handed in. By itself pydantic-settings would read variables called LOG or MEMORY."""
        return (init_settings,)

    def tables(self, group: Group) -> dict[str, dict[str, Any]]:
        """The raw tables of that group's plugins, by name."""
        if group in _NAMED:
            return self.providers if group == "kenobot.providers" else self.embedders
        room = self.channels if group == "kenobot.channels" else self.postprocessors
        return room.__pydantic_extra__ or {}

    def wanted(self, group: Group) -> tuple[str, ...]:
        """The plugins of that group that the configuration switches on."""
        if group == "kenobot.providers":
            asked = (*self.provider.fallbacks, *filter(None, [self.extraction.model]))
            return (self.provider.name, *(written.partition(":")[0] for written in asked))
        if group == "kenobot.embedders":
            return tuple({self.memory.embedder} - {"auto", "none"})
        return self.channels.enabled if group == "kenobot.channels" else self.postprocessors.enabled


class _Source(PydanticBaseSettingsSource):
    """A layer, handed to pydantic-settings."""

    def __init__(self, settings: type[BaseSettings], layer: Layer) -> None:
        super().__init__(settings)
        self._layer = layer

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._layer.values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return self._layer.values


@dataclass(frozen=True, slots=True)
class Loaded:
    """Valid settings, and of each dotted key "default", "file PATH", "environment NAME" or "credential PATH"."""

    settings: Settings
    origins: Mapping[str, str]
    tables: tuple[BaseModel, ...] = ()

    def origin(self, key: str) -> str:
        """Where the value of a dotted key comes from."""
        return self.origins.get(key, "default")

    def plugin(self, group: Group, name: str, model: type[ModelT]) -> ModelT:
        """That plugin's table as its own model. Raises ConfigError, one line a mistake."""
        value, mistakes = _validate(self, group, name, model)
        if value is None:
            raise ConfigError("\n".join(mistakes))
        return value

    def secrets(self) -> Iterator[str]:
        """Every secret in plain text, for blotting it out of what is written down."""
        held = [self.settings.tables(group) for group in ROOMS.values()] + [dict(table) for table in self.tables]
        yield from dict.fromkeys(secret for table in held for secret in _secrets(table))


def load(
    home: Home, environ: Mapping[str, str], *, text: str | None = None, given: Mapping[str, str] | None = None
) -> Loaded:
    """The settings of `home`. Raises ConfigError that lists every mistake. Changes nothing on disk.

    text, given: what is about to be written as kenobot.toml and as credential files, to try it out before.
    """
    systemd = environ.get("CREDENTIALS_DIRECTORY")
    found = (
        sources.from_file(home.config_file, text),
        sources.from_environment(environ),
        sources.from_credentials(home.credentials, given or {}, Path(systemd) if systemd else None),
    )
    origins = {key: origin for layer in found for key, origin in layer.origins.items()}
    settings, mistakes = _merge(found, origins)
    loaded = Loaded(settings, origins)
    tables: list[BaseModel] = []
    for group in ROOMS.values():
        good, bad = _check_plugins(loaded, group)
        tables += good
        mistakes += bad
    if mistakes:
        raise ConfigError("\n".join(mistakes))
    return Loaded(settings, {key: origin for key, origin in origins.items() if not key.endswith(".")}, tuple(tables))


def _merge(found: tuple[Layer, ...], origins: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings that the layers, weakest first, come to; sections with mistakes keep their defaults."""
    try:
        return _layered(found)(), []
    except ValidationError as error:
        mistakes = explain.explain(error, Settings, origins, list(explain.keys(Settings)))
        spoilt = {detail["loc"][0] for detail in error.errors()}
        rest = tuple(Layer({key: v for key, v in layer.values.items() if key not in spoilt}) for layer in found)
        return _layered(rest)(), mistakes


def _layered(found: tuple[Layer, ...]) -> type[Settings]:
    class Layered(Settings):
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return tuple(_Source(settings_cls, layer) for layer in reversed(found))

    return Layered


def _check_plugins(loaded: Loaded, group: Group) -> tuple[list[BaseModel], list[str]]:
    """The valid tables of that group's plugins, and what is wrong with the others.

    A table of a plugin that is not switched on may be incomplete. A plugin that cannot be imported is left to whoever
    starts it: the rest shall run without it.
    """
    good: list[BaseModel] = []
    mistakes: list[str] = []
    section, installed = group.removeprefix("kenobot."), plugins.names(group)
    wanted, tables = loaded.settings.wanted(group), loaded.settings.tables(group)
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
            mistakes.append(explain.where(key, loaded.origins) + plugins.unknown(group, name))
        else:
            known = [f"{section}.{other}" for other in installed]
            mistakes.append(explain.unknown((section, name), tables[name], loaded.origins, known))
    return good, mistakes


def _validate(
    loaded: Loaded, group: Group, name: str, model: type[ModelT], complete: bool = True
) -> tuple[ModelT | None, list[str]]:
    """A plugin's table as its model, or what is wrong with it; unless `complete`, what it lacks is not."""
    at = (group.removeprefix("kenobot."), name)
    table = loaded.settings.tables(group).get(name, {})
    known = list(explain.keys(model, at))
    stray = set() if model.model_config.get("extra") == "allow" else table.keys() - model.model_fields.keys()
    mistakes = [explain.unknown((*at, key), table[key], loaded.origins, known) for key in sorted(stray)]
    try:
        value = model.model_validate(split_lists(model, {key: v for key, v in table.items() if key not in stray}))
    except ValidationError as error:
        lines = explain.explain(error, model, loaded.origins, known, at)
        about = zip(lines, error.errors(), strict=True)
        mistakes += [line for line, detail in about if complete or (detail["loc"] and detail["type"] != "missing")]
        return None, list(map(Redactor(loaded.secrets()).known, mistakes))
    return (None if mistakes else value), mistakes


def _secrets(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield from filter(None, [value.get_secret_value()])
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _secrets(inner)
