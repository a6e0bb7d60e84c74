"""Check what must hold before a release: `make release-check`, or `python -m release`.

Exit codes: 0 everything holds · 1 something does not · 2 wrong usage · 3 something could not be run here.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from release.checks import CHECKS, Check, Outcome

_MARKS = {"holds": "✓", "fails": "✗", "not run": "–"}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of `--json`."""

    check: str
    state: str
    promise: str
    said: str
    advice: str
    seconds: float


def _print(check: Check, outcome: Outcome, seconds: float, as_json: bool) -> None:
    advice = check.advice if outcome.state == "fails" else ""
    if as_json:
        line = _Line(check.name, outcome.state, check.promise, outcome.said, advice, round(seconds, 1))
        print(json.dumps(asdict(line), ensure_ascii=False), flush=True)
        return
    print(f"{_MARKS[outcome.state]} {check.name}: {check.promise} ({seconds:.0f} s)", flush=True)
    for said in outcome.said.splitlines():
        print(f"      {said}")
    if advice:
        print(f"    → {advice}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("check", nargs="*", metavar="CHECK", help=f"only these: {', '.join(names)}")
    parser.add_argument("--without", action="append", default=[], metavar="CHECK", help="leave one out (repeatable)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for scripts")
    args = parser.parse_args(arguments)
    if unknown := {*args.check, *args.without} - set(names):
        parser.error(f"there is no check {', '.join(sorted(unknown))}")
    seen = set()
    for check in CHECKS:
        if check.name in args.without or (args.check and check.name not in args.check):
            continue
        outcome, seconds = check.run()
        seen.add(outcome.state)
        _print(check, outcome, seconds, args.json)
    return 1 if "fails" in seen else 3 if "not run" in seen else 0


if __name__ == "__main__":
    sys.exit(main())
