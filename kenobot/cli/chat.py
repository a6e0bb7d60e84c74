"""`kenobot chat`."""

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "chat",
        parents=[home],
        help="talk to the bot in this terminal",
        description="Talk to the bot in this terminal. Alt+Enter, or a backslash at the end of a line, starts a new "
        "line; /exit, /quit or Ctrl-D ends. When input is piped in, each line is a message.",
    )
    parser.add_argument("-m", "--message", metavar="TEXT", help="send this one message, print the answer, and end")
    parser.add_argument("--trace", action="store_true", help="also show what was remembered, and why")
    parser.set_defaults(command=chat)


def chat(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.channels.console import ConsoleOptions
    from kenobot.cli.start import serve_channels

    return serve_channels(arguments.home, clock, ConsoleOptions(message=arguments.message, trace=arguments.trace))
