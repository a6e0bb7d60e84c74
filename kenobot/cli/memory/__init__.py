"""`kenobot memory`. Only the module of the chosen command is imported; its help imports all of them."""

import importlib

from kenobot.cli.options import Commands

_MODULES = {
    "show": ("list", "show", "history", "why", "log"),
    "recall": ("recall", "context", "stats"),
    "edit": ("remember", "correct", "forget", "purge", "undo"),
    "transfer": ("export", "import", "sync", "rebuild"),
}


def add(commands: Commands) -> None:
    parts = commands.group(
        "memory", "What the bot remembers, and where it came from. Works while the bot runs and while it does not."
    )
    chosen = [module for module, names in _MODULES.items() if commands.subcommand in names]
    for module in chosen or _MODULES:
        importlib.import_module(f"kenobot.cli.memory.{module}").add(parts)
