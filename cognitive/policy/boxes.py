"""When a memory box is closed, and when two boxes belong to one trace."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class BoxPolicy:
    """close_below_overlap: overlap of topics below which a box is closed. close_after: so long without a memory
    closes it, too.

    max_records: memories in one box. box_single_records: one memory alone makes a box, as it did in the seed.
    trace_from_overlap: overlap from
    which two closed boxes tell of the same thing. lookback: how far back such a box is looked for, among the newest
    `max_candidates` at most. max_topics: of one memory.
    """

    close_below_overlap: float = 0.35
    close_after: timedelta = timedelta(minutes=30)
    max_records: int = 50
    box_single_records: bool = False
    trace_from_overlap: float = 0.4
    lookback: timedelta = timedelta(days=7)
    max_candidates: int = 50
    max_topics: int = 24
