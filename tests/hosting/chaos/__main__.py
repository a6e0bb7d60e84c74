"""Play chaos in a cell: `python -m tests.hosting.chaos [--messages N] [--workers N] …`. Fails when a promise broke."""

import argparse
import asyncio
import sys
from dataclasses import fields
from pathlib import Path

from tests.hosting.chaos.play import Outcome, Story, calm_down, compare_memory, play


def _print(name: str, outcome: Outcome) -> None:
    print(
        f"{name}: {outcome.messages} messages in {outcome.seconds:.0f} s, trouble {dict(outcome.kills)}, "
        f"{outcome.repeated_parts} parts repeated, {outcome.posted_again} updates posted again, "
        f"{outcome.copies} copies compared: {'BROKEN' if outcome.broken else 'held'}"
    )
    for each in outcome.broken:
        print(f"BROKEN  {each}")


async def _play(story: Story, alone: bool, log: Path | None) -> int:
    def progress(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    disturbed = await play(story, progress)
    _print("disturbed", disturbed)
    if log is not None:
        log.write_text("".join(disturbed.log), "utf-8")
    broken = len(disturbed.broken)
    if not alone:
        calm = await play(calm_down(story), progress)
        _print("calm", calm)
        different = compare_memory(disturbed.memory, calm.memory)
        for each in different:
            print(f"BROKEN  {each}")
        broken += len(calm.broken) + len(different)
    return 1 if broken else 0


def main() -> int:
    """Play, and return 1 when a promise broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.hosting.chaos", description=__doc__)
    for each in fields(Story):
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=type(each.default), default=each.default)
    parser.add_argument("--alone", action="store_true", help="without the calm run to compare with")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write there what the processes logged")
    options = vars(parser.parse_args())
    alone, log = options.pop("alone"), options.pop("log")
    return asyncio.run(_play(Story(**options), alone, log))


if __name__ == "__main__":
    sys.exit(main())
