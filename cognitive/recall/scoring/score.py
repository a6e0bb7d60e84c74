"""What a memory is worth to a message: one function, its weights in the policy. And an order without repeats.

Pure. Every part of a score is kept, so that it can be explained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from kenobot.cognitive.beliefs.value import clamp, recency_weight
from kenobot.cognitive.policy.recall import RecallPolicy


class ScoreFeatures(NamedTuple):
    """What a score is made of. relevance, importance, effective and confidence: 0 to 1. idle_days: days without use.

    mentioned: the message speaks of its subject. current_confidence: confidence as time has left it. feedback: what
    the person's own yes and no add.
    """

    relevance: float
    importance: float = 0.5
    idle_days: float = 0.0
    stability: float = 1.0
    mentioned: bool = False
    category: str = ""
    lifecycle: str = ""
    verification: str = ""
    confidence: float = 1.0
    current_confidence: float = 1.0
    feedback: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """A value and the parts it is the sum of; `factor` is what the sum was multiplied by."""

    value: float
    parts: Mapping[str, float]
    factor: float = 1.0


def score(features: ScoreFeatures, policy: RecallPolicy, kept: float = 1.0) -> Score:
    """The value of a memory for a message. kept: the share at which its importance and its age count."""
    parts = {
        "relevance": policy.relevance * clamp(features.relevance),
        "importance": kept * policy.importance * clamp(features.importance),
        "recency": kept * policy.recency * recency_weight(features.idle_days),
        "stability": policy.stability * min(1.0, max(0.0, features.stability) / policy.most_stable),
        "subject": policy.subject * features.mentioned,
        "lifecycle": lifecycle_delta(features.lifecycle, features.verification, policy),
        "faded": policy.faded
        * (1 - clamp(features.current_confidence / features.confidence if features.confidence else 1.0)),
        "feedback": features.feedback,
    }
    scaled = policy.insight_factor if features.category in policy.insight_categories else 1.0
    return Score(scaled * sum(parts.values()), {name: part for name, part in parts.items() if part}, scaled)


def lifecycle_delta(lifecycle: str, verification: str, policy: RecallPolicy) -> float:
    """What a state adds or takes; nothing for a record without one."""
    disputed = policy.disputed if verification == "disputed" else 0.0
    return policy.lifecycle.get(lifecycle, 0.0) + disputed


def hidden_by_lifecycle(lifecycle: str, policy: RecallPolicy) -> bool:
    """Whether the hard filter, where it is switched on, hides a record in this state."""
    return policy.hide_stale and lifecycle in ("stale", "archived")


def feedback_delta(up: int, down: int, policy: RecallPolicy) -> float:
    """What the person's own yes and no to a memory add and take."""
    return penalty(up, policy.approval, policy.most_approval) - penalty(down, policy.objection, policy.most_objection)


def penalty(hits: int, per_hit: float, cap: float) -> float:
    """So much for each time, and never more than `cap`."""
    return min(cap, max(0, hits) * per_hit)


def fuse_relevance(lexical: float, dense: float | None) -> float:
    """One relevance of two: the greater, and more when both agree."""
    if dense is None:
        return lexical
    high, low = max(lexical, dense), min(lexical, dense)
    return high + (1 - high) * 0.5 * max(0.0, low)


def diversify(items: Sequence[tuple[float, frozenset[str]]], weight: float, most: int) -> list[int]:
    """The order of `items`, values with their words, in which each adds most to those before it.

    weight: of an item's own value against its likeness to what stands there already; 1 sorts by value. most: so many
    are put in order, the rest follows by value.
    """
    likeness = [0.0] * len(items)
    compared = [0] * len(items)  # with so many of the chosen
    # What an item adds only falls as others are chosen: only those that lead by what is known of them are compared.
    left = [(-weight * value, at) for at, (value, _) in enumerate(items)]
    heapify(left)
    chosen: list[int] = []
    while left and len(chosen) < most:
        at = left[0][1]
        if compared[at] == len(chosen):
            chosen.append(heappop(left)[1])
            continue
        for other in chosen[compared[at] :]:
            likeness[at] = max(likeness[at], _alike(items[at][1], items[other][1]))
        compared[at] = len(chosen)
        heapreplace(left, ((1 - weight) * likeness[at] - weight * items[at][0], at))
    return chosen + sorted((at for _, at in left), key=lambda at: (-items[at][0], at))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common."""
    shared = len(one & other)
    together = len(one) + len(other) - shared
    return shared / together if together else 0.0
