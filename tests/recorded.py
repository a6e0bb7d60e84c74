"""The recorded cases of the original system, for the tests of memory and identity."""

import json
from pathlib import Path
from typing import Any

import pytest

CONFORMANCE = Path(__file__).resolve().parents[2] / "shared" / "conformance"
_CASES = CONFORMANCE / "kenobot.jsonl"


def recorded(area: str) -> list[Any]:
    """One test parameter a case of `area`: the case. A single skipped one where the recordings are not at hand."""
    if not _CASES.exists():
        reason = "the recorded cases (../shared/conformance beside the repository) are not here"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="absent")]
    lines = _CASES.read_text("utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["area"] == area]
    return [pytest.param(case, id=f"{area}-{number}") for number, case in enumerate(cases)]
