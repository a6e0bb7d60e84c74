"""`kenobot plugins`: list plugins with their state, and have one tried again that ended the process."""

import json
from collections.abc import Sequence

from kenobot.app.plugin_report import plugin_rows, try_build
from kenobot.cli import options
from kenobot.cli.bot_link import ask
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.table import print_table
from kenobot.core.frames import ListPlugins, PluginRow, PluginStates

_SECONDS = 10.0


def plugins(context: CommandContext) -> int:
    words: Sequence[str] = context.args.words
    if words[:1] == ["retry"] and len(words) == 2:
        return _retry(context, words[1])
    if words:
        return options.print_failure("Write `kenobot plugins` or `kenobot plugins retry NAME`.")
    return _list(context)


def _list(context: CommandContext) -> int:
    answer = ask(context.home, ListPlugins(), _SECONDS)
    rows = answer.plugins if isinstance(answer, PluginStates) else _without_bot(context)
    shown = [row for row in rows if context.args.all or not row.shipped or row.state != "off"]
    if context.args.json:
        for row in shown:
            print(json.dumps(row.model_dump()))
    else:
        heads = ("plugin", "kind", "state", "from", "why")
        print_table(heads, [(row.name, row.kind, say(row.state), row.origin, translate(row.why)) for row in shown])
    return 0


def _without_bot(context: CommandContext) -> tuple[PluginRow, ...]:
    loaded = context.loaded
    return plugin_rows(loaded.settings, loaded.catalogue, try_build(loaded, context.plugin_context))


def _retry(context: CommandContext, name: str) -> int:
    if not context.loaded.catalogue.guard.forgive(name):
        return options.print_failure(say("No plugin {name} is held back because it ended the process.", name=name))
    print(say("{name} is tried again with the next start.", name=name))
    return 0
