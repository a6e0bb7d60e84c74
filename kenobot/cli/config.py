"""`kenobot config`."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import SecretStr

from kenobot.cli.context import CommandContext
from kenobot.core import plugins
from kenobot.core.redaction import one_line
from kenobot.core.settings.load import ResolvedSettings
from kenobot.core.settings.sources import PLUGIN_SECTIONS, is_secret
from kenobot.ports.errors import PluginError


def config(context: CommandContext) -> int:
    loaded = context.loaded
    rows = {key: {"value": value, "origin": loaded.origin(key)} for key, value in _values(loaded)}
    if context.args.json:
        print(json.dumps(rows, indent=2))
        return 0
    shown = {key: value if isinstance(value := row["value"], str) else json.dumps(value) for key, row in rows.items()}
    width, room = max(map(len, shown)), max(min(len(value), 40) for value in shown.values())
    for key, row in rows.items():
        print(f"{key:<{width}}  {one_line(shown[key]):<{room}}  {one_line(str(row['origin']))}")
    return 0


def _values(loaded: ResolvedSettings) -> Iterator[tuple[str, Any]]:
    core = loaded.settings.model_dump(exclude={"providers", "embedders"}, mode="json")
    for section, table in core.items():
        yield from ((f"{section}.{key}", value) for key, value in table.items() if not isinstance(value, dict))
    for section, group in PLUGIN_SECTIONS.items():
        tables = loaded.settings.plugin_tables(group)
        for name in dict.fromkeys((*loaded.settings.enabled_plugins(group), *tables)):
            try:
                model = plugins.load(group, name).settings
                # A table of a plugin that is switched off may be incomplete: its defaults are shown all the same.
                values: Mapping[str, Any] = {
                    **model.model_construct().__dict__,
                    **tables.get(name, {}),
                }
                if name in loaded.settings.enabled_plugins(group):
                    values = dict(loaded.plugin_settings(group, name, model))
            except PluginError:
                values = tables.get(name, {})
            yield from ((f"{section}.{name}.{key}", _plain(key, value)) for key, value in values.items())


def _plain(name: str, value: object) -> object:
    if isinstance(value, SecretStr):
        return "(set)" if value.get_secret_value() else "(not set)"
    if is_secret(name):
        return "(set)" if value else "(not set)"
    return json.loads(json.dumps(value, default=str))
