"""`kenobot config`: show every setting and its origin, and get or set one."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, SecretStr

from kenobot.cli import options
from kenobot.cli.bot_link import ask
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.setup import toml_edit
from kenobot.cli.setup.config_text import current_text
from kenobot.cli.table import print_table
from kenobot.core import plugins
from kenobot.core.frames import LogLevel, ReadLogLevel
from kenobot.core.redaction import one_line
from kenobot.core.settings.load import ResolvedSettings, load_settings, require_no_more_left_out
from kenobot.core.settings.older import OlderKey, find_older
from kenobot.core.settings.sources import PLUGIN_SECTIONS, is_secret
from kenobot.core.toml_text import parse_toml
from kenobot.ledger.limits import job_limits
from kenobot.ports.errors import ConfigError, PluginError
from kenobot.storage import disk

_AT_ONCE = "log.level"
_ANSWER_SECONDS = 5.0


def config(context: CommandContext) -> int:
    args = context.args
    if (args.action is None) != (args.key is None) or (args.action == "set") != bool(args.value):
        return options.print_failure("Write `kenobot config`, `config get KEY` or `config set KEY VALUE`.")
    return {"get": _get, "set": _set, None: _show}[args.action](context)


def _get(context: CommandContext) -> int:
    """Print one setting, as a script wants it: the bare value, or an object with its origin. Raises NothingFound."""
    key, values = _name_now(context.args.key), dict(_values(context.loaded))
    if key not in values:
        if near := plugins.find_near(key, values):
            raise options.NothingFound("config.unknown_setting_near", name=key, near=near)
        raise options.NothingFound("config.unknown_setting", name=key)
    value = values[key]
    if context.args.json:
        print(json.dumps({"value": value, "origin": context.loaded.origin(key)}))
    else:
        print(one_line(_written(value)))
    return 0


def _set(context: CommandContext) -> int:
    """Write one setting into kenobot.toml, if the settings hold together with it. Raises ConfigError."""
    home, key = context.home, _name_now(context.args.key)
    section, _, name = key.rpartition(".")
    if not section:
        raise options.NothingFound("config.no_such_setting", name=key)
    if is_secret(name):
        raise ConfigError("config.secret_in_toml", name=key)
    after, text = _with_value(context, section, name, " ".join(context.args.value))
    home.prepare()
    disk.replace_text(home.config_file, text)
    print(f"{key} = {one_line(_written(dict(_values(after)).get(key)))}")
    origin = after.origin(key)
    if origin.startswith("environment "):
        print(say("Note: {name} in the environment overrules it.", name=origin.removeprefix("environment ")))
    print(_taken_in(context, key))
    return 0


def _taken_in(context: CommandContext, key: str) -> str:
    """Say when a bot that is running follows a setting; that of the log it follows at once."""
    answer = ask(context.home, ReadLogLevel(), _ANSWER_SECONDS) if key == _AT_ONCE else None
    if isinstance(answer, LogLevel):
        return say("The bot that is running logs at level {level} from now on.", level=answer.level)
    return say("A bot that is running takes it in with its next start.")


def _with_value(context: CommandContext, section: str, name: str, written: str) -> tuple[ResolvedSettings, str]:
    """The settings and their file with a value, which is read as TOML where it is TOML, and else as text."""
    try:
        value = parse_toml(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        value = written
    text = current_text(context.home)
    edited = toml_edit.set_value(text, section, name, value)
    try:
        return require_no_more_left_out(context.loaded, load_settings(context.home, os.environ, text=edited)), edited
    except ConfigError:
        if not isinstance(value, int | float):
            raise
    edited = toml_edit.set_value(text, section, name, written)  # a name such as 007
    return require_no_more_left_out(context.loaded, load_settings(context.home, os.environ, text=edited)), edited


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _show(context: CommandContext) -> int:
    loaded = context.loaded
    rows = {key: {"value": value, "origin": loaded.origin(key)} for key, value in _values(loaded)}
    if context.args.json:
        print(json.dumps(rows, indent=2))
        return 0
    print_table(
        ("setting", "origin", "value"), [(key, row["origin"], _written(row["value"])) for key, row in rows.items()]
    )
    if loaded.older:
        print()
        older = [(each.key, each.origin, _say_now(each)) for each in loaded.older]
        print_table(("name of an older release", "origin", "what holds now"), older)
        print(say("`kenobot doctor --fix` brings the names in kenobot.toml up to date."))
    return 0


def _name_now(key: str) -> str:
    """Return the name that a setting has now. Raises NothingFound for one that is none any more."""
    older = find_older(key)
    if older is None:
        return key
    if older.retired:
        raise options.NothingFound("config.retired_setting", name=key, now=_say_now(older))
    return older.now


def _say_now(older: OlderKey) -> str:
    return say("always {value}", value=say(older.now)) if older.retired else older.now


def _values(loaded: ResolvedSettings) -> Iterator[tuple[str, Any]]:
    core = loaded.settings.model_dump(exclude={"providers", "embedders", "transcribers"}, mode="json")
    for section, table in core.items():
        yield from _flat(section, table, tables=section not in PLUGIN_SECTIONS)
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
                yield f"{section}.{name}.{key}", _plain(value, secret=secret)


def _flat(at: str, table: Mapping[str, Any], *, tables: bool) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a table, and with `tables` those of the tables in it."""
    for key, value in table.items():
        if not isinstance(value, dict):
            yield f"{at}.{key}", value
        elif tables:
            yield from _flat(f"{at}.{key}", value, tables=True)


def _holds_secrets(annotation: object) -> bool:
    """Return whether values of a type are secrets, also where they are still plain text."""
    return annotation is SecretStr or any(map(_holds_secrets, get_args(annotation)))


def _plain(value: object, *, secret: bool) -> object:
    """Return a value as JSON has it; of a secret, and of each in a table of them, whether it is set."""
    if isinstance(value, dict):
        return {name: _plain(inner, secret=secret) for name, inner in value.items()}
    if isinstance(value, SecretStr):
        return _plain(value.get_secret_value(), secret=True)
    if secret:
        return "(set)" if value else "(not set)"
    return json.loads(json.dumps(value, default=str))
