"""Play chaos in a cell: `python -m tests.hosting.chaos [--full] [--messages N] [--json] …`.

Ends with 1 when a promise broke.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from tests.hosting.chaos.play import play
from tests.hosting.chaos.stage import Outcome
from tests.hosting.chaos.story import FULL, Story, list_numbers, resize

_SHOWN = 20


def _print(outcome: Outcome) -> None:
    for title, told in (
        ("trouble", outcome.troubles),
        ("counted", outcome.counts),
        ("seconds", outcome.seconds),
    ):
        print(f"{title}: {', '.join(f'{name} {count}' for name, count in told.items())}")
    for each in outcome.skipped:
        print(f"not played: {each}")
    for each in outcome.broken[:_SHOWN]:
        print(f"BROKEN  {each}")
    if more := len(outcome.broken[_SHOWN:]):
        print(f"BROKEN  and {more} more, with --json")
    print(f"{outcome.messages} messages: {'BROKEN' if outcome.broken else 'every promise held'}")


def main() -> int:
    """Play, and return 1 when a promise broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.hosting.chaos", description=__doc__)
    parser.add_argument("--full", action="store_true", help="as large as issue 43 wants it; other numbers change it")
    for name, default in list_numbers().items():
        told = f"by default {default:g}, with --full {getattr(FULL, name):g}"
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), help=told)
    parser.add_argument("--alone", action="store_true", help="without the undisturbed run to compare with")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write there what the processes logged")
    options = vars(parser.parse_args())
    full, alone, as_json, log = (options.pop(name) for name in ("full", "alone", "json", "log"))
    story = resize(FULL if full else Story(), options)

    def tell(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    outcome = asyncio.run(play(story, tell, is_compared=not alone))
    if log is not None:
        log.write_text("".join(outcome.log), "utf-8")
    tell("")
    if as_json:
        print(json.dumps(outcome.to_json(), ensure_ascii=False, indent=2))
    else:
        _print(outcome)
    return 1 if outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
