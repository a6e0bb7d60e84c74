"""`python -m tests.soak.probe`: what work behind the scenes costs whoever gives a command in another chat.

A command every twentieth of a second, each counted from the moment at which it was due, while a running bot has nothing
to do, while a night runs, while 2,000 turns are summed up, and while 5,000 notes are imported beside it. At most 30 ms
at the 99th percentile, on a machine that does nothing else.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from bench.cost.memories import export_lines
from bench.quick import past
from bench.quick.__main__ import ROOT
from bench.quick.process import Checkout, Running
from bench.sleep import fill_records
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.sleep.run_rows import begin_or_resume, last_run
from kenobot.ports.nights import PHASES
from kenobot.storage.connection import connect
from tests.soak.document import DOCUMENT, placed

COMMAND = "python -m tests.soak.probe"
WITHIN_MS = 30.0
_SLICE = 2.0  # seconds between two looks at whether the work is done
_LONGEST = 240.0


@dataclass(frozen=True, slots=True)
class Load:
    """How much work there is. records: of the night."""

    records: int = 600
    turns: int = 2000
    notes: int = 5000
    alone_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The milliseconds of every command beside one kind of work. finished: whether the work came to its end."""

    beside: str
    times: tuple[float, ...]
    finished: bool

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.times, n=100)[98]

    @property
    def passed(self) -> bool:
        return self.finished and self.p99 <= WITHIN_MS


def measure_probe(folder: Path, load: Load) -> list[ProbeResult]:
    """Run all kinds of work in the new `folder`."""
    checkout = Checkout.planted(ROOT, folder / "plugins")
    homes = {name: folder / name for name in ("import", "night", "turns")}
    for home in homes.values():
        checkout.once("chat", "--home", str(home), "-m", "hello")
        (home / "identity" / "BOOTSTRAP.md").unlink(missing_ok=True)
    past.fill(homes["turns"], load.turns, 0)
    _open_night(homes["night"], load.records)
    alone, beside_import = _import(checkout, homes["import"], load)
    turns = _beside(checkout, homes["turns"], f"{load.turns:,} turns are summed up", _came_to_rest)
    night = _beside(checkout, homes["night"], "a night runs", _night_is_over, DEFAULT.sleep.begin_seconds)
    return [alone, night, turns, beside_import]


def _open_night(home: Path, records: int) -> None:
    """Give a home memories, and a night that was cut short, with which the bot goes on a minute after its start."""
    with closing(connect(home / "kenobot.db")) as connection:
        connection.execute("BEGIN")
        fill_records(connection, records, Random(7))
        begin_or_resume(connection, datetime.now(UTC), "soak", PHASES)
        connection.execute("COMMIT")


def _night_is_over(_: Running, home: Path) -> bool:
    with closing(connect(home / "kenobot.db", readonly=True)) as connection:
        return last_run(connection, "running") is None


def _came_to_rest(bot: Running, _: Path) -> bool:
    return bot.wait_until_quiet(3.0, looks=20)


def _beside(
    checkout: Checkout, home: Path, what: str, is_over: Callable[[Running, Path], bool], begins_after: float = 0.0
) -> ProbeResult:
    times: list[float] = []
    with Running(checkout, home, "none") as bot:
        time.sleep(begins_after)
        for _ in range(int(_LONGEST / _SLICE)):
            times += bot.probe(_SLICE)
            if is_over(bot, home):
                return ProbeResult(what, tuple(times), finished=True)
    return ProbeResult(what, tuple(times), finished=False)


def _import(checkout: Checkout, home: Path, load: Load) -> tuple[ProbeResult, ProbeResult]:
    export = home.parent / "export.jsonl"
    export.write_text("".join(f"{line}\n" for line in export_lines(load.notes, datetime.now(UTC))), "utf-8")
    with Running(checkout, home, "none") as bot:
        bot.wait_until_quiet(10.0)
        alone = ProbeResult("nothing else", tuple(bot.probe(load.alone_seconds)), finished=True)
        times: list[float] = []
        command = checkout.command("--home", str(home), "memory", "import", str(export))
        with subprocess.Popen(command, env=checkout.environ, cwd=home.parent, stdout=subprocess.DEVNULL) as importing:
            while importing.poll() is None:
                times += bot.probe(_SLICE)
        code = importing.returncode
    return alone, ProbeResult(f"{load.notes:,} notes are imported", tuple(times), finished=code == 0)


def report(results: list[ProbeResult]) -> str:
    """The figures as Markdown."""
    rows = []
    for result in results:
        middle, longest = statistics.median(result.times), max(result.times)
        end = "" if result.finished else " (not finished)"
        rows.append(
            f"| {result.beside}{end} | {len(result.times):,} | {middle:.1f} | {result.p99:.1f} | {longest:.0f} "
            f"| {'yes' if result.passed else '**no**'} |"
        )
    return "\n".join(
        [
            f"A command every twentieth of a second in other chats of one `kenobot run`, from when it was due to its "
            f"answer; p99 at most {WITHIN_MS:.0f} ms.",
            "",
            "| beside | commands | p50, ms | p99, ms | longest, ms | within |",
            "|---|---:|---:|---:|---:|---|",
            *rows,
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/figures/soak.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kenobot-probe-") as folder:
        results = measure_probe(Path(folder), Load())
    print(report(results))
    if given.write:
        DOCUMENT.write_text(placed(DOCUMENT.read_text("utf-8"), COMMAND, report(results)), "utf-8")
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
