"""Results as a table for people, or as JSON for programs."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.conformance.runner import Result

_HEADINGS = ("area", "passed", "failed", "n/a", "why not applicable")


def as_text(results: Sequence["Result"]) -> str:
    """The table by area, the sums, and every failure with what was put in, what was wanted and what came out."""
    rows = [_HEADINGS, *_rows(results)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]
    lines.insert(1, "─" * max(map(len, lines)))
    lines += [failure for result in results if result.verdict == "failed" for failure in _failure(result)]
    return _printable("\n".join(lines))


def as_json(results: Sequence["Result"]) -> str:
    """The same as one object: total, areas, failures."""
    areas = [
        {"area": area, **_counts(found), "reasons": _reasons(found)}
        for area, found in sorted(_by_area(results).items())
    ]
    failures = [
        {
            "place": result.case.place,
            "area": result.case.area,
            "source": result.case.source,
            "quirk": result.case.quirk,
            "input": result.case.input,
            "expected": result.wanted,
            "actual": result.actual,
        }
        for result in results
        if result.verdict == "failed"
    ]
    return json.dumps({"total": _counts(results), "areas": areas, "failures": failures}, indent=2, default=repr)


def _rows(results: Sequence["Result"]) -> Iterable[tuple[str, ...]]:
    for area, found in sorted(_by_area(results).items()):
        reasons = _reasons(found) or [""]
        yield (area, *_figures(found), reasons[0])
        yield from (("", "", "", "", reason) for reason in reasons[1:])
    yield ("all", *_figures(results), "")


def _by_area(results: Iterable["Result"]) -> dict[str, list["Result"]]:
    areas: dict[str, list[Result]] = {}
    for result in results:
        areas.setdefault(result.case.area, []).append(result)
    return areas


def _counts(results: Iterable["Result"]) -> dict[str, int]:
    verdicts = Counter(result.verdict for result in results)
    return {
        "passed": verdicts["passed"],
        "failed": verdicts["failed"],
        "not_applicable": verdicts["not applicable"],
    }


def _figures(results: Iterable["Result"]) -> tuple[str, ...]:
    return tuple(str(count or "·") for count in _counts(results).values())


def _reasons(results: Iterable["Result"]) -> list[str]:
    return list(dict.fromkeys(result.reason for result in results if result.reason))


def _failure(result: "Result") -> Iterable[str]:
    case = result.case
    yield ""
    yield f"✗ {case.area}  ({case.place}{', ' + case.source if case.source else ''})"
    if case.quirk:
        yield f"  wrong in the original: {case.quirk}"
    wanted, actual = _differing(result.wanted, result.actual)
    yield f"  input:    {_shown(case.input)}"
    yield f"  expected: {_shown(wanted)}"
    yield f"  actual:   {_shown(actual)}"


def _differing(wanted: Any, actual: Any) -> tuple[Any, Any]:
    """Of two objects only what differs: the rest would hide it."""
    if not isinstance(wanted, dict) or not isinstance(actual, dict):
        return wanted, actual
    keys = [key for key in {**wanted, **actual} if key not in wanted or key not in actual or wanted[key] != actual[key]]
    return {key: wanted[key] for key in keys if key in wanted}, {key: actual[key] for key in keys if key in actual}


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def _printable(text: str) -> str:
    """`text` without lone surrogates, which no terminal takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
