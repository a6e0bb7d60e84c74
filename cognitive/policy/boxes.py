"""Thresholds of closing memory boxes and of joining them to traces."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class BoxPolicy:
    """Thresholds of closing memory boxes and of joining them to traces."""

    close_below_overlap: float = 0.35  # share of topics in common below which a box is closed
    close_after: timedelta = timedelta(minutes=30)  # time without a memory that closes a box
    max_records: int = 50
    box_single_records: bool = False  # whether one memory alone makes a box
    trace_from_overlap: float = 0.4  # share of topics in common from which two closed boxes belong to one trace
    lookback: timedelta = timedelta(days=7)  # age of the closed boxes that are compared
    max_candidates: int = 50  # newest closed boxes that are compared
    max_topics: int = 24  # of one memory
