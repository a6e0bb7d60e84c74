"""Plays recorded cases through the product and says which ones come out as they should."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tests.conformance import report
from tests.conformance.adapters import ADAPTERS
from tests.conformance.areas import reason_for
from tests.conformance.cases import Adapter, Case, Checked, Compared, NotApplicable, Outcome, Unreadable, read, same
from tests.conformance.shapes import complete

Verdict = Literal["passed", "failed", "not applicable"]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case. `wanted` is what should have come out; `reason` why the case was left out."""

    case: Case
    verdict: Verdict
    wanted: Any = None
    actual: Any = None
    reason: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0: nothing failed; 1: something did; 2: the files or the options cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="recorded cases, one JSON object a line")
    parser.add_argument("--area", default="", metavar="PREFIX", help="only the areas that begin with this")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        cases = [case for path in options.files for case in read(path) if case.area.startswith(options.area)]
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 2
    if not cases:
        print(f"There is no case of an area that begins with {options.area!r}.", file=sys.stderr)
        return 2
    results = run(cases)
    print(report.as_json(results) if options.json else report.as_text(results))
    return 1 if any(result.verdict == "failed" for result in results) else 0


def run(cases: Iterable[Case]) -> list[Result]:
    """Play every case."""
    return [play(case) for case in cases]


def play(case: Case) -> Result:
    """Play one case. What the product raises is what came out of it."""
    adapter = adapter_for(case.area)
    if adapter is None:
        return Result(case, "not applicable", reason=reason_for(case.area))
    try:
        outcome = adapter(replace(case, input=complete(case.area, case.input)))
    except Exception as error:
        wanted = f"something better than: {case.quirk}" if case.quirk else case.expected
        return Result(case, "failed", wanted, f"{type(error).__name__}: {error}")
    return _judged(case, outcome)


def adapter_for(area: str) -> Adapter | None:
    """The adapter of an area: its own, else that of the longest family (`scenario.`) it belongs to."""
    if area in ADAPTERS:
        return ADAPTERS[area]
    families = [name for name in ADAPTERS if name.endswith((".", "/")) and area.startswith(name)]
    return ADAPTERS[max(families, key=len)] if families else None


def _judged(case: Case, outcome: Outcome) -> Result:
    match outcome:
        case NotApplicable(reason):
            return Result(case, "not applicable", reason=reason)
        case Checked(actual):
            wanted = [*outcome.statements] if not outcome.broken else outcome.broken
            return Result(case, "failed" if outcome.broken else "passed", wanted, actual)
        case Compared(actual, wanted):
            return Result(case, "passed" if same(actual, wanted) else "failed", wanted, actual)
