"""`kenobot demo`: a guided tour, the life of one memory from February to June."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from kenobot.cli.context import CommandContext
from kenobot.core.i18n import Language, terminal_language
from kenobot.ports.errors import ConfigError
from kenobot_evals.demo import story
from kenobot_evals.demo.show import DisplayStyle
from kenobot_evals.demo.tour import WIDTH, Tour, play_tour


def demo(context: CommandContext) -> int:
    args = context.args
    told = story.load()
    if args.wording:
        told = replace(told, acts=tuple(act for act in told.acts if act.name == args.wording))
    language: Language = args.lang or terminal_language(os.environ)
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    pauses = not args.fast and not args.json and sys.stdout.isatty()
    tour = Tour(
        DisplayStyle(language, colours, width),
        as_json=args.json,
        record=args.record,
        page=args.write,
        keep=_find_empty(args.keep),
        pauses=pauses and (args.auto is not None or sys.stdin.isatty()),
        seconds=args.auto,
    )
    return 1 if play_tour(told, tour, skip_quiet_nights=args.fast) else 0


def _find_empty(folder: str | None) -> str | None:
    """Return the folder to keep the homes in. Raises ConfigError where there is something in it."""
    if folder is not None and Path(folder).exists() and any(Path(folder).iterdir()):
        raise ConfigError("demo.folder_in_use", path=folder)
    return folder
