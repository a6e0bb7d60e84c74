"""`kenobot demo`: the life of one memory from February to June, as a tour."""

import argparse
import json
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.evals.page_marks import page_marks, replace_between_marks, write_file

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from kenobot.core.i18n import Language
    from kenobot.evals.demo.play import StepResult
    from kenobot.evals.demo.show import DisplayStyle
    from kenobot.evals.demo.story import Act, Story
    from kenobot.ports.clock import Clock

_MARK = "demo"
_SHORT = "strong"  # the wording that a page shows
_WIDTH = 100
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


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "demo",
        help="a tour: the life of one memory, from February to June",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--fast", action="store_true", help="without pauses, and without the nights in which nothing happens"
    )
    parser.add_argument("--auto", metavar="SECONDS", type=_seconds, help="go on by itself after so many seconds")
    parser.add_argument(
        "--wording", choices=("seed", "strong"), help="only one of the two: told in passing, or as a lesson"
    )
    parser.add_argument("--lang", choices=("en", "es"), help="what the tour itself says ($LANG)")
    parser.add_argument("--record", metavar="FILE", help="keep it as a recording that asciinema plays")
    begin, end = page_marks(_MARK)
    parser.add_argument("--write", metavar="FILE", help=f"put a short form into FILE, between {begin} and {end}")
    options.add_json(parser)
    parser.set_defaults(command=demo)


def demo(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from dataclasses import replace

    from kenobot.evals.demo import story
    from kenobot.evals.demo.show import DisplayStyle

    told = story.load()
    if arguments.wording:
        told = replace(told, acts=tuple(act for act in told.acts if act.name == arguments.wording))
    spanish = os.environ.get("LANG", "").lower().startswith("es")
    language: Language = arguments.lang or ("es" if spanish else "en")
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 0)).columns)
    show = _Show(arguments, DisplayStyle(language, _has_colours(), width))
    failures, whole = _play(told, show, brisk=arguments.fast)
    show.end(true=whole and not failures)
    return 1 if failures else 0


def _play(told: "Story", show: "_Show", *, brisk: bool) -> tuple[int, bool]:
    """Play every act; how many things were not as the story says, and whether all of it was seen.

    The loop rests while somebody reads.
    """
    import asyncio
    import tempfile
    from pathlib import Path

    failures = 0
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory(prefix="kenobot-demo-") as folder:
        for act in told.acts:
            show.begin(act)
            steps = _steps(told, act, Path(folder) / act.name, brisk=brisk)
            try:
                while (seen := runner.run(_next(steps))) is not None:
                    failures += len(seen.failures)
                    if not show.step(act, seen):
                        return failures, False
            finally:
                runner.run(_close(steps))
    return failures, True


def _steps(told: "Story", act: "Act", folder: "Path", *, brisk: bool) -> "AsyncIterator[StepResult]":
    from kenobot.evals.demo.play import play_act

    return play_act(told, act, folder, skip_quiet_nights=brisk)


async def _next(steps: "AsyncIterator[StepResult]") -> "StepResult | None":
    return await anext(steps, None)


async def _close(steps: "AsyncIterator[StepResult]") -> None:
    close = getattr(steps, "aclose", None)
    if close is not None:
        await close()


class _Show:
    """Prints the tour, waits for its reader, and keeps what is to be recorded."""

    def __init__(self, arguments: argparse.Namespace, look: "DisplayStyle") -> None:
        self._json: bool = arguments.json
        self._record: str | None = arguments.record
        self._write: str | None = arguments.write
        self._look = look
        self._pages: list[str] = []
        self._steps: dict[str, tuple[Act, list[StepResult]]] = {}
        self._pause = _pause(arguments)

    def begin(self, act: "Act") -> None:
        from kenobot.evals.demo.show import act_opening

        self._page(lambda look: act_opening(act, look))

    def step(self, act: "Act", seen: "StepResult") -> bool:
        """Show a step; whether its reader wants to see the next."""
        from kenobot.evals.demo.show import as_json, as_text

        self._steps.setdefault(act.name, (act, []))[1].append(seen)
        if self._json:
            print(json.dumps(as_json(act, seen, self._look.language), ensure_ascii=False), flush=True)
        self._page(lambda look: as_text(seen, look))
        return self._json or seen.number == seen.step_count or self._pause(self._look)

    def end(self, *, true: bool) -> None:
        """The last words; then what is to be kept is written."""
        from dataclasses import replace

        from kenobot.evals.demo import record

        if true:
            self._page(lambda look: look.label("over"))
        if self._record:
            write_file(self._record, record.asciinema_cast(self._pages, _WIDTH, "kenobot demo"))
        if self._write and (kept := self._steps.get(_SHORT) or next(iter(self._steps.values()), None)):
            replace_between_marks(_MARK, self._write, record.page_excerpt(*kept, replace(self._look, colour=False)))

    def _page(self, page: "Callable[[DisplayStyle], str]") -> None:
        from dataclasses import replace

        if self._record:
            self._pages.append(page(replace(self._look, colour=True, width=_WIDTH)))
        if not self._json:
            print(page(self._look), flush=True)


def _pause(arguments: argparse.Namespace) -> "Callable[[DisplayStyle], bool]":
    """What happens after a step; tells whether to go on."""
    if arguments.fast or arguments.json or not sys.stdout.isatty():
        return lambda _look: True
    seconds: float | None = arguments.auto
    if seconds is not None:
        return lambda _look: _rested(seconds)
    return _asked if sys.stdin.isatty() else lambda _look: True


def _rested(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _asked(look: "DisplayStyle") -> bool:
    """Wait for Enter; whether to go on."""
    try:
        said = input(look.paint(look.label("next"), "dim"))
    except EOFError:
        return False
    return not said.strip().lower().startswith("q")


def _has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 600")
    return seconds
