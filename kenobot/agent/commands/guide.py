"""`/help`: list the commands that a person may give here; and answer a command that there is not."""

from difflib import get_close_matches

from kenobot.agent.commands.command import CommandCall, CommandContext
from kenobot.core import texts
from kenobot.storage.connection import Connection


def show_help(_: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/help`: introduce the bot and list its commands."""
    lines = (
        texts.HELP_LINE(call.language, name=command.name(call.language), what=command.help(call.language))
        for command in context.commands
        if command.help is not None and command.is_allowed(call.principal, call.inbound)
    )
    return texts.HELP(call.language, lines="\n".join(lines))


def decline_unknown(_: Connection, call: CommandCall, context: CommandContext) -> str:
    """Say that there is no such command, and which one may be meant."""
    names = [command.name(language) for command in context.commands for language in ("en", "es")]
    near = get_close_matches(call.arguments, names, 1)
    if near:
        return texts.UNKNOWN_COMMAND_NEAR(call.language, name=call.arguments, near=near[0])
    return texts.UNKNOWN_COMMAND(call.language, name=call.arguments)
