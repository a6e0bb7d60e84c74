"""Numbers of the graph: how links grow and fade, and how far recall follows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LinkType = Literal[
    "supports", "contradicts", "supersedes", "derived", "member", "related", "entity", "time", "causal", "trace"
]


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """Numbers are the seeds' where a seed has one.

    growth_per_repeat: added to a link's confidence by a repeat. first_confidence: confidence of a new link of a type,
    1 for what is not named. grace_days, loss_per_period, min_confidence: after so many days without a repeat a link
    loses so much, and again after each further so many days, down to `min_confidence`; only what stands in
    `first_confidence` fades. follow_from: links below it are not followed. weight_by_type: how well each type of link
    carries; others are not followed.
    step_decay, max_steps: how much is left after each step, and how many there are. read, fan_out, frontier: rows read
    from each side of a record, links followed from one record, records that a step starts from.
    iterations, damping: of the refinement. inhibition, rivals: how much weaker ones lose, to how many stronger.
    blend, least_blend, most_blend: share of the activation in a recalled neighbour's score, and the score's limits.
    links_per_type: links of each type that a new record gets. window_minutes: how close in time is together.
    """

    growth_per_repeat: float = 0.05
    first_confidence: Mapping[str, float] = field(
        default_factory=lambda: {"related": 0.6, "entity": 0.7, "time": 0.4, "causal": 0.6, "trace": 0.5}
    )
    grace_days: float = 90.0
    loss_per_period: float = 0.1
    min_confidence: float = 0.1
    follow_from: float = 0.2
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
    step_decay: float = 0.7
    max_steps: int = 3
    read: int = 16
    fan_out: int = 8
    frontier: int = 10
    iterations: int = 8
    damping: float = 0.85
    inhibition: float = 0.15
    rivals: int = 7
    blend: float = 0.65
    least_blend: float = 0.05
    most_blend: float = 0.95
    links_per_type: int = 3
    window_minutes: float = 30.0
