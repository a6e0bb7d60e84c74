"""`kenobot config`."""

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kenobot.cli import options

if TYPE_CHECKING:
    from kenobot.core.settings.load import ResolvedSettings
    from kenobot.ports.clock import Clock


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "config",
        parents=[home],
        help="every setting, and where it comes from",
        description="Check the configuration and show every setting and where it comes from. Secrets are not shown.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object: key → value and origin")
    parser.set_defaults(command=config)


def config(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.core.settings.load import load_settings
    from kenobot.core.terminal import one_line

    loaded = load_settings(options.home_of(arguments), os.environ)
    rows = {key: {"value": value, "origin": loaded.origin(key)} for key, value in _values(loaded)}
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return 0
    shown = {key: value if isinstance(value := row["value"], str) else json.dumps(value) for key, row in rows.items()}
    width, room = max(map(len, shown)), max(min(len(value), 40) for value in shown.values())
    for key, row in rows.items():
        print(f"{key:<{width}}  {one_line(shown[key]):<{room}}  {one_line(str(row['origin']))}")
    return 0


def _values(loaded: "ResolvedSettings") -> Iterator[tuple[str, Any]]:
    from kenobot.core import plugins
    from kenobot.core.settings.sources import PLUGIN_SECTIONS
    from kenobot.ports.errors import PluginError

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
    from pydantic import SecretStr

    from kenobot.core.settings.sources import is_secret

    if isinstance(value, SecretStr):
        return "(set)" if value.get_secret_value() else "(not set)"
    if is_secret(name):
        return "(set)" if value else "(not set)"
    return json.loads(json.dumps(value, default=str))
