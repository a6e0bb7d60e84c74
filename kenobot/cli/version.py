"""`kenobot version`."""

import argparse
from typing import TYPE_CHECKING, Any

from kenobot import __version__

if TYPE_CHECKING:
    from kenobot.ports.clock import Clock


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser("version", parents=[home], help="print the version", description="Print the version.")
    parser.set_defaults(command=version)


def version(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    print(f"kenobot {__version__}")
    return 0
