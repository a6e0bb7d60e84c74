"""The conformance cases of one area, as pytest parameters."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.recorded import CONFORMANCE

_FILE = CONFORMANCE / "kenobot.jsonl"


def _cases(area: str) -> Iterator[Any]:
    if not _FILE.exists():
        skip = pytest.mark.skip(reason="the conformance cases are not on this machine")
        yield pytest.param({}, marks=skip, id="absent")
        return
    with _FILE.open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case["area"] == area:
                yield pytest.param(case, id=repr(case["input"])[:40])


def conformance(area: str) -> pytest.MarkDecorator:
    """Run the test once for each case of `area`, handed in as `case`."""
    return pytest.mark.parametrize("case", [*_cases(area)])
