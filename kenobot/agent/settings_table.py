"""Tell every setting in force with its origin, and change one in kenobot.toml, checked as at a start."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from kenobot.core.settings import toml_edit
from kenobot.core.settings.config_text import current_text
from kenobot.core.settings.explain import describe_values
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, Settings, load_settings, require_no_more_left_out
from kenobot.core.settings.sources import PLUGIN_SECTIONS, is_secret
from kenobot.core.toml_text import parse_toml
from kenobot.ledger.limits import job_limits
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.storage import disk

_SAFE = frozenset(
    "bot context memory experts extraction sleep messages media watch log budget backup.every_hours backup.keep "
    "backup.keep_days".split()
)
"""Sections and settings that reach no program, no address, no secret and no right of anybody."""


def is_safe(key: str) -> bool:
    """Return whether a setting may be changed from afar: it can run, open or reveal nothing."""
    return key in _SAFE or key.partition(".")[0] in _SAFE


def describe_setting(loaded: ResolvedSettings, key: str) -> str:
    """Describe which values a setting takes, such as "a whole number from 1 to 30"; "" where that is not known."""
    section, _, rest = key.partition(".")
    field: FieldInfo | None = None
    if (group := PLUGIN_SECTIONS.get(section)) is not None and "." in rest:
        name, _, rest = rest.partition(".")
        try:
            field = loaded.catalogue.load(group, name).settings.model_fields.get(rest)
        except PluginError:
            return ""
    elif section in Settings.model_fields:
        model = Settings.model_fields[section].annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            field = model.model_fields.get(rest)
    return (describe_values(field) or "") if field is not None else ""


def iterate_values(loaded: ResolvedSettings) -> Iterator[tuple[str, Any]]:
    """Yield every setting by its dotted key; of a secret, whether it is set."""
    core = loaded.settings.model_dump(exclude={"providers", "embedders", "transcribers"}, mode="json")
    for section, table in core.items():
        yield from _flatten(section, table, tables=section not in PLUGIN_SECTIONS)
    for limit in job_limits(loaded.settings.budget):
        yield f"budget.purposes.{limit.purpose}.daily_tokens", limit.amount
    for section, group in PLUGIN_SECTIONS.items():
        tables = loaded.settings.plugin_tables(group)
        for name in dict.fromkeys((*loaded.settings.list_enabled_plugins(group), *tables)):
            try:
                model = loaded.catalogue.load(group, name).settings
                # A table of a plugin that is switched off may be incomplete: its defaults are shown all the same.
                values: Mapping[str, Any] = {
                    **model.model_construct().__dict__,
                    **tables.get(name, {}),
                }
                if name in loaded.settings.list_enabled_plugins(group):
                    values = dict(loaded.plugin_settings(group, name, model))
            except PluginError:
                model, values = BaseModel, tables.get(name, {})
            for key, value in values.items():
                field = model.model_fields.get(key)
                secret = is_secret(key) or (field is not None and _holds_secrets(field.annotation))
                yield f"{section}.{name}.{key}", _encode(value, secret=secret)


def write_setting(home: Home, before: ResolvedSettings, key: str, written: str) -> ResolvedSettings:
    """Write one setting into kenobot.toml, if the settings hold together with it, and return them.

    written: read as TOML where it is TOML, and else as text. Raises ConfigError.
    """
    section, _, name = key.rpartition(".")
    if is_secret(name):
        raise ConfigError("config.secret_in_toml", name=key)
    after, text = _try_value(home, before, section, name, written)
    home.prepare()
    disk.replace_text(home.config_file, text)
    return after


def reset_setting(home: Home, before: ResolvedSettings, key: str) -> ResolvedSettings:
    """Make a setting of kenobot.toml a comment, so that its default holds again, and return the settings.

    Raises ConfigError.
    """
    section, _, name = key.rpartition(".")
    edited = toml_edit.comment_out(current_text(home), section, name)
    after = require_no_more_left_out(before, load_settings(home, os.environ, text=edited))
    disk.replace_text(home.config_file, edited)
    return after


def _try_value(
    home: Home, before: ResolvedSettings, section: str, name: str, written: str
) -> tuple[ResolvedSettings, str]:
    """Return the settings and their file with a value. Raises ConfigError."""
    try:
        value = parse_toml(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        value = written
    text = current_text(home)
    edited = toml_edit.set_value(text, section, name, value)
    try:
        return require_no_more_left_out(before, load_settings(home, os.environ, text=edited)), edited
    except ConfigError:
        if not isinstance(value, int | float):
            raise
    edited = toml_edit.set_value(text, section, name, written)  # a name such as 007
    return require_no_more_left_out(before, load_settings(home, os.environ, text=edited)), edited


def _flatten(at: str, table: Mapping[str, Any], *, tables: bool) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a table, and with `tables` those of the tables in it."""
    for key, value in table.items():
        if not isinstance(value, dict):
            yield f"{at}.{key}", value
        elif tables:
            yield from _flatten(f"{at}.{key}", value, tables=True)


def _holds_secrets(annotation: object) -> bool:
    """Return whether values of a type are secrets, also where they are still plain text."""
    return annotation is SecretStr or any(map(_holds_secrets, get_args(annotation)))


def _encode(value: object, *, secret: bool) -> object:
    """Return a value as JSON has it; of a secret, and of each in a table of them, whether it is set."""
    if isinstance(value, dict):
        return {name: _encode(inner, secret=secret) for name, inner in value.items()}
    if isinstance(value, SecretStr):
        return _encode(value.get_secret_value(), secret=True)
    if secret:
        return "(set)" if value else "(not set)"
    return json.loads(json.dumps(value, default=str))
