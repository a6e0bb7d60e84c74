"""Describe what the doctor found: how grave it is, in words, and what can be done."""

from collections.abc import Callable
from typing import Literal

from kenobot.ports.frozen import dataclass

Severity = Literal["ok", "note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("ok", "note", "warning", "error")
"""From good to bad. error: the bot cannot run, or loses or shows what it should not. warning: it will, or may."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of one check. advice: what to do. fix: does it safely, and returns what it did."""

    check: str
    severity: Severity
    text: str
    advice: str = ""
    fix: Callable[[], str] | None = None
