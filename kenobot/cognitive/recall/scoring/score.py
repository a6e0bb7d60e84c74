"""Score memories for a message, with weights from the policy, order them, and choose those that fit into a prompt.

Pure. A score keeps its parts, so that it can be explained.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple, TypeVar

from kenobot.cognitive.beliefs.value import clamp, recency_weight
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.ports.recall import Score

T = TypeVar("T")

_STEPS = 128  # of tokens that a choice is counted in


class ScoreFeatures(NamedTuple):
    """Features of a record for its score; shares are 0 to 1."""

    relevance: float
    importance: float = 0.5
    idle_days: float = 0.0  # since its last use
    stability: float = 1.0
    mentioned: bool = False  # the message mentions its subject
    category: str = ""
    lifecycle: str = ""
    verification: str = ""
    confidence: float = 1.0
    current_confidence: float = 1.0  # after decay
    feedback: float = 0.0  # see `feedback_delta`


def score(features: ScoreFeatures, policy: RecallPolicy, kept: float = 1.0) -> Score:
    """Score a memory for a message. kept: the share at which its importance and its age count."""
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
    """Look up what a lifecycle state and a verification add to a score."""
    disputed = policy.disputed if verification == "disputed" else 0.0
    return policy.lifecycle.get(lifecycle, 0.0) + disputed


def is_hidden_by_lifecycle(lifecycle: str, policy: RecallPolicy) -> bool:
    """Return whether the policy hides records in this lifecycle state."""
    return policy.hide_stale and lifecycle in ("stale", "archived")


def feedback_delta(up: int, down: int, policy: RecallPolicy) -> float:
    """Compute what approvals and objections add to a score."""
    return penalty(up, policy.approval, policy.most_approval) - penalty(down, policy.objection, policy.most_objection)


def penalty(hits: int, per_hit: float, cap: float) -> float:
    """Multiply hits by `per_hit`, up to `cap`."""
    return min(cap, max(0, hits) * per_hit)


def fuse_relevance(lexical: float, dense: float | None) -> float:
    """Fuse two relevances: the greater, raised by the other."""
    if dense is None:
        return lexical
    high, low = max(lexical, dense), min(lexical, dense)
    return high + (1 - high) * 0.5 * max(0.0, low)


def diversify(items: Sequence[tuple[float, frozenset[str]]], weight: float, most: int) -> list[int]:
    """Order `items`, values with their words, by value and by dissimilarity to the items before.

    weight: share of the value against the dissimilarity; 1 sorts by value. most: items to order so; the rest follows
    by value.
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
            likeness[at] = max(likeness[at], _similarity(items[at][1], items[other][1]))
        compared[at] = len(chosen)
        heapreplace(left, ((1 - weight) * likeness[at] - weight * items[at][0], at))
    return chosen + sorted((at for _, at in left), key=lambda at: (-items[at][0], at))


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Compute the Jaccard similarity of two sets of words."""
    shared = len(one & other)
    together = len(one) + len(other) - shared
    return shared / together if together else 0.0


def choose_most_valuable(items: Sequence[tuple[T, float, int]], room: int) -> list[T]:
    """Choose of `items`, each with its value and tokens, those that are worth most together and fit, in their order.

    Tokens are counted in steps, rounded up, so that a large budget costs no more work than a small one.
    """
    fitting = [item for item in items if item[2] <= room]
    if sum(item[2] for item in fitting) <= room:
        return [item[0] for item in fitting]
    step = max(1, room // _STEPS)
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (room // step + 1)
    for at, (_, worth, tokens) in enumerate(fitting):
        cost = -(-tokens // step)
        for left in range(len(best) - 1, cost - 1, -1):
            before = best[left - cost]
            if before[0] + worth > best[left][0]:
                best[left] = (before[0] + worth, (*before[1], at))
    return [fitting[at][0] for at in best[-1][1]]
