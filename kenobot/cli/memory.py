"""`kenobot memory`: the owner's hands on what the bot remembers."""

import argparse
from typing import Any

from kenobot.cli import memory_edit, memory_recall, memory_show, memory_transfer


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "memory",
        parents=[home],
        help="what the bot remembers: look, correct, forget, undo, take out and in",
        description="What the bot remembers, and how it came to. Works while the bot runs and while it does not.",
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    for module in (memory_show, memory_recall, memory_edit, memory_transfer):
        module.add(parts, home)
