"""Sum up measured times: how many, their mean, and percentiles."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Distribution(NamedTuple):
    """Times in milliseconds: how many, their mean, percentiles and the longest; zeros where there are none."""

    measured: int
    mean: int
    p50: int
    p95: int
    p99: int
    longest: int


def percentile(ordered: Sequence[int], share: float) -> int:
    """Return the least of the sorted values that at least `share` (0 to 1) of them do not exceed: the nearest rank.

    0 without values.
    """
    if not ordered:
        return 0
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def distribution(times: Sequence[int]) -> Distribution:
    """Sum up times in milliseconds."""
    if not times:
        return Distribution(0, 0, 0, 0, 0, 0)
    ordered = sorted(times)
    p50, p95, p99 = (percentile(ordered, share) for share in (0.50, 0.95, 0.99))
    return Distribution(len(ordered), round(sum(ordered) / len(ordered)), p50, p95, p99, ordered[-1])
