"""The settings: keys, types, ranges and defaults. `config/kenobot.toml` explains each."""

import difflib
import zoneinfo
from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Any, Literal, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kenobot.core.pattern_set import PatternSet
from kenobot.core.quiet_hours import QuietHours
from kenobot.core.settings.sources import EnvValue
from kenobot.ports.sentences import Sentence


def _check_timezone(name: str) -> str:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = difflib.get_close_matches(name, zoneinfo.available_timezones(), n=1)
        told = Sentence("settings.bad_zone_near", near=near[0]) if near else Sentence("settings.bad_zone")
        raise ValueError(told) from error
    return name


def _check_hours(text: str) -> str:
    QuietHours.parse(text, zoneinfo.ZoneInfo("UTC"))
    return text


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _no_repeats(names: tuple[str, ...]) -> tuple[str, ...]:
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(Sentence("settings.twice", name=twice[0]))
    return names


def split_lists(model: type[BaseModel], table: Mapping[str, Any]) -> dict[str, Any]:
    """Split `a, b` from an environment variable where `model` wants a list; blanks fall away."""
    split = dict(table)
    for name, field in model.model_fields.items():
        value = split.get(name)
        if isinstance(value, EnvValue) and get_origin(field.annotation) in {list, tuple, set, frozenset}:
            split[name] = [item.strip() for item in value.split(",") if item.strip()]
    return split


UniqueNames = Annotated[tuple[str, ...], AfterValidator(_no_repeats)]
NonEmptyText = Annotated[str, Field(min_length=1)]


class SettingsModel(BaseModel):
    """One table of the file. A switch is not a number, though Python thinks so."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _split_lists(cls, table: object) -> object:
        return split_lists(cls, table) if isinstance(table, dict) else table

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch_for_a_number(cls, value: object, about: ValidationInfo) -> object:
        wanted = cls.model_fields[about.field_name].annotation if about.field_name in cls.model_fields else None
        if isinstance(value, bool) and wanted is not bool:
            raise PydanticCustomError("switch_type", "true and false mean nothing here")
        return value


class BotSettings(SettingsModel):
    name: NonEmptyText = "KenoBot"
    timezone: Annotated[str, AfterValidator(_check_timezone)] = "UTC"
    language: Annotated[Literal["auto", "en", "es"], BeforeValidator(_lower)] = "auto"


class ProviderSettings(SettingsModel):
    name: NonEmptyText = "offline"
    max_tokens: int = Field(4096, ge=1, le=64_000)
    fallbacks: UniqueNames = ()


class PluginsSettings(SettingsModel, extra="allow"):
    """The tables beside `enabled` belong to the plugins they are named after."""

    __pydantic_extra__: dict[str, dict[str, Any]] = Field(init=False)
    enabled: UniqueNames = ()


class PostProcessorsSettings(PluginsSettings):
    enabled: UniqueNames = (
        "memory",
        "chat-memory",
        "working-memory",
        "user-update",
        "chat-context",
        "bootstrap-complete",
    )


class WorkspaceSettings(SettingsModel):
    """A folder of the owner's for tools; its path alone stands for one that may be changed."""

    path: str = Field(min_length=1, max_length=4096)
    read_only: bool = False

    @model_validator(mode="before")
    @classmethod
    def _take_path(cls, table: object) -> object:
        return {"path": table} if isinstance(table, str) else table


class ToolRule(SettingsModel):
    """Rule for the calls of a tool. Patterns have the wildcards of file names.

    arguments: by name; all of them must match. where: the kind of chat.
    """

    tool: NonEmptyText
    decision: Literal["allow", "ask", "deny"]
    arguments: dict[str, str] = Field(default_factory=dict)  # bounded: the settings; start
    where: Literal["anywhere", "private", "group"] = "anywhere"


DEFAULT_TOOLS = (
    "clock",
    "memory_search",
    "memory_why",
    "memory_forget",
    "agenda",
    "remind",
    "cancel_reminder",
    "web_fetch",
    "web_search",
    "read_skill",
    "background",
)
"""The tools that are on without a setting; in `enabled`, "default" stands for them."""


def _expand_default(names: tuple[str, ...]) -> tuple[str, ...]:
    expanded = (DEFAULT_TOOLS if name == "default" else (name,) for name in names)
    return tuple(dict.fromkeys(chain.from_iterable(expanded)))


class ToolsSettings(PluginsSettings):
    enabled: Annotated[UniqueNames, AfterValidator(_expand_default)] = DEFAULT_TOOLS
    rules: tuple[ToolRule, ...] = ()
    workspaces: dict[str, WorkspaceSettings] = Field(default_factory=dict)  # bounded: the settings; start
    calls_a_day: int = Field(500, ge=1, le=100_000)


class HomePluginsSettings(SettingsModel):
    """Plugins of the home's own folder."""

    enabled: UniqueNames = ()


class ContextSettings(SettingsModel):
    budget_tokens: int = Field(24_000, ge=2000, le=1_000_000)
    memory_tokens: int = Field(6000, ge=0, le=500_000)

    @model_validator(mode="after")
    def _fits(self) -> "ContextSettings":
        if self.memory_tokens > self.budget_tokens:
            raise ValueError(
                Sentence(
                    "settings.memory_over_budget", memory_tokens=self.memory_tokens, budget_tokens=self.budget_tokens
                )
            )
        return self


class MemorySettings(SettingsModel):
    embedder: NonEmptyText = "auto"
    reranker: Annotated[Literal["none", "model"], BeforeValidator(_lower)] = "none"
    ask_changes: int = Field(5, ge=0, le=50)


class ModelsSettings(SettingsModel):
    cheap: str = ""


class ExpertsSettings(SettingsModel):
    queries: Annotated[Literal["none", "several", "all"], BeforeValidator(_lower)] = "none"


class ExtractionSettings(SettingsModel):
    enabled: bool = True
    patterns: UniqueNames = ()

    @field_validator("patterns")
    @classmethod
    def _understood(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        PatternSet(patterns)
        return patterns


class SleepSettings(SettingsModel):
    enabled: bool = True
    hour: int = Field(-1, ge=-1, le=23)
    daily_log: Annotated[Literal["30-days", "weekly"], BeforeValidator(_lower)] = "30-days"
    expired: Annotated[Literal["archive", "delete"], BeforeValidator(_lower)] = "archive"


class PurposeBudget(SettingsModel):
    """0: no limit."""

    daily_usd: float = Field(0, ge=0, le=1_000_000, allow_inf_nan=False)
    monthly_usd: float = Field(0, ge=0, le=1_000_000, allow_inf_nan=False)
    daily_tokens: int = Field(0, ge=0, le=1_000_000_000_000)
    monthly_tokens: int = Field(0, ge=0, le=1_000_000_000_000)


class OwnPrice(SettingsModel):
    """Dollars a million tokens. minute: dollars a minute of speech."""

    input: float = Field(ge=0, le=100_000, allow_inf_nan=False)
    output: float = Field(0, ge=0, le=100_000, allow_inf_nan=False)
    cache_read: float | None = Field(None, ge=0, le=100_000, allow_inf_nan=False)
    cache_write: float | None = Field(None, ge=0, le=100_000, allow_inf_nan=False)
    minute: float | None = Field(None, ge=0, le=1000, allow_inf_nan=False)


Purpose = Literal[
    "reply",
    "extraction",
    "compaction",
    "sleep",
    "rerank",
    "queries",
    "embedding",
    "transcription",
    "probe",
    "test",
    "bench",
]
"""What a model is asked for."""
DAILY_TOKENS: Mapping[Purpose, int] = {
    "extraction": 200_000,
    "compaction": 100_000,
    "sleep": 100_000,
    "rerank": 100_000,
    "queries": 50_000,
}
"""Tokens that a job may use on one day, unless budget.purposes says another number: the work of some 200 messages."""


class BudgetSettings(PurposeBudget):
    purposes: dict[Purpose, PurposeBudget] = Field(default_factory=dict)  # bounded: the settings; start
    prices: dict[str, OwnPrice] = Field(default_factory=dict)  # bounded: the settings; start


class AccessSettings(SettingsModel):
    pairing: bool = True


class MessagesSettings(SettingsModel):
    drafts: bool = True
    quiet_hours: Annotated[str, AfterValidator(_check_hours)] = ""


class MediaSettings(SettingsModel):
    keep_days: int = Field(90, ge=0, le=3650)


class TranscriberSettings(SettingsModel):
    name: NonEmptyText = "none"


class BackupSettings(SettingsModel):
    every_hours: float = Field(0, ge=0, le=8760, allow_inf_nan=False)
    folder: str = ""
    keep: int = Field(7, ge=1, le=10_000)
    keep_days: int = Field(0, ge=0, le=36_500)
    credentials: bool = False
    recipients: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


class UpdateSettings(SettingsModel):
    source: str = ""


class WatchSettings(SettingsModel):
    """disk_mb: that should be free; 0 leaves the disk out."""

    notify: bool = True
    disk_mb: float = Field(500, ge=0, le=10_000_000, allow_inf_nan=False)

    @property
    def least_bytes(self) -> int:
        """Return the room below which hardly anything can be written: a tenth, so 50 MB unless the owner says more."""
        return round(self.disk_mb * 1_000_000 / 10)


class LogSettings(SettingsModel):
    level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = "info"
    format: Annotated[Literal["plain", "json"], BeforeValidator(_lower)] = "plain"
    to: Annotated[Literal["stderr", "file", "both"], BeforeValidator(_lower)] = "stderr"
