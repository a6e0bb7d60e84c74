"""Describe what the doctor found: how grave it is, in words, and what can be done."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from kenobot.cli import options
from kenobot.cli.language import say
from kenobot.ports.frozen import dataclass

Severity = Literal["ok", "note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("ok", "note", "warning", "error")
"""From good to bad. error: the bot cannot run, or loses or shows what it should not. warning: it will, or may."""

_WARNED = 3
_MARKS = {"ok": "✓", "note": "·", "warning": "!", "error": "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of one check. advice: what to do. fix: does it safely, and returns what it did."""

    check: str
    severity: Severity
    text: str
    advice: str = ""
    fix: Callable[[], str] | None = None


def print_findings(findings: Sequence[Finding], fixed: Sequence[str], *, whole: bool, as_json: bool) -> int:
    """Print findings and repairs. Returns 0 when all is well, _WARNED or options.FAILED."""
    worst = max((finding.severity for finding in findings), key=SEVERITIES.index)
    if as_json:
        options.print_rows([_row(finding) for finding in findings], True, str)
    else:
        _print(findings, fixed, whole=whole)
    return {"ok": 0, "note": 0, "warning": _WARNED, "error": options.FAILED}[worst]


def _print(findings: Sequence[Finding], fixed: Sequence[str], *, whole: bool) -> None:
    for line in fixed:
        print(f"+ {line}")
    shown = [finding for finding in findings if whole or finding.severity != "ok"]
    for finding in sorted(shown, key=lambda each: -SEVERITIES.index(each.severity)):
        print(f"{_MARKS[finding.severity]} {finding.text}")
        if finding.advice:
            print(f"    {finding.advice}")
    good = sum(finding.severity == "ok" for finding in findings)
    if not shown:
        print(say("All is well: {count} checks.", count=good))
    elif not whole:
        print(say("{count} other checks found nothing.", count=good))


def _row(finding: Finding) -> dict[str, Any]:
    row = asdict(finding)
    del row["fix"]
    return row | {"fixable": finding.fix is not None}
