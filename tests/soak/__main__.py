"""`python -m tests.soak`: a hundred thousand messages through a real process, and whether it holds.

Fails when anything is lost, doubled or out of order, or when resident memory grows by more than 2 % of its mean per
50,000 messages over the second half of the run.
"""

import argparse
import asyncio
import dataclasses
import json
import sys
import tempfile
from pathlib import Path

from tests.soak.document import DOCUMENT, placed
from tests.soak.run import Outcome, Plan, soak
from tests.soak.sample import FLAT, PER, Sample

_HEAD = "| answered | after, s | RSS, MB | descriptors | threads | database, MB | write-ahead log, MB |"
_ROAD = {
    "telegram": "through long polling from a Telegram emulator and the Anthropic SDK against a stand-in",
    "line": "through a channel and a model that cost nothing",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="how many (100000)")
    parser.add_argument("--through", choices=("line", "telegram"), default="line", help="which way (line)")
    parser.add_argument("--seed", type=int, default=20260214, help="of what is said, and by whom")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything measured to FILE")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/figures/soak.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kenobot-soak-") as folder:
        outcome = asyncio.run(soak(Plan(given.messages, given.through, given.seed), Path(folder) / "run", _tell))
    print("\n" + report(outcome))
    if given.json:
        given.json.write_text(json.dumps(dataclasses.asdict(outcome), indent=1) + "\n")
    if given.write:
        text = DOCUMENT.read_text("utf-8")
        command = f"python -m tests.soak --through {given.through}"
        DOCUMENT.write_text(placed(text, command, report(outcome)), "utf-8")
    return 0 if outcome.exact and outcome.verdict != "NOT FLAT" else 1


def report(outcome: Outcome) -> str:
    """The figures as Markdown."""
    plan = outcome.plan
    rows = ", ".join(f"{name} {count:,}" for name, count in outcome.rows.items() if count)
    return "\n".join(
        [
            f"{outcome.samples[-1].answered:,} messages of {plan.chats} chats {_ROAD[plan.through]} into one "
            f"`kenobot run`, in {outcome.seconds:,.0f} s, seed {plan.seed}: **{outcome.lost} lost, "
            f"{outcome.doubled} doubled, {outcome.disordered} out of order**. Resident memory over the second half: "
            f"{outcome.growth:+.2%} per {PER:,} messages (straight line by least squares; at most {FLAT:+.0%}): "
            f"**{outcome.verdict}**.",
            *([f"Unexpected: {outcome.odd[:5]!r}"] if outcome.odd else []),
            "",
            _HEAD,
            "|---" * 7 + "|",
            *(_row(sample) for sample in _few(outcome.samples)),
            "",
            f"Rows at the end: {rows}.",
        ]
    )


def _few(samples: tuple[Sample, ...], most: int = 11) -> list[Sample]:
    """Some of the looks, the first and the last among them, evenly spread."""
    if len(samples) <= most:
        return list(samples)
    return [samples[round(number * (len(samples) - 1) / (most - 1))] for number in range(most)]


def _row(sample: Sample) -> str:
    return (
        f"| {sample.answered:,} | {sample.seconds:,.0f} | {sample.rss:.1f} | {sample.descriptors} | {sample.threads} "
        f"| {sample.database:.1f} | {sample.log:.1f} |"
    )


def _tell(sample: Sample) -> None:
    print(_row(sample), flush=True)


if __name__ == "__main__":
    sys.exit(main())
