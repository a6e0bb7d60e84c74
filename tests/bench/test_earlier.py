"""Ratios to an earlier commit: the best of each side, of what both measured."""

from bench.earlier import Line, Pair, compare


def test_the_best_run_of_each_side_counts() -> None:
    """Whichever run it was of; what the earlier commit does not have is left out."""
    lines = [Line("in a row", "cpu_ms", "CPU, ms", "0.55"), Line("new", "new_ms", "ms")]
    pairs = [
        Pair(before={"cpu_ms": 10.0}, now={"cpu_ms": 4.0, "new_ms": 1.0}),
        Pair(before={"cpu_ms": 8.0}, now={"cpu_ms": 6.0, "new_ms": 1.0}),
    ]
    assert compare(lines, pairs) == [("in a row", "CPU, ms", "8.0", "4.0", "0.50", "0.57", "0.55")]
