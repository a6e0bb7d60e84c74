"""`kenobot run`."""

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "run",
        parents=[home],
        help="serve the enabled channels until stopped",
        description="Serve the enabled channels until stopped. Ctrl-C or SIGTERM ends intake, lets the turns at work "
        "finish and leaves the rest on disk for the next start.",
    )
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli.start import serve_channels

    return serve_channels(arguments.home, clock)
