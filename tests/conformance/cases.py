"""A recorded case, and what can come of replaying it."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

NO_BETTER: Final = object()
"""Stands for "the case does not say what would be better", which null would not."""

_REMARKS = ("quirk", "engram_defect")


class Unreadable(Exception):
    """A file that does not hold cases; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Case:
    """What an original system made of `input`. quirk: why that was wrong, or ""; better: what should come out."""

    area: str
    input: Any
    expected: Any
    source: str = ""
    quirk: str = ""
    better: Any = NO_BETTER
    place: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """Passed if `actual` is the same as `expected`, which is the case's own unless only a part of it can be asked."""

    actual: Any
    expected: Any


@dataclass(frozen=True, slots=True)
class Checked:
    """Passed if every statement about the better behaviour holds."""

    actual: Any
    statements: Mapping[str, bool]

    @property
    def broken(self) -> list[str]:
        return [statement for statement, holds in self.statements.items() if not holds]


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The case does not concern this system, for this reason."""

    reason: str


Outcome = Compared | Checked | NotApplicable
Adapter = Callable[[Case], Outcome]


def compare(case: Case, actual: Any) -> Outcome:
    """`actual` against what the case wants. A quirk that nobody has written a check for cannot be judged."""
    if case.better is not NO_BETTER:
        return Compared(actual, case.better)
    if case.quirk:
        return NotApplicable(f"nobody has written down what is better than: {case.quirk}")
    return Compared(actual, case.expected)


def same(one: Any, other: Any) -> bool:
    """Whether two values mean the same as JSON: 1 is 1.0, but true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def read(path: Path) -> list[Case]:
    """The cases in a file, one JSON object a line. Raises Unreadable."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: cannot be read: {error}") from error
    return [_case(line, f"{path.name}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _case(line: str, place: str) -> Case:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise Unreadable(f"{place}: not valid JSON: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("area"), str) or not found["area"]:
        raise Unreadable(f"{place}: a case is an object with an area")
    if missing := [key for key in ("input", "expected") if key not in found]:
        raise Unreadable(f"{place}: the case has no {' and no '.join(missing)}")
    return Case(
        area=found["area"],
        input=found["input"],
        expected=found["expected"],
        source=str(found.get("source", "")),
        quirk=next((str(found[remark]) for remark in _REMARKS if found.get(remark)), ""),
        better=found.get("better", NO_BETTER),
        place=place,
    )
