"""`python -m tests.security.tools [--only PART] [--misses] [--write]`: play the attacks and uses by tools."""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from tests.security.injection import REPORT
from tests.security.tools.figures import BEGIN, END, PARTS, Part, play, table


def write(text: str) -> None:
    """Put the table between its marks in docs/figures/injection.md."""
    before, _, rest = REPORT.read_text("utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    if not old:
        raise SystemExit(f"{REPORT.name} has no {BEGIN} … {END}.")
    REPORT.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Measure, and print what came of it; 1 when an attack had its way."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.tools", description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="play one part")
    parser.add_argument("--misses", action="store_true", help="name the cases that went wrong")
    parser.add_argument("--write", action="store_true", help="write the table into docs/figures/injection.md")
    options = parser.parse_args(arguments)
    names: Sequence[Part] = [options.only] if options.only else PARTS
    played = {name: asyncio.run(play(name)) for name in names}
    text = table(played)
    print(text)
    if options.misses:
        for each in (outcome for outcomes in played.values() for outcome in outcomes if outcome.bad):
            print(f"{each.id}: {each.bad}")
    if options.write:
        write(text)
    return int(any(each.bad for name in names if name in ("attacks", "described") for each in played[name]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
