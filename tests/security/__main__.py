"""`python -m tests.security` tries every bad input and prints what came of each; `--write` puts that into the docs."""

import argparse
import asyncio
import logging
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from tests.security.stories import tell_all
from tests.security.trial import Verdict, try_all

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "figures" / "inputs.md"
BEGIN, END = "<!-- inputs:begin -->", "<!-- inputs:end -->"
NOT_YET = (
    ("webhooks: wrong secret, GET, 100 MB, slow body, gzip bomb, replay, not JSON", "KenoBot has no webhook yet"),
    ("a tag inside a tool result", "KenoBot has no tools yet; a forwarded page stands in for one"),
)


async def everything(folder: Path) -> list[Verdict]:
    """What came of every input and every story, tried in `folder`."""
    return [*await try_all(folder), *await tell_all(folder)]


def table(verdicts: Sequence[Verdict]) -> str:
    """One line an input, as Markdown."""
    failed = sum(bool(verdict.problems) for verdict in verdicts)
    lines = [
        f"{len(verdicts)} bad inputs were tried, each followed by an ordinary message; {failed} went wrong. "
        "Printed by `python -m tests.security`, whose rows `make test-long` checks one by one.",
        "",
    ]
    for kind, group in groupby(verdicts, lambda verdict: verdict.kind):
        lines += [f"| {kind} | what happened | ok |", "|---|---|---|"]
        lines += [f"| {_cell(v.name)} | {_cell(v.happened)} | {'**no**' if v.problems else 'yes'} |" for v in group]
        lines.append("")
    lines += ["| not tried | why |", "|---|---|", *(f"| {name} | {why} |" for name, why in NOT_YET)]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def write(document: Path, text: str) -> None:
    """Put `text` between the markers of `document`. Raises ValueError when they are not there."""
    before, begin, rest = document.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document} has no {BEGIN} … {END}")
    document.write_text(f"{before}{begin}\n{text}\n{end}{after}", "utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 1 when something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.security", description="Try every bad input.")
    parser.add_argument("--write", action="store_true", help=f"put the table into {DOCUMENT.name}")
    arguments = parser.parse_args(argv)
    logging.getLogger().setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        verdicts = asyncio.run(everything(Path(folder)))
    print(table(verdicts))
    for verdict in verdicts:
        for problem in verdict.problems:
            print(f"{verdict.kind}, {verdict.name}: {problem}", file=sys.stderr)
    if arguments.write:
        write(DOCUMENT, table(verdicts))
    return int(any(verdict.problems for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
