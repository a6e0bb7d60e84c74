"""The recorded behaviour of the system that this one follows, where it lies beside the repository."""

import json
from typing import Any

import pytest

from tests.recorded import CONFORMANCE

_CASES = CONFORMANCE / "kenobot.jsonl"


def recorded(*areas: str) -> list[Any]:
    """The cases of `areas`, for parametrize; one skipped case when there are none to be had."""
    if not _CASES.exists():
        reason = "the recorded cases (../shared/conformance beside the repository) are not here"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason))]
    lines = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines()]
    return [case for case in lines if case["area"] in areas]
