"""`python -m bench.prefix`: how many of the latest notes a prompt must begin with so that no answer is lost."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial

from bench import report
from bench.cost import run as cost
from bench.prefix import lives, plot, questions
from bench.prefix.rows import PrefixRow
from bench.report import Report
from kenobot.agent.prompt.prompt_context import PromptLimits
from kenobot.app.wiring import prompt_limits
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.core.settings.load import Settings
from kenobot.ports.json_value import Json
from tests.constants import constants_changed

_SIZES = (0, 250, 500, 1000, 2000, 3000, 6000)
_DESCRIPTION = """\
For each least size of the latest notes that every prompt begins with (PromptLimits.recent_tokens), once not all fit:
tokens of prompts, and how much of what answers a question stands in the prompt. In homes of their own, with a scripted
model.
No network, no key; your own home is not touched.

month: questions and leaks of `python -m bench.month` that fail. years: facts of so many days, asked for in another
chat. notes: those of `kenobot bench recall`, by meaning and by words alone, each owner's among others told over the
same time. outdated: of these, prompts that show a note that was replaced. talks: the conversations of `kenobot bench
recall`, asked in their own chat beside such notes.
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("prefix", _DESCRIPTION)
    number = parse_up_to(1_000_000)
    parser.add_argument("--sizes", type=_sizes, default=_SIZES, metavar="N,N,…", help="of the latest notes, in tokens")
    parser.add_argument("--memories", type=number, default=10_000, help="in the home whose prompts are counted (10000)")
    parser.add_argument("--turns", type=number, default=60, help="messages of its talk (60)")
    parser.add_argument("--crowd", type=number, default=600, help="other notes beside those that are asked for (600)")
    parser.add_argument("--days", type=number, default=60, help="of the years (60)")
    parser.add_argument("--per-day", type=number, default=20, help="messages a day (20)")
    parser.add_argument("--fast", action="store_true", help="the month with a third of its everyday notes")
    parser.add_argument("--embedder", default="auto", metavar="NAME", help="as memory.embedder (auto)")
    return report.run(parser, argv, _measure)


def _sizes(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers, such as 0,1000")
    return tuple(map(int, parts))


def _measure(arguments: argparse.Namespace) -> tuple[Report, Callable[[str], None]]:
    rows = asyncio.run(_rows(arguments, _prompts(arguments), _month(arguments)))
    show_progress()
    return _report(rows), partial(plot.draw, rows)


def _prompts(arguments: argparse.Namespace) -> list[cost.SizeResult]:
    rows: list[cost.SizeResult] = []
    for size in arguments.sizes:
        with constants_changed({"PromptLimits.recent_tokens": size}):
            rows += cost.run([arguments.memories], arguments.turns, "none", show_progress)
    return rows


def _month(arguments: argparse.Namespace) -> list[int]:
    return lives.month_failures(arguments.sizes, fast=arguments.fast, tell=show_progress)


async def _rows(
    arguments: argparse.Namespace, prompts: Sequence[cost.SizeResult], month: Sequence[int]
) -> list[PrefixRow]:
    limits = replace(prompt_limits(Settings()), summary_tokens=0)
    sizes = arguments.sizes
    years = await lives.years_found(sizes, limits, arguments.days, arguments.per_day, show_progress)
    ask = partial(_asked, sizes, limits)
    notes = await ask("own", arguments.embedder, arguments.crowd)
    by_words = await ask("own", "none", arguments.crowd)
    talks = await ask("talks", arguments.embedder, arguments.crowd)
    return [
        PrefixRow(
            size,
            prompts[at].hello,
            prompts[at].prompt,
            prompts[at].cached,
            month[at],
            years[at],
            notes[at].mean,
            by_words[at].mean,
            notes[at].outdated,
            talks[at].mean,
        )
        for at, size in enumerate(sizes)
    ]


async def _asked(
    sizes: Sequence[int], limits: PromptLimits, name: str, embedder: str, crowd: int
) -> list[questions.AnswerScore]:
    def progress(what: str, done: int, whole: int) -> None:
        show_progress(f"{what} {done} of {whole}")

    return await questions.ask_set(name, sizes, limits, embedder, crowd, progress)


_HEADS = (
    "latest notes, tokens", "“hello”, tokens", "prompt, tokens", "cached", "month, failed", "years", "notes",
    "notes, by words", "outdated", "talks",
)  # fmt: skip


def _report(rows: Sequence[PrefixRow]) -> Report:
    records: list[dict[str, Json]] = [asdict(row) for row in rows]
    return Report(heads=_HEADS, rows=[_cells(row) for row in rows], failures=(), records=records)


def _cells(row: PrefixRow) -> list[str]:
    shares = [f"{100 * share:.1f} %" for share in (row.years, row.notes, row.notes_by_words)]
    return [
        f"{row.recent_tokens:,}", f"{row.hello:,}", f"{row.prompt:,.0f}", f"{100 * row.cached:.1f} %",
        str(row.month_failures), *shares, str(row.outdated), f"{100 * row.talks:.1f} %",
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
