"""`kenobot chat`."""

from kenobot.channels.console import ConsoleOptions
from kenobot.cli.context import CommandContext
from kenobot.cli.options import Commands
from kenobot.cli.start import serve_channels


def add(commands: Commands) -> None:
    command = commands.add(
        "chat",
        chat,
        "",
        "Chat in this terminal. Alt+Enter, or a backslash at the end of a line, starts a new line; /exit, /quit or "
        "Ctrl-D ends. When input is piped in, each line is a message.",
        json=False,
    )
    command.add_argument("-m", "--message", metavar="TEXT", help="send this one message, print the answer, and end")
    command.add_argument("--trace", action="store_true", help="also show what was remembered, and why")


def chat(context: CommandContext) -> int:
    return serve_channels(context, ConsoleOptions(message=context.args.message, trace=context.args.trace))
