"""`kenobot channels`: list the channels, and start, stop or restart one while the bot runs."""

import json

from kenobot.cli import options
from kenobot.cli.bot_link import ask
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.table import print_table
from kenobot.core.frames import ChannelRow, ChannelStates, ControlChannels, Refused
from kenobot.core.settings.home import AlreadyLocked
from kenobot.ports.errors import ConfigError

_SECONDS = 40.0  # a channel is built, and the one before it ended, in less
_NO_BOT = "No bot runs in this home: `kenobot run` starts it, with every enabled channel."


def list_(context: CommandContext) -> int:
    """Print the channels of the bot that runs, or of the settings."""
    answer = ask(context.home, ControlChannels(action="list"), _SECONDS)
    rows = answer.channels if isinstance(answer, ChannelStates) else _list_configured(context)
    if context.args.json:
        for row in rows:
            print(json.dumps(row.model_dump()))
    else:
        print_table(("channel", "state", "why"), [(row.name, say(row.state), translate(row.reason)) for row in rows])
    return 0


def change(context: CommandContext) -> int:
    """Ask the running bot to start, stop or restart one channel."""
    action, name = context.args.command, context.args.name
    answer = ask(context.home, ControlChannels(action=action, name=name), _SECONDS)
    if isinstance(answer, Refused):
        raise ConfigError(answer.reason)
    if not isinstance(answer, ChannelStates):
        if _is_free(context):
            return options.print_failure(_NO_BOT)
        return options.print_failure("The bot did not answer: restart it, then try again.", options.FAILED)
    (row,) = (row for row in answer.channels if row.name == name)
    options.print_row(row.model_dump(), context.args.json, f"{name}: {say(row.state)} {translate(row.reason)}".rstrip())
    return options.FAILED if row.state == "failed" else 0


def _list_configured(context: CommandContext) -> tuple[ChannelRow, ...]:
    enabled = context.loaded.settings.channels.enabled
    names = sorted({*context.loaded.catalogue.names("kenobot.channels"), *enabled})
    return tuple(ChannelRow(name=name, state="enabled" if name in enabled else "off") for name in names)


def _is_free(context: CommandContext) -> bool:
    """Return whether no bot runs in the home."""
    if not context.home.path.is_dir():
        return True
    try:
        with context.home.lock():
            return True
    except AlreadyLocked:
        return False
