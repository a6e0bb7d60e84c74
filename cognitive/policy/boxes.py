"""When a memory box is closed, and when two boxes belong to one trace."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class BoxPolicy:
    """topic_shift: overlap of topics below which a box is closed. gap: so long without a memory closes it, too.

    most: memories in one box. lone: one memory alone makes a box, as it did in the seed. trace_overlap: overlap from
    which two closed boxes tell of the same thing. lookback: how far back such a box is looked for, among the newest
    `candidates` at most. most_topics: of one memory.
    """

    topic_shift: float = 0.35
    gap: timedelta = timedelta(minutes=30)
    most: int = 50
    lone: bool = False
    trace_overlap: float = 0.4
    lookback: timedelta = timedelta(days=7)
    candidates: int = 50
    most_topics: int = 24
