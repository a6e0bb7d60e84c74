"""`kenobot demo`: a guided tour, the life of one memory from February to June."""

import os
import shutil
import sys
from dataclasses import replace

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.options import Commands
from kenobot.core.i18n import Language
from kenobot.evals.demo import story
from kenobot.evals.demo.show import DisplayStyle
from kenobot.evals.demo.tour import MARK, WIDTH, Tour, play_tour
from kenobot.evals.page_marks import page_marks

_DESCRIPTION = """\
A tour: one memory from the message that brings it to the day, four months later, on which it is needed. The bot is
the real one, in a folder of its own, on a clock that runs ahead; only the model's replies are written down beforehand.
Each step shows the message, the memory in the prompt, the reply with its tags, the files that changed, and what sleep
did and why. No network, no key; your own home is not touched.
"""
_EPILOG = """\
The story is told twice: with the fact told in passing, which stays out of MEMORY.md and is found again all the same,
and told as a lesson, which goes there. NO_COLOR turns the colours off.

exit codes: 0 all was as the story says · 1 something was not, and is named
"""


def add(commands: Commands) -> None:
    command = commands.add("demo", demo, "", _DESCRIPTION, epilog=_EPILOG)
    command.add_argument(
        "--fast", action="store_true", help="without pauses, and without the nights in which nothing happens"
    )
    seconds = options.bounded_float(600, "not a number of seconds from 0 to 600")
    command.add_argument("--auto", metavar="SECONDS", type=seconds, help="go on by itself after so many seconds")
    command.add_argument(
        "--wording", choices=("seed", "strong"), help="only one of the two: told in passing, or as a lesson"
    )
    command.add_argument("--lang", choices=("en", "es"), help="language of the tour ($LANG)")
    command.add_argument("--record", metavar="FILE", help="keep it as a recording that asciinema plays")
    begin, end = page_marks(MARK)
    command.add_argument("--write", metavar="FILE", help=f"put a short form into FILE, between {begin} and {end}")


def demo(context: CommandContext) -> int:
    args = context.args
    told = story.load()
    if args.wording:
        told = replace(told, acts=tuple(act for act in told.acts if act.name == args.wording))
    spanish = os.environ.get("LANG", "").lower().startswith("es")
    language: Language = args.lang or ("es" if spanish else "en")
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    pauses = not args.fast and not args.json and sys.stdout.isatty()
    tour = Tour(
        DisplayStyle(language, colours, width),
        as_json=args.json,
        record=args.record,
        page=args.write,
        pauses=pauses and (args.auto is not None or sys.stdin.isatty()),
        seconds=args.auto,
    )
    return 1 if play_tour(told, tour, skip_quiet_nights=args.fast) else 0
