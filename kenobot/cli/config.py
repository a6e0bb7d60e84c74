"""`kenobot config`: show every setting and its origin, and get or set one."""

import json

from kenobot.agent import settings_table
from kenobot.agent.settings_table import iterate_values
from kenobot.cli import options
from kenobot.cli.bot_link import ask
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import print_table
from kenobot.core import plugins
from kenobot.core.frames import LogLevel, ReadLogLevel
from kenobot.core.redaction import one_line
from kenobot.core.settings.older import OlderKey, find_older

_AT_ONCE = "log.level"
_ANSWER_SECONDS = 5.0


def config(context: CommandContext) -> int:
    args = context.args
    if (args.action is None) != (args.key is None) or (args.action == "set") != bool(args.value):
        return options.print_failure("Write `kenobot config`, `config get KEY` or `config set KEY VALUE`.")
    return {"get": _get, "set": _set, None: _show}[args.action](context)


def _get(context: CommandContext) -> int:
    """Print one setting, as a script wants it: the bare value, or an object with its origin. Raises NothingFound."""
    key, values = _name_now(context.args.key), dict(iterate_values(context.loaded))
    if key not in values:
        if near := plugins.find_near(key, values):
            raise options.NothingFound("config.unknown_setting_near", name=key, near=near)
        raise options.NothingFound("config.unknown_setting", name=key)
    value = values[key]
    if context.args.json:
        print(json.dumps({"value": value, "origin": context.loaded.origin(key)}))
    else:
        print(one_line(_format_value(value)))
    return 0


def _set(context: CommandContext) -> int:
    """Write one setting into kenobot.toml, if the settings hold together with it. Raises ConfigError."""
    key = _name_now(context.args.key)
    if "." not in key:
        raise options.NothingFound("config.no_such_setting", name=key)
    after = settings_table.write_setting(context.home, context.loaded, key, " ".join(context.args.value))
    print(f"{key} = {one_line(_format_value(dict(iterate_values(after)).get(key)))}")
    origin = after.origin(key)
    if origin.startswith("environment "):
        print(say("Note: {name} in the environment overrules it.", name=origin.removeprefix("environment ")))
    print(_say_when_followed(context, key))
    return 0


def _say_when_followed(context: CommandContext, key: str) -> str:
    """Say when a bot that is running follows a setting; that of the log it follows at once."""
    answer = ask(context.home, ReadLogLevel(), _ANSWER_SECONDS) if key == _AT_ONCE else None
    if isinstance(answer, LogLevel):
        return say("The bot that is running logs at level {level} from now on.", level=answer.level)
    return say("A bot that is running takes it in with its next start.")


def _format_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _show(context: CommandContext) -> int:
    loaded = context.loaded
    rows = {key: {"value": value, "origin": loaded.origin(key)} for key, value in iterate_values(loaded)}
    if context.args.json:
        print(json.dumps(rows, indent=2))
        return 0
    print_table(
        ("setting", "origin", "value"), [(key, row["origin"], _format_value(row["value"])) for key, row in rows.items()]
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
