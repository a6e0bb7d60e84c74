"""Thresholds of growing, fading and following links."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LinkType = Literal[
    "supports", "contradicts", "supersedes", "derived", "member", "related", "entity", "time", "causal", "trace"
]


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """Confidences and weights are 0 to 1."""

    growth_per_repeat: float = 0.05  # confidence gained by a repeat
    # Confidence of a new link, 1 for other types; only these fade.
    first_confidence: Mapping[str, float] = field(
        default_factory=lambda: {"related": 0.6, "entity": 0.7, "time": 0.4, "causal": 0.6, "trace": 0.5}
    )
    grace_days: float = 90.0  # without a repeat before a link fades, and between two losses
    loss_per_period: float = 0.1  # confidence lost each time
    min_confidence: float = 0.1  # where fading stops
    follow_from: float = 0.2  # confidence of links that are followed
    # How well links of a type carry activation; others are not followed.
    weight_by_type: Mapping[str, float] = field(
        default_factory=lambda: {
            "related": 1.0,
            "entity": 1.0,
            "causal": 1.0,
            "supports": 1.0,
            "derived": 0.8,
            "time": 0.6,
            "trace": 0.6,
            "member": 0.5,
        }
    )
    step_decay: float = 0.7  # activation left after each step
    max_steps: int = 3  # from a start
    read: int = 16  # rows read on each side of a record
    fan_out: int = 8  # links followed from one record
    frontier: int = 10  # records that a step starts from
    iterations: int = 8  # of PageRank
    damping: float = 0.85  # of PageRank
    inhibition: float = 0.15  # activation taken from weaker rivals
    rivals: int = 7  # strongest records that inhibit others
    blend: float = 0.65  # share of the activation in a neighbour's score
    least_blend: float = 0.05
    most_blend: float = 0.95
    links_per_type: int = 3  # that a new record gets
    window_minutes: float = 30.0  # between records that are linked by time
